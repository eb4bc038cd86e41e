#include "store/postgres/script_statements.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "store/postgres/migrations.h"

namespace belay::postgres {
namespace {

using testing::AnyOf;
using testing::ElementsAre;
using testing::IsEmpty;
using testing::StartsWith;

TEST(ScriptStatements, EndAtSemicolons) {
  EXPECT_THAT(statements_of("SELECT 1;SELECT 2;\nSELECT 3"),
              ElementsAre("SELECT 1", "SELECT 2", "\nSELECT 3"));
}

TEST(ScriptStatements, AreNoneWhereNothingIsSaid) {
  EXPECT_THAT(statements_of(""), IsEmpty());
  EXPECT_THAT(statements_of(" ;; \n;-- no more; than this"), IsEmpty());
  EXPECT_THAT(statements_of("/* nor; /* here; */ ; */;"), IsEmpty());
}

TEST(ScriptStatements, KeepSemicolonsOfCommentsAndQuotes) {
  for (std::string_view one : {
           "SELECT 1 -- and; this\n, 2",
           "SELECT /* a; /* b; */ c; */ 1",
           "SELECT 'a;''b;'",
           "SELECT E'a;\\';b'",
           "SELECT 'a\\'",
           "SELECT \"a;\"\"b;\"",
           "SELECT $$a;b$$",
           "DO $f$ BEGIN; PERFORM $$;$$; END; $f$",
       }) {
    std::string script = std::string(one) + ";SELECT 2";
    EXPECT_THAT(statements_of(script), ElementsAre(one, "SELECT 2"));
  }
}

TEST(ScriptStatements, TakeNoParameterOrNameForADollarQuote) {
  EXPECT_THAT(statements_of("SELECT $1; SELECT $1"), ElementsAre("SELECT $1", " SELECT $1"));
  EXPECT_THAT(statements_of("SELECT a$b$c; SELECT $b$"),
              ElementsAre("SELECT a$b$c", " SELECT $b$"));
}

TEST(ScriptStatements, GoToTheEndWhereAQuoteIsNeverClosed) {
  for (std::string_view open : {"SELECT 'a;b", "SELECT \"a;b", "SELECT $$a;b", "SELECT 1 /* a;b",
                                "SELECT E'a;\\", "SELECT $a;b", "SELECT $"}) {
    auto statements = statements_of(open);
    ASSERT_FALSE(statements.empty());
    EXPECT_EQ(statements.back().data() + statements.back().size(), open.data() + open.size());
  }
}

TEST(ScriptStatements, OfTheMigrationsAllChangeTheSchema) {
  for (const store::Migration& migration : migrations()) {
    for (std::string_view statement : statements_of(migration.sql)) {
      std::size_t begin = 0;
      while (statement.substr(begin).starts_with("\n") ||
             statement.substr(begin).starts_with("--")) {
        begin = statement.find('\n', begin) + 1;
      }
      EXPECT_THAT(std::string(statement.substr(begin)),
                  AnyOf(StartsWith("CREATE "), StartsWith("ALTER "), StartsWith("DROP "),
                        StartsWith("DO ")))
          << migration.name;
    }
  }
}

}  // namespace
}  // namespace belay::postgres
