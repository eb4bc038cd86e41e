// `belay research`, on a store of the process and on a server.

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <fstream>
#include <iterator>

#include "tests/cli/served.h"

namespace belay::cli::tests {
namespace {

using ::testing::HasSubstr;
using ::testing::Not;

std::string contents(const std::string& path) {
  std::ifstream file(path);
  return {std::istreambuf_iterator<char>(file), {}};
}

class CliResearch : public ::testing::Test {
 protected:
  // Returns the id of a new analysis.
  std::string analyze(Words more, int code) {
    Words words{"research", "analyze"};
    words.insert(words.end(), more.begin(), more.end());
    words.insert(words.end(), {"--quiet", "--json"});
    Outcome analyzed = world.run(words);
    EXPECT_EQ(analyzed.code, code) << analyzed.err;
    return text(analyzed.json()["analysis"]);
  }

  World world;
};

TEST_F(CliResearch, AnAnalysisWaitsForADecisionBeforeTheFinalScoring) {
  std::string id = analyze({"NVDA", "--peers", "AAPL"}, 3);
  Value open = world.run({"research", "show", id.substr(0, 8), "--json"}).json();
  EXPECT_EQ(open["ticker"], Value("NVDA"));
  EXPECT_EQ(open["status"], Value("paused"));
  EXPECT_EQ(open["specialists"]["strategy"]["progress"], Value("3 of 4 subtasks"));
  EXPECT_THAT(world.run({"approvals", "show", id}).out, HasSubstr("3 of 4 subtasks"));

  Outcome resumed = world.run({"research", "resume", id.substr(0, 8)});
  EXPECT_EQ(resumed.code, 0) << resumed.err;
  Value done = world.run({"research", "show", id, "--json"}).json();
  EXPECT_EQ(done["outcome"], Value("complete"));
  EXPECT_EQ(done["specialists"]["strategy"]["progress"], Value("4 of 4 subtasks"));
  EXPECT_THAT(world.run({"research", "show", id}).out, HasSubstr("beneish_above_threshold"));
  EXPECT_EQ(world.run({"check"}).code, 0);
}

TEST_F(CliResearch, OneThatFailsIsListedWithItsCause) {
  std::string id = analyze({"ZZZZ", "--cik", "ZZZZ=99"}, 1);
  Outcome shown = world.run({"research", "show", id});
  EXPECT_THAT(shown.out, HasSubstr("CIK0000000099.json is in none of the data folders"));
  EXPECT_THAT(world.run({"research", "list"}).out, HasSubstr(id));
}

TEST_F(CliResearch, AnOrderThatCannotBeExecutedCreatesNothing) {
  auto refused = [&](Words more) {
    Words words{"research", "analyze"};
    words.insert(words.end(), more.begin(), more.end());
    Outcome outcome = world.run(words);
    EXPECT_EQ(outcome.code, 2);
    return outcome.err;
  };
  EXPECT_THAT(refused({"aapl"}), HasSubstr("Invalid ticker"));
  EXPECT_THAT(refused({"AAPL", "--only", "fortune"}), HasSubstr("Unknown specialist"));
  EXPECT_THAT(refused({"AAPL", "--as-of", "2024-02-30"}), HasSubstr("Invalid as-of date"));
  EXPECT_THAT(refused({"AAPL", "--cik", "AAPL"}), HasSubstr("expected NAME=VALUE"));
  EXPECT_THAT(refused({"AAPL", "--set", "growth=1"}), HasSubstr("growth"));
  EXPECT_THAT(refused({"AAPL", "--set", "growth_max=x"}), HasSubstr("Invalid number"));
  EXPECT_THAT(refused({"AAPL", "--data", "/no/such/folder"}), HasSubstr("does not exist"));
  EXPECT_THAT(world.run({"research", "list"}).out, HasSubstr("No analyses"));
}

TEST_F(CliResearch, AnAssumptionCanBeReplacedAndIsRecorded) {
  std::string id = analyze(
      {"AAPL", "--only", "valuation,industry_macro", "--set", "equity_risk_premium=0.06"}, 0);
  Value shown = world.run({"research", "show", id, "--json"}).json();
  EXPECT_EQ(shown["constants"]["equity_risk_premium"], Value(0.06));
  EXPECT_FALSE(shown["specialists"].find("growth"));
}

TEST_F(CliResearch, TheReportIsAFileWithoutExternalParts) {
  std::string id = analyze({"AAPL", "--yes"}, 0);
  std::string html = world.folder.file("report.html");
  ASSERT_EQ(world.run({"research", "report", id, "--output", html}).code, 0);
  std::string text = contents(html);
  EXPECT_THAT(text, HasSubstr("Apple Inc."));
  EXPECT_THAT(text, HasSubstr("Not investment advice"));
  EXPECT_THAT(text, Not(HasSubstr("<script")));
  std::string markdown = world.folder.file("report.md");
  ASSERT_EQ(
      world.run({"research", "report", id, "--format", "markdown", "--output", markdown}).code, 0);
  EXPECT_THAT(contents(markdown), HasSubstr("# "));
  Outcome refused = world.run({"research", "report", id, "--output", "/no/such/folder/x"});
  EXPECT_EQ(refused.code, 2);
  EXPECT_THAT(refused.err, HasSubstr("cannot be written"));
}

TEST_F(CliResearch, AnEndedAnalysisCannotBePaused) {
  std::string id = analyze({"AAPL", "--only", "growth"}, 0);
  Outcome paused = world.run({"research", "pause", id});
  EXPECT_EQ(paused.code, 4) << paused.err;
}

TEST_F(CliResearch, AnUnknownAnalysisIsNamed) {
  Outcome shown = world.run({"research", "show", "nothing"});
  EXPECT_EQ(shown.code, 2);
  EXPECT_THAT(shown.err, HasSubstr("Unknown analysis"));
}

}  // namespace
}  // namespace belay::cli::tests
