#include "store/postgres/prepared_statements.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace belay::postgres {
namespace {

using testing::ElementsAre;
using testing::IsEmpty;
using testing::StartsWith;

const std::vector<std::uint32_t> one_text{25};

// Uses a statement as Connection does; returns whether the server had to prepare it.
bool uses_and_prepares(PreparedStatements& all, std::string_view sql,
                       const std::vector<std::uint32_t>& types = one_text) {
  auto statement = all.use(sql);
  return all.takes_name(*statement, types) && all.must_prepare(*statement);
}

std::string name_after_two_uses(PreparedStatements& all, std::string_view sql,
                                const std::vector<std::uint32_t>& types = one_text) {
  uses_and_prepares(all, sql, types);
  uses_and_prepares(all, sql, types);
  return all.use(sql)->name;
}

TEST(PreparedStatementsOfAConnection, ArePreparedAtTheirSecondUseAndOnlyThen) {
  PreparedStatements all("belay");
  EXPECT_FALSE(uses_and_prepares(all, "SELECT $1"));
  EXPECT_TRUE(uses_and_prepares(all, "SELECT $1"));
  EXPECT_FALSE(uses_and_prepares(all, "SELECT $1"));
  EXPECT_TRUE(all.use("SELECT $1")->is_prepared);
}

TEST(PreparedStatementsOfAConnection, AreOnlyThoseOfEveryTransactionAndNotItsEnd) {
  PreparedStatements all("belay");
  for (const char* sql : {"COMMIT", "ROLLBACK", "VACUUM (ANALYZE) belay.runs", "LISTEN belay",
                          "CREATE SCHEMA mine", "DROP TABLE mine"}) {
    for (int i = 0; i < 3; ++i) EXPECT_FALSE(uses_and_prepares(all, sql, {})) << sql;
  }
  for (const char* sql : {"BEGIN ISOLATION LEVEL READ COMMITTED", "SET LOCAL lock_timeout = 3000",
                          "WITH a AS (SELECT 1) SELECT * FROM a", "DELETE FROM belay.runs"}) {
    EXPECT_FALSE(uses_and_prepares(all, sql, {})) << sql;
    EXPECT_TRUE(uses_and_prepares(all, sql, {})) << sql;
  }
}

TEST(PreparedStatementsOfAConnection, HaveTheNameOfTheSchemaAndNamesOfTheirText) {
  PreparedStatements belay("belay");
  PreparedStatements other("other");
  EXPECT_EQ(other.use("SELECT 1 FROM belay.runs, belay.threads")->text,
            "SELECT 1 FROM \"other\".runs, \"other\".threads");
  std::string name = name_after_two_uses(belay, "SELECT $1 FROM belay.runs");
  EXPECT_THAT(name, StartsWith("belay_"));
  EXPECT_LT(name.size(), 63u);
  PreparedStatements again("belay");
  EXPECT_EQ(name_after_two_uses(again, "SELECT $1 FROM belay.runs"), name);
  EXPECT_NE(name_after_two_uses(other, "SELECT $1 FROM belay.runs"), name);
  EXPECT_NE(name_after_two_uses(again, "SELECT $1 FROM belay.runs "), name);
  PreparedStatements numbers("belay");
  EXPECT_NE(name_after_two_uses(numbers, "SELECT $1 FROM belay.runs", {20}), name);
}

TEST(PreparedStatementsOfAConnection, AreNotUsedForParametersOfOtherTypes) {
  PreparedStatements all("belay");
  name_after_two_uses(all, "SELECT $1");
  auto statement = all.use("SELECT $1");
  EXPECT_FALSE(all.takes_name(*statement, {20}));
  EXPECT_TRUE(all.takes_name(*statement, one_text));
}

TEST(PreparedStatementsOfAConnection, ForgetTheOneThatWasNotUsedForLongest) {
  PreparedStatements all("belay");
  std::string kept = name_after_two_uses(all, "SELECT 'kept', $1");
  std::string oldest = name_after_two_uses(all, "SELECT 'oldest', $1");
  uses_and_prepares(all, "SELECT 'kept', $1");
  for (std::size_t i = 2; i < PreparedStatements::statements_max; ++i) {
    uses_and_prepares(all, "SELECT " + std::to_string(i));
  }
  EXPECT_THAT(all.take_forgotten(), IsEmpty());
  uses_and_prepares(all, "SELECT 'one more'");
  EXPECT_THAT(all.take_forgotten(), ElementsAre(oldest));
  EXPECT_TRUE(all.use("SELECT 'kept', $1")->is_prepared);
  EXPECT_EQ(all.use("SELECT 'kept', $1")->name, kept);
  EXPECT_FALSE(all.use("SELECT 'oldest', $1")->is_prepared);
}

TEST(PreparedStatementsOfAConnection, TakeANameBackThatTheServerStillKeeps) {
  PreparedStatements all("belay");
  name_after_two_uses(all, "SELECT 'oldest', $1");
  for (std::size_t i = 0; i < PreparedStatements::statements_max; ++i) {
    uses_and_prepares(all, "SELECT " + std::to_string(i));
  }
  // Dropped here, and used twice before the server was asked to drop it.
  EXPECT_FALSE(uses_and_prepares(all, "SELECT 'oldest', $1"));
  EXPECT_FALSE(uses_and_prepares(all, "SELECT 'oldest', $1"));
  EXPECT_TRUE(all.use("SELECT 'oldest', $1")->is_prepared);
  EXPECT_THAT(all.take_forgotten(), IsEmpty());
}

TEST(PreparedStatementsOfAConnection, ArePreparedAgainWhenTheServerDidNot) {
  PreparedStatements all("belay");
  name_after_two_uses(all, "SELECT $1");
  all.note_unprepared(*all.use("SELECT $1"));
  EXPECT_TRUE(uses_and_prepares(all, "SELECT $1"));
  all.forget_all();
  EXPECT_TRUE(uses_and_prepares(all, "SELECT $1"));
}

TEST(PreparedStatementsOfAConnection, RenewTheirPlansAfterAsManyExecutionsAsBeforeAndWithAge) {
  PreparedStatements all("belay");
  auto now = std::chrono::steady_clock::now();
  auto execute = [&](std::uint64_t times) {
    for (std::uint64_t i = 0; i < times; ++i) uses_and_prepares(all, "SELECT $1");
  };
  EXPECT_FALSE(all.take_renewal(now + PreparedStatements::plan_age_max * 2))
      << "nothing has a plan";
  execute(1 + PreparedStatements::first_renewal - 1);
  EXPECT_FALSE(all.take_renewal(now));
  execute(1);
  EXPECT_TRUE(all.take_renewal(now));
  execute(PreparedStatements::first_renewal);
  EXPECT_FALSE(all.take_renewal(now));
  execute(PreparedStatements::first_renewal);
  EXPECT_TRUE(all.take_renewal(now));
  execute(1);
  EXPECT_FALSE(all.take_renewal(now + PreparedStatements::plan_age_max));
  EXPECT_TRUE(all.take_renewal(now + PreparedStatements::plan_age_max * 2));
}

}  // namespace
}  // namespace belay::postgres
