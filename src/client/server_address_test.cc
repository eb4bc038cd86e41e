#include "client/server_address.h"

#include <gmock/gmock.h>

namespace belay::client {
namespace {

using ::testing::HasSubstr;
using ::testing::Not;

TEST(ServerAddresses, AreTakenWithAHostAPortAndAPath) {
  EXPECT_EQ(server_address_from("http://localhost:8123").value().base, "http://localhost:8123");
  EXPECT_EQ(server_address_from("https://belay.example/a/b//").value().base,
            "https://belay.example/a/b");
  EXPECT_EQ(server_address_from("http://[::1]:8123/").value().base, "http://[::1]:8123");
  EXPECT_TRUE(server_address_from("http://127.0.0.1:1").value().is_local);
  EXPECT_TRUE(server_address_from("http://[::1]").value().is_local);
  EXPECT_FALSE(server_address_from("http://localhost.example").value().is_local);
}

TEST(ServerAddresses, ThatAreNoneAreRefusedInASentence) {
  for (std::string_view text :
       {"", "localhost:8123", "ftp://localhost", "http://", "http:///x", "http://:80",
        "http://host:", "http://host:80x", "http://host:123456", "http://host/?a=b",
        "http://host/#x", "http://ho st", "http://[::1", "http://h\nost"}) {
    auto refused = server_address_from(text);
    ASSERT_FALSE(refused.ok()) << text;
    EXPECT_EQ(refused.error().code, ErrorCode::invalid);
    EXPECT_THAT(refused.error().message, HasSubstr("http://localhost:8123")) << text;
  }
}

TEST(ServerAddresses, WithAPasswordAreRefusedWithoutShowingIt) {
  auto refused = server_address_from("http://ana:secret@host");
  ASSERT_FALSE(refused.ok());
  EXPECT_THAT(refused.error().message, Not(HasSubstr("secret")));
  EXPECT_THAT(refused.error().message, HasSubstr("--api-key-file"));
}

TEST(Targets, SayEveryNameSoThatItComesAsItWas) {
  Target target("/api/threads");
  target.segment("a/b c?").query("kinds", "x,y&z").query("limit", std::uint64_t{20});
  EXPECT_EQ(target.text(), "/api/threads/a%2Fb%20c%3F?kinds=x%2Cy%26z&limit=20");
  EXPECT_EQ(Target("/x").segment("\xC3\xB1").text(), "/x/%C3%B1");
}

}  // namespace
}  // namespace belay::client
