#include <gtest/gtest.h>

#include "tests/cli/belay_process.h"

namespace belay::cli::tests {
namespace {

const std::vector<Words>& first_verbs() {
  static const std::vector<Words> all = {
      {"notes"},
      {"notes", "import"},
      {"notes", "list"},
      {"notes", "show"},
      {"goals"},
      {"goals", "add"},
      {"goals", "list"},
      {"goals", "show"},
      {"goals", "edit"},
      {"goals", "trigger"},
      {"goals", "pause"},
      {"goals", "resume"},
      {"goals", "remove"},
      {"goals", "steps"},
      {"run"},
      {"run", "daily-audit"},
      {"run", "routine"},
      {"enqueue"},
      {"enqueue", "routine"},
      {"worker"},
      {"fork"},
      {"events"},
      {"replay"},
      {"outbox"},
      {"outbox", "list"},
      {"outbox", "retry"},
      {"outbox", "discard"},
      {"queue"},
      {"queue", "list"},
      {"queue", "retry"},
      {"queue", "stats"},
      {"queue", "clear"},
      {"schedules"},
      {"schedules", "list"},
      {"schedules", "show"},
      {"schedules", "next"},
      {"schedules", "ticks"},
      {"schedules", "add"},
      {"schedules", "edit"},
      {"schedules", "pause"},
  };
  return all;
}

const std::vector<Words>& later_verbs() {
  static const std::vector<Words> all = {
      {"schedules", "resume"},
      {"schedules", "run-now"},
      {"schedules", "backfill"},
      {"schedules", "remove"},
      {"workers"},
      {"store"},
      {"store", "stats"},
      {"store", "prune"},
      {"approvals"},
      {"approvals", "list"},
      {"approvals", "show"},
      {"approvals", "approve"},
      {"approvals", "reject"},
      {"resume"},
      {"cancel"},
      {"steer"},
      {"mcp"},
      {"mcp", "list"},
      {"mcp", "check"},
      {"mcp", "try"},
      {"mcp", "serve"},
      {"threads"},
      {"threads", "show"},
      {"threads", "edit"},
      {"status"},
      {"history"},
      {"calls"},
      {"why"},
      {"dev"},
      {"new"},
      {"export"},
      {"import"},
      {"state"},
      {"agents"},
      {"agents", "list"},
      {"agents", "show"},
      {"agents", "graph"},
      {"config"},
      {"config", "explain"},
      {"config", "path"},
      {"check"},
      {"doctor"},
  };
  return all;
}

std::vector<Words> verbs() {
  std::vector<Words> all = first_verbs();
  all.insert(all.end(), later_verbs().begin(), later_verbs().end());
  return all;
}

TEST(CliHelp, TeachesExitCodesEnvironmentAndExamples) {
  Outcome help = run_belay({"--help"});
  EXPECT_EQ(help.code, 0);
  EXPECT_EQ(help.err, "");
  for (std::string_view text :
       {"Exit codes:", "waits for a decision", "conflict", "Environment", "BELAY_STORE",
        "AGENT_MAX_RETRIES", "NO_COLOR", "Examples:", "belay notes import"}) {
    EXPECT_NE(help.out.find(text), std::string::npos) << text;
  }
}

TEST(CliHelp, EveryVerbHasExamplesAndHelpOpensNoStore) {
  Setting setting;  // no HOME: a store could not be opened
  for (Words words : verbs()) {
    words.push_back("--help");
    Outcome help = run_belay(words, setting);
    EXPECT_EQ(help.code, 0) << words.front() << help.err;
    EXPECT_NE(help.out.find("Example"), std::string::npos) << words.front();
    for (std::size_t at = 0; at < help.out.size();) {
      std::size_t end = std::min(help.out.find('\n', at), help.out.size());
      EXPECT_LE(end - at, 110u) << help.out.substr(at, end - at);
      at = end + 1;
    }
  }
}

// The 32nd is `new`, which only this program has: programs of users have at most 31.
TEST(CliHelp, VerbsAreAtMostThirtyTwo) {
  std::map<std::string, int> first;
  for (const Words& words : verbs()) ++first[words.front()];
  EXPECT_LE(first.size(), 32u);
}

TEST(CliHelp, Version) {
  Outcome version = run_belay({"--version"});
  EXPECT_EQ(version.code, 0);
  EXPECT_TRUE(version.out.starts_with("belay "));
}

TEST(CliHelp, AMisspeltVerbIsToldWhereToLook) {
  Outcome refused = run_belay({"approvels"});
  EXPECT_EQ(refused.code, 2);
  EXPECT_TRUE(refused.says({"approvels", "--help"})) << refused.err;
  EXPECT_TRUE(refused.says({"Did you mean \"approvals\"?"})) << refused.err;
}

TEST(CliHelp, SeveralUnknownWordsAreInTheirOrderAndOneIsRecognized) {
  struct Case {
    Words words;
    std::string listed;
    std::string meant;
  };
  for (const Case& each : {
           Case{{"runn", "assistant"}, "runn assistant", "run"},
           Case{{"run", "assistant", "--thred", "x"}, "--thred x", "--thread"},
           Case{{"queue", "pasue", "default"}, "pasue default", "pause"},
           Case{{"approvals", "aprove", "x"}, "aprove x", "approve"},
           Case{{"store", "stat"}, "stat", "stats"},
       }) {
    Outcome refused = run_belay(each.words);
    EXPECT_EQ(refused.code, 2) << refused.out;
    EXPECT_TRUE(refused.says(
        {"not expected: " + each.listed + ". ", "Did you mean \"" + each.meant + "\"?"}))
        << refused.err;
  }
  EXPECT_TRUE(run_belay({"approvals"}).says({"A subcommand is required."}));
}

TEST(CliHelp, AnOptionOfAnotherCommandNamesThat) {
  Outcome refused = run_belay({"run", "--date", "2026-01-02"});
  EXPECT_EQ(refused.code, 2);
  EXPECT_TRUE(refused.says({"It is an option of", "run daily-audit"})) << refused.err;
  Outcome mistyped = run_belay({"run", "--inptu", "a=b"});
  EXPECT_TRUE(mistyped.says({"Did you mean \"--input\"?"})) << mistyped.err;
}

}  // namespace
}  // namespace belay::cli::tests
