#include <gtest/gtest.h>

#include "tests/cli/belay_process.h"

namespace belay::cli::tests {
namespace {

class CliRun : public ::testing::Test {
 protected:
  void SetUp() override {
    Outcome imported =
        world.run({"notes", "import", "-"},
                  note_line("2026-01-01", hard_day()) + note_line("2026-01-02", crisis_day()) +
                      note_line("2026-01-03", "A calm day. I had a good walk."));
    ASSERT_EQ(imported.code, 0) << imported.err;
  }
  World world;
};

TEST_F(CliRun, AHardDayWaitsForAPerson) {
  Outcome run = world.run({"run", "daily-audit", "--date", "2026-01-01", "--thread", "t"});
  EXPECT_EQ(run.code, 3) << run.err;
  EXPECT_NE(run.out.find("Risk 7"), std::string::npos) << run.out;
  EXPECT_NE(run.out.find("belay approvals approve "), std::string::npos);
  EXPECT_NE(run.out.find("belay approvals reject "), std::string::npos);
  EXPECT_NE(run.out.find("no diagnosis"), std::string::npos);
  EXPECT_NE(run.out.find("not a language model"), std::string::npos);
  EXPECT_NE(run.out.find("Expires"), std::string::npos);
  EXPECT_NE(run.err.find("analyzeNotes"), std::string::npos) << "a line a node";
  EXPECT_EQ(run.err.find('\r'), std::string::npos) << "plain lines where there is no terminal";

  Outcome again = world.run({"run", "daily-audit", "--date", "2026-01-01", "--thread", "t"});
  EXPECT_EQ(again.code, 3) << "belay run never decides";
  EXPECT_NE(again.out.find("belay approvals approve "), std::string::npos) << again.out;
}

TEST_F(CliRun, AResultIsPrintedOnce) {
  const Words start{"run", "daily-audit", "--date", "2026-01-01", "--thread", "t"};
  auto shows_result = [](const Outcome& outcome) {
    return outcome.out.find("no diagnosis") != std::string::npos;
  };
  EXPECT_TRUE(shows_result(world.run(start)));
  Outcome again = world.run(start);
  EXPECT_FALSE(shows_result(again)) << again.out;
  EXPECT_NE(again.out.find("  show:  "), std::string::npos) << again.out;
  EXPECT_NE(again.out.find("belay state t"), std::string::npos) << again.out;
  EXPECT_TRUE(shows_result(world.run({"approvals", "show", "t"})));
  for (const Words& later : {Words{"approvals", "approve", "t", "--by", "ana"},
                             Words{"approvals", "approve", "t", "--by", "ana"}, start}) {
    Outcome short_one = world.run(later);
    EXPECT_EQ(short_one.code, 0) << short_one.err;
    EXPECT_FALSE(shows_result(short_one)) << short_one.out;
    EXPECT_NE(short_one.out.find("saved  (Thread t)"), std::string::npos) << short_one.out;
  }
  EXPECT_TRUE(shows_result(world.run({"state", "t"})));
}

TEST_F(CliRun, AResultThatADecisionHasChangedIsPrinted) {
  world.run({"run", "daily-audit", "--date", "2026-01-01", "--thread", "t"});
  Value payload = world.run({"approvals", "show", "t", "--json"}).json()["payload"];
  payload.as_object()->insert_or_assign("summary", "Read by a person.");
  std::string file = world.write("edited.json", to_json(payload));
  Outcome edited = world.run({"approvals", "approve", "t", "--by", "ana", "--edit", file});
  EXPECT_EQ(edited.code, 0) << edited.err;
  EXPECT_NE(edited.out.find("Read by a person."), std::string::npos) << edited.out;
}

TEST_F(CliRun, TheDocumentHasItsMembers) {
  Outcome run = world.run({"run", "daily-audit", "--date", "2026-01-01", "--json"});
  Value document = run.json();
  for (std::string_view name :
       {"threadId", "runId", "agent", "userId", "status", "reason", "outcome", "success",
        "currentNode", "seq", "retryCount", "workedMs", "createdAt", "updatedAt", "error", "state",
        "approval"}) {
    EXPECT_TRUE(document.find(name)) << name << " in " << run.out;
  }
  EXPECT_EQ(document["status"], Value("paused"));
  EXPECT_EQ(document["agent"], Value("daily_auditor"));
  EXPECT_EQ(document["success"], Value(true));
  EXPECT_EQ(document["state"]["analysis"]["riskLevel"], Value(7));
  for (std::string_view name :
       {"interruptId", "threadId", "runId", "agent", "userId", "node", "question", "status",
        "riskLevel", "crisis", "payload", "payloadHash", "createdAt", "expiresAt", "decidedAt",
        "decidedBy", "comment", "editedPayload"}) {
    EXPECT_TRUE(document["approval"].find(name)) << name;
  }
  EXPECT_EQ(document["approval"]["status"], Value("open"));
}

TEST_F(CliRun, ACalmDayIsSavedAndAnEmptyOneIsDone) {
  Outcome calm = world.run({"run", "daily-audit", "--date", "2026-01-03", "--json"});
  EXPECT_EQ(calm.code, 0) << calm.err;
  EXPECT_EQ(calm.json()["outcome"], Value("saved"));
  Outcome empty = world.run({"run", "daily-audit", "--date", "1999-01-01", "--json"});
  EXPECT_EQ(empty.code, 0) << empty.err;
  EXPECT_EQ(empty.json()["outcome"], Value("nothing_to_do"));
}

TEST_F(CliRun, ACrisisShowsLocalHelp) {
  world.setting.environment["BELAY_HELP_TEXT"] = "Call the house at 555-0100.";
  Outcome run = world.run({"run", "daily-audit", "--date", "2026-01-02"});
  EXPECT_EQ(run.code, 3);
  EXPECT_NE(run.out.find("Call the house at 555-0100."), std::string::npos) << run.out;
  Outcome listed = world.run({"approvals", "list"});
  EXPECT_NE(listed.out.find("CRISIS"), std::string::npos) << listed.out;
}

TEST_F(CliRun, SpeaksSpanishWhenAsked) {
  Outcome run = world.run({"run", "daily-audit", "--date", "2026-01-01", "--language", "es"});
  EXPECT_NE(run.out.find("no es un diagnóstico"), std::string::npos) << run.out;
  world.setting.environment["LANG"] = "es_ES.UTF-8";
  Outcome spanish = world.run({"run", "daily-audit", "--date", "2026-01-01", "--thread", "s"});
  EXPECT_NE(spanish.out.find("aprobar"), std::string::npos) << spanish.out;
}

TEST_F(CliRun, WithoutApprovalItSaves) {
  Outcome flag = world.run({"run", "routine", "--date", "2026-01-02", "--no-approval", "--json"});
  EXPECT_EQ(flag.code, 0) << flag.err;
  EXPECT_EQ(flag.json()["outcome"], Value("saved"));
  world.setting.environment["AGENT_REQUIRE_APPROVAL"] = "false";
  EXPECT_EQ(world.run({"run", "routine", "--date", "2026-01-02"}).code, 0);
}

TEST_F(CliRun, BadInputIsRefusedAndWritesNothing) {
  std::string before = world.store_contents();
  for (const Words& words : std::vector<Words>{
           {"run", "daily-audit", "--date", "the day before"},
           {"run", "daily-audit", "--date", "2026-02-29"},
           {"run", "daily-audit", "--date", "2026-01-01\n"},
           {"run", "daily-audit", "--date", ""},
           {"run", "daily_auditor", "--input", "date=2026-02-29"},
           {"run", "daily_auditor", "--input", "date=2026-01-01", "--input", "language=fr"},
           {"run", "daily_auditor"},
           {"run", "weekly-audit", "--date", "2026-01-01"},
           {"run"},
           {"run", "daily-audit", "--date", "2026-01-01", "--language", "fr"},
           {"run", "daily-audit", "--date", "2026-01-01", "--max-retries", "0"},
           {"run", "daily-audit", "--date", "2026-01-01", "--max-retries", "many"},
           {"run", "daily-audit", "--date", "2026-01-01", "--max-retries", "-1"},
           {"run", "daily-audit", "--date", "2026-01-01", "--timeout", "0"},
           {"run", "daily-audit", "--date", "2026-01-01", "--timeout", "99999999999999999999"},
           {"run", "daily-audit", "--date", "2026-01-01", "--max-tokens", "few"},
           {"run", "daily-audit", "--date", "2026-01-01", "--max-cost", "1,50"},
           {"run", "daily-audit", "--date", "2026-01-01", "--max-cost", "-1"},
           {"run", "daily-audit", "--date", "2026-01-01", "--max-cost", "1."},
           {"run", "daily-audit", "--date", "2026-01-01", "--max-cost", "1.0000001"},
           {"run", "daily-audit", "--date", "2026-01-01", "--expires", "soon"},
           {"run", "daily-audit", "--date", "2026-01-01", "--expires", "0s"},
           {"run", "daily-audit", "--date", "2026-01-01", "--expires", "99999999999999999d"},
           {"run", "daily-audit", "--date", "2026-01-01", "--expires", "5"},
           {"run", "daily-audit", "--date", "2026-01-01", "--thread", std::string(201, 'x')},
           {"run", "daily-audit", "--date", "2026-01-01", "--thread", "a\nb"},
           {"run", "daily-audit", "--date", "2026-01-01", "--thread", "a\xff"},
           {"run", "daily-audit", "--date", "2026-01-01", "--thread", ""},
           {"run", "daily-audit", "--date", "2026-01-01", "--user", ""},
           {"run", "daily-audit", "--date", "2026-01-01", "--model", "gpt"},
           {"run", "daily-audit", "--date", "2026-01-01", "--colour"},
           {"dance"},
       }) {
    Outcome refused = world.run(words);
    EXPECT_EQ(refused.code, 2) << words.back() << ": " << refused.err;
    EXPECT_TRUE(refused.says({"belay: "})) << words.back() << ": " << refused.err;
    EXPECT_EQ(refused.out, "");
  }
  EXPECT_EQ(world.store_contents(), before);
}

TEST_F(CliRun, AKnownThreadWithAnotherDateIsBadInput) {
  ASSERT_EQ(world.run({"run", "daily-audit", "--date", "2026-01-01", "--thread", "t"}).code, 3);
  Outcome other = world.run({"run", "daily-audit", "--date", "2026-01-02", "--thread", "t"});
  EXPECT_EQ(other.code, 2);
  EXPECT_TRUE(other.says({"\"t\""})) << other.err;
}

TEST_F(CliRun, QuietSaysNothingBesideTheResult) {
  Outcome run = world.run({"run", "daily-audit", "--date", "2026-01-01", "--quiet"});
  EXPECT_EQ(run.code, 3);
  EXPECT_EQ(run.err, "");
}

TEST_F(CliRun, ARunInMemoryIsGoneAfterwards) {
  Outcome run =
      world.run({"run", "routine", "--date", "2026-01-02", "--store", "memory:", "--json"});
  EXPECT_EQ(run.code, 3) << run.err;
  EXPECT_EQ(world.run({"threads", "--store", "memory:", "--json"}).out, "{\"threads\":[]}\n");
}

TEST_F(CliRun, AFailedAttemptIsToldAndTriedAgain) {
  world.setting.environment["BELAY_TEST_MODEL_FAILS"] = "1";
  Outcome run = world.run({"run", "daily-audit", "--date", "2026-01-01"});
  EXPECT_EQ(run.code, 3) << run.err;
  EXPECT_NE(run.err.find("attempt 1 failed, retrying in"), std::string::npos) << run.err;

  Outcome failed =
      world.run({"run", "daily-audit", "--date", "2026-01-01", "--max-retries", "1", "--json"});
  EXPECT_EQ(failed.code, 1) << failed.err;
  EXPECT_EQ(failed.json()["status"], Value("failed"));
  EXPECT_EQ(failed.json()["error"]["code"], Value("unavailable")) << failed.out;
}

TEST_F(CliRun, ABudgetIsKeptAndShown) {
  Outcome run = world.run({"run", "daily-audit", "--date", "2026-01-01", "--max-tokens", "100",
                           "--max-cost", "1.5", "--json"});
  EXPECT_EQ(run.code, 3) << run.err;
  EXPECT_EQ(to_json(run.json()["spending"]),
            R"({"money":0,"reservedMoney":0,"reservedTokens":0,"tokens":0})")
      << "the rules cost nothing";
  Outcome without = world.run({"run", "daily-audit", "--date", "2026-01-01", "--json"});
  EXPECT_TRUE(without.json()["spending"].is_null());
}

TEST_F(CliRun, ATimeOutFailsTheRun) {
  Outcome run = world.run({"run", "daily-audit", "--date", "2026-01-01", "--timeout", "1"});
  if (run.code == 3) GTEST_SKIP() << "this machine did it within a millisecond";
  EXPECT_EQ(run.code, 1) << run.out << run.err;
}

}  // namespace
}  // namespace belay::cli::tests
