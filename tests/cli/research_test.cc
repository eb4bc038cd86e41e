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

TEST_F(CliResearch, ARetryNeedsAFailure) {
  std::string id = analyze({"AAPL", "--only", "strategy"}, 3);
  Outcome unknown = world.run({"research", "retry", id, "fortune"});
  EXPECT_EQ(unknown.code, 2);
  EXPECT_THAT(unknown.err, HasSubstr("Unknown specialist"));
  Outcome refused = world.run({"research", "retry", id.substr(0, 8), "strategy"});
  EXPECT_EQ(refused.code, 4);
  EXPECT_THAT(refused.err, HasSubstr("has not failed: 3 of 4 subtasks"));
  EXPECT_EQ(world.run({"research", "retry", "nothing", "strategy"}).code, 2);
  EXPECT_EQ(world.run({"research", "retry", id}).code, 2);
}

TEST_F(CliResearch, ABatchIsExecutedByWorkersAndStartedOnce) {
  std::string file = world.write("tickers", "\xEF\xBB\xBF# two\r\nAAPL\r\nZZZZ=99 # absent\r\n");
  Words words{"research", "batch", file, "--batch", "friday", "--only", "growth"};
  Outcome queued = world.run(words);
  EXPECT_EQ(queued.code, 0) << queued.err;
  EXPECT_THAT(queued.out, HasSubstr("AAPL        queued"));
  EXPECT_EQ(world.run(words).out, queued.out);
  EXPECT_EQ(world.run({"worker", "--until-idle"}).code, 0);
  words.insert(words.end(), {"--wait", "--json"});
  Outcome ended = world.run(words);
  EXPECT_EQ(ended.code, 1) << ended.err;
  Value list = world.run({"research", "list", "--batch", "friday", "--json"}).json();
  ASSERT_EQ(list["analyses"].as_array()->size(), 2u);
  for (const Value& each : *list["analyses"].as_array()) {
    bool is_known = each["ticker"] == Value("AAPL");
    EXPECT_EQ(each["status"], Value(is_known ? "completed" : "failed"));
  }
}

TEST_F(CliResearch, ABatchIsCheckedBeforeItsFirstAnalysisStarts) {
  auto refused = [&](const std::string& content) {
    Outcome outcome = world.run({"research", "batch", world.write("tickers", content)});
    EXPECT_EQ(outcome.code, 2);
    return outcome.err;
  };
  EXPECT_THAT(refused("AAPL\naapl\n"), HasSubstr("Line 2: Invalid ticker"));
  EXPECT_THAT(refused("AAPL\nQQQQ\n"), HasSubstr("Unknown ticker \"QQQQ\""));
  EXPECT_THAT(refused("# nothing\n"), HasSubstr("has no ticker"));
  EXPECT_THAT(refused(std::string(300'000, '#')), HasSubstr("tickers"));
  EXPECT_EQ(world.run({"research", "batch", "/no/such/file"}).code, 2);
  EXPECT_THAT(world.run({"research", "list"}).out, HasSubstr("No analyses"));
}

TEST_F(CliResearch, ShowsAndPreservesTheCheckpointsOfAnAnalysisThatWaits) {
  Outcome open = world.run({"research", "analyze", "AAPL", "--only", "strategy", "--json"});
  EXPECT_EQ(open.code, 3) << "it waits at the gate";
  std::string id = *open.json()["analysis"].as_string();
  Outcome shown = world.run({"research", "checkpoints", id, "--json"});
  EXPECT_EQ(shown.code, 0) << shown.err;
  Value document = shown.json();
  const Value::Array& checkpoints = *document["checkpoints"].as_array();
  ASSERT_EQ(checkpoints.size(), 1u);
  EXPECT_EQ(checkpoints[0]["progress_pct"], Value(75.0));
  EXPECT_EQ(checkpoints[0]["current_subtask"], Value("capital_allocation_scoring"));
  Outcome dry = world.run({"research", "checkpoints", id, "--migrations"});
  EXPECT_THAT(dry.out, HasSubstr("1.1.0 -> 1.1.0  0 migrations"));
  EXPECT_EQ(world.run({"research", "preserve", id}).code, 0);
  EXPECT_EQ(world.run({"research", "resume", id}).code, 0);
  EXPECT_THAT(world.run({"research", "checkpoints", id}).out, HasSubstr("4 of 4"))
      << "preserved after the success";
  EXPECT_EQ(world.run({"research", "preserve", id, "--end"}).code, 0);
  Outcome sweep =
      world.run({"schedules", "add", "sweep", "@daily", "--agent", "research_checkpoint_sweep"});
  EXPECT_EQ(sweep.code, 0) << sweep.err;
}

TEST_F(CliResearch, StatesThatCheckpointsAreOff) {
  Outcome off = world.run({"research", "analyze", "AAPL", "--only", "growth", "--no-checkpoints"});
  EXPECT_EQ(off.code, 0) << off.err;
  EXPECT_THAT(off.out, HasSubstr("Checkpoints are off"));
}

TEST_F(CliResearch, TheHelpOfEachVerbHasExamples) {
  for (const char* verb :
       {"analyze", "batch", "list", "show", "report", "pause", "resume", "retry"}) {
    Outcome help = world.run({"research", verb, "--help"});
    EXPECT_EQ(help.code, 0);
    EXPECT_THAT(help.out, HasSubstr("Examples:")) << verb;
    for (std::size_t at = 0; at < help.out.size();) {
      std::size_t end = std::min(help.out.find('\n', at), help.out.size());
      EXPECT_LE(end - at, 110u) << help.out.substr(at, end - at);
      at = end + 1;
    }
  }
}

}  // namespace
}  // namespace belay::cli::tests
