#include "redis/address.h"

#include <gtest/gtest.h>

namespace belay::redis {
namespace {

TEST(RedisAddress, NamesHostPortDatabaseAndLogin) {
  auto whole = address_from("redis://ann:s%20e%3Acret@cache.example:7000/3");
  ASSERT_TRUE(whole.ok()) << whole.error().message;
  EXPECT_EQ(whole->host, "cache.example");
  EXPECT_EQ(whole->port, 7000);
  EXPECT_EQ(whole->database, 3);
  EXPECT_EQ(whole->user, "ann");
  EXPECT_EQ(whole->password, "s e:cret");

  auto short_one = address_from("redis://localhost");
  ASSERT_TRUE(short_one.ok());
  EXPECT_EQ(short_one->port, 6379);
  EXPECT_EQ(short_one->database, 0);
  EXPECT_EQ(short_one->password, "");

  auto six = address_from("redis://:word@[::1]:6400/");
  ASSERT_TRUE(six.ok());
  EXPECT_EQ(six->host, "::1");
  EXPECT_EQ(six->port, 6400);
  EXPECT_EQ(six->password, "word");
  EXPECT_FALSE(six->is_tls);
}

TEST(RedisAddress, SaysWhetherThereIsTls) {
  auto address = address_from("rediss://ann:word@cache.example:7000/3");
  ASSERT_TRUE(address.ok()) << address.error().message;
  EXPECT_TRUE(address->is_tls);
  EXPECT_EQ(address->host, "cache.example");
  EXPECT_EQ(address->user, "ann");
  EXPECT_EQ(address->shown(), "rediss://cache.example:7000/3");
  EXPECT_EQ(address_from("rediss://host")->port, 6379);
}

TEST(RedisAddress, NeverShowsAPassword) {
  auto address = address_from("redis://ann:hidden@[::1]:7000/3");
  ASSERT_TRUE(address.ok());
  EXPECT_EQ(address->shown(), "redis://[::1]:7000/3");
  for (const char* wrong :
       {"redis://:hidden@:7000", "redis://:hidden@host:port", "redis://:hidden@host/x",
        "rediss://:hidden@", "rediss:///:hidden@host/x", "hidden", "redis://:hidden%4@host",
        "redis://:hidden@host?a=b"}) {
    auto refused = address_from(wrong);
    ASSERT_FALSE(refused.ok()) << wrong;
    EXPECT_EQ(refused.error().code, ErrorCode::invalid);
    EXPECT_EQ(refused.error().message.find("hidden"), std::string::npos) << refused.error().message;
  }
}

TEST(RedisAddress, RefusesWhatIsNone) {
  for (const char* wrong :
       {"", "redis://", "rediss://", "rediss:/host", "http://host", "redis://host:0",
        "redis://host:65536", "redis://host:-1", "redis://[::1", "redis://[::1]x",
        "redis://host/-1", "redis://host/99999999999"}) {
    EXPECT_FALSE(address_from(wrong).ok()) << wrong;
  }
}

}  // namespace
}  // namespace belay::redis
