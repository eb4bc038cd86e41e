#include "store/postgres/address.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace belay::postgres {
namespace {

using testing::Contains;
using testing::HasSubstr;
using testing::Not;
using testing::Pair;

TEST(PostgresAddress, TakesItsOwnOptionsAndGivesLibpqTheOthers) {
  auto address = address_from(
      "postgresql://ada:secret@db.example:6432/agents?sslmode=require&schema=mine&pool=3"
      "&session_expiry=900&patience=0");
  ASSERT_TRUE(address.ok()) << address.error().message;
  EXPECT_EQ(address->schema, "mine");
  EXPECT_EQ(address->pool, 3u);
  EXPECT_EQ(address->session_expiry, std::chrono::milliseconds(900));
  EXPECT_EQ(address->patience, std::chrono::milliseconds(0));
  EXPECT_EQ(address->shown, "PostgreSQL at db.example:6432/agents");
  EXPECT_THAT(address->parameters, Contains(Pair("sslmode", "require")));
  EXPECT_THAT(address->parameters, Contains(Pair("password", "secret")));
  EXPECT_THAT(address->parameters, Not(Contains(Pair("schema", "mine"))));
}

TEST(PostgresAddress, HasValuesForWhatIsNotSaid) {
  auto address = address_from("postgres://localhost/agents");
  ASSERT_TRUE(address.ok()) << address.error().message;
  EXPECT_EQ(address->schema, "belay");
  EXPECT_EQ(address->pool, 8u);
  EXPECT_EQ(address->pooler, Pooler::detect);
  EXPECT_EQ(address->session_expiry, std::chrono::milliseconds(15'000));
  EXPECT_THAT(address->parameters, Contains(Pair("client_encoding", "UTF8")));
  EXPECT_THAT(address->parameters, Contains(Pair("application_name", "belay")));
}

TEST(PostgresAddress, TakesWhetherThereIsAPooler) {
  auto pooler = [](const std::string& value) {
    auto address = address_from("postgresql://h/d?pooler=" + value + "&sslmode=require");
    EXPECT_TRUE(address.ok()) << value;
    EXPECT_THAT(address->parameters, Contains(Pair("sslmode", "require")));
    return address->pooler;
  };
  EXPECT_EQ(pooler("detect"), Pooler::detect);
  EXPECT_EQ(pooler("yes"), Pooler::yes);
  EXPECT_EQ(pooler("no"), Pooler::no);
}

TEST(PostgresAddress, MeansOfSeveralHostsTheOneThatTakesWritesUnlessItSaysOtherwise) {
  for (const char* url : {"postgresql://a,b/agents", "postgresql://a:1,a:2/agents",
                          "postgresql:///agents?host=a,b", "postgresql:///agents?port=1,2"}) {
    auto address = address_from(url);
    ASSERT_TRUE(address.ok()) << url;
    EXPECT_THAT(address->parameters, Contains(Pair("target_session_attrs", "read-write"))) << url;
  }
  auto chosen = address_from("postgresql://a,b/agents?target_session_attrs=primary");
  ASSERT_TRUE(chosen.ok());
  EXPECT_THAT(chosen->parameters, Contains(Pair("target_session_attrs", "primary")));
  EXPECT_THAT(chosen->parameters, Not(Contains(Pair("target_session_attrs", "read-write"))));
  auto single = address_from("postgresql://a/agents");
  ASSERT_TRUE(single.ok());
  EXPECT_THAT(single->parameters, Not(Contains(Pair("target_session_attrs", "read-write"))));
}

TEST(PostgresAddress, IsRefusedForWhatItCanNotMean) {
  for (const char* url :
       {"sqlite:file", "postgresql://h/d?pool=0", "postgresql://h/d?pool=101",
        "postgresql://h/d?pool=many", "postgresql://h/d?pool=", "postgresql://h/d?pool=8x",
        "postgresql://h/d?schema=", "postgresql://h/d?schema=Mine", "postgresql://h/d?schema=1a",
        "postgresql://h/d?schema=pg_mine", "postgresql://h/d?schema=a\"b",
        "postgresql://h/d?session_expiry=299",
        "postgresql://h/d?pooler=", "postgresql://h/d?pooler=No", "postgresql://h/d?patience=-1",
        "postgresql://h/d?colour=red"}) {
    auto address = address_from(url);
    ASSERT_FALSE(address.ok()) << url;
    EXPECT_EQ(address.error().code, ErrorCode::invalid);
    EXPECT_THAT(address.error().message, HasSubstr("Write postgresql://")) << url;
  }
  EXPECT_FALSE(address_from(std::string("postgresql://h/d\0x", 18)).ok());
}

TEST(PostgresAddress, KeepsThePasswordOutOfMessages) {
  auto address = address_from("postgresql://ada:secret@db/agents");
  ASSERT_TRUE(address.ok());
  EXPECT_THAT(address->shown, Not(HasSubstr("secret")));
  for (const char* url : {"postgresql://ada:secret@db/agents?colour=red",
                          "postgresql://ada:secret@db/agents?pool=none",
                          "postgresql://ada:sec%zzret@db/agents", "postgresql://ada:secret@[db"}) {
    auto refused = address_from(url);
    ASSERT_FALSE(refused.ok()) << url;
    EXPECT_THAT(refused.error().message, Not(HasSubstr("sec"))) << url;
  }
}

}  // namespace
}  // namespace belay::postgres
