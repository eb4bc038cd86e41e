#include <gtest/gtest.h>

#include "tests/tidy/checks.h"

namespace belay::tidy {
namespace {

bool allowed(std::string path, const std::string& include) {
  return check_includes({std::move(path), "#include " + include + "\n"}).empty();
}

TEST(TidyIncludes, GoDownOnly) {
  EXPECT_TRUE(allowed("src/engine/advance.cc", "\"graph/graph.h\""));
  EXPECT_TRUE(allowed("src/engine/advance.cc", "\"engine/run.h\""));
  EXPECT_TRUE(allowed("src/engine/advance.cc", "\"belay/graph.h\""));
  EXPECT_FALSE(allowed("src/engine/advance.cc", "\"driver/driver.h\""));
  EXPECT_FALSE(allowed("src/engine/advance.cc", "\"store/store.h\""));
  EXPECT_FALSE(allowed("src/base/json.cc", "\"cli/app.h\""));
  EXPECT_FALSE(allowed("src/base/json.cc", "\"../cli/app.h\""));
  EXPECT_TRUE(allowed("src/testing/world.cc", "\"driver/run_driver.h\""));
  EXPECT_TRUE(allowed("src/testing/world.cc", "\"check/rules.h\""));
  EXPECT_FALSE(allowed("src/driver/work.cc", "\"testing/process.h\""));
  EXPECT_FALSE(allowed("src/base/json.cc", "\"nowhere/app.h\""));
  EXPECT_FALSE(allowed("src/nowhere/app.cc", "\"base/json.h\""));
}

TEST(TidyIncludes, StoresDoNotKnowOneAnother) {
  EXPECT_TRUE(allowed("src/store/sqlite/store.cc", "\"store/row.h\""));
  EXPECT_TRUE(allowed("src/store/open.cc", "\"store/sqlite/store.h\""));
  EXPECT_FALSE(allowed("src/store/sqlite/store.cc", "\"store/memory/store.h\""));
  EXPECT_FALSE(allowed("src/store/memory/store.cc", "\"store/sqlite/store.h\""));
}

TEST(TidyIncludes, AgentsUseThePublicHeadersOnly) {
  EXPECT_TRUE(allowed("agents/wellbeing/audit.cc", "<belay/graph.h>"));
  EXPECT_TRUE(allowed("agents/wellbeing/audit.cc", "\"notes.h\""));
  EXPECT_TRUE(allowed("agents/wellbeing/audit.cc", "\"wellbeing/notes.h\""));
  EXPECT_TRUE(allowed("agents/wellbeing/audit.cc", "\"agents/wellbeing/notes.h\""));
  EXPECT_FALSE(allowed("agents/wellbeing/audit.cc", "\"engine/advance.h\""));
  EXPECT_TRUE(allowed("agents/wellbeing/audit.cc", "\"agents/rules/lexicon.h\""));
  EXPECT_FALSE(allowed("agents/rules/lexicon.cc", "\"agents/wellbeing/audit.h\""));
  EXPECT_FALSE(allowed("examples/hello/main.cc", "\"base/json.h\""));
  EXPECT_TRUE(allowed("src/program/main.cc", "\"agents/wellbeing/audit.h\""));
  EXPECT_FALSE(allowed("src/cli/app.cc", "\"agents/wellbeing/audit.h\""));
  EXPECT_FALSE(allowed("src/driver/driver.cc", "\"agents/wellbeing/audit.h\""));
}

TEST(TidyIncludes, PublicHeadersBringOnlyBelayAndTheStandardLibrary) {
  EXPECT_TRUE(allowed("include/belay/task.h", "<coroutine>"));
  EXPECT_TRUE(allowed("include/belay/task.h", "\"belay/result.h\""));
  EXPECT_FALSE(allowed("include/belay/task.h", "<boost/json.hpp>"));
  EXPECT_FALSE(allowed("include/belay/task.h", "<unistd.h>"));
  EXPECT_FALSE(allowed("include/belay/task.h", "\"base/json.h\""));
}

TEST(TidyIncludes, LibrariesStayInTheirFolder) {
  EXPECT_TRUE(allowed("src/base/json.cc", "<boost/json.hpp>"));
  EXPECT_FALSE(allowed("src/engine/advance.cc", "<boost/json.hpp>"));
  EXPECT_TRUE(allowed("src/store/sqlite/database.cc", "<sqlite3.h>"));
  EXPECT_TRUE(allowed("bench/bare_writer.cc", "<sqlite3.h>"));
  EXPECT_FALSE(allowed("src/store/memory/store.cc", "<sqlite3.h>"));
  EXPECT_FALSE(allowed("src/driver/driver.cc", "<CLI/CLI.hpp>"));
  EXPECT_TRUE(allowed("agents/rules/words.cc", "<unicode/brkiter.h>"));
  EXPECT_FALSE(allowed("agents/wellbeing/audit.cc", "<unicode/brkiter.h>"));
  EXPECT_FALSE(allowed("src/base/text.cc", "<boost/asio.hpp>"));
  EXPECT_FALSE(allowed("src/base/text.cc", "<nlohmann/json.hpp>"));
  EXPECT_FALSE(allowed("src/base/text.cc", "<gtest/gtest.h>"));
  EXPECT_TRUE(allowed("src/base/text_test.cc", "<gtest/gtest.h>"));
  EXPECT_TRUE(allowed("src/base/text.cc", "<sys/stat.h>"));
}

TEST(TidyIncludes, TestsSeeEverythingOfOurs) {
  EXPECT_TRUE(allowed("src/base/json_test.cc", "\"testing/sim.h\""));
  EXPECT_TRUE(allowed("tests/property/reducers_test.cc", "\"engine/advance.h\""));
}

TEST(TidyIncludes, CommentsAreNotIncludes) {
  EXPECT_TRUE(check_includes({"src/base/a.cc", "// #include \"cli/app.h\"\n"}).empty());
}

}  // namespace
}  // namespace belay::tidy
