// Commands that only read: threads, history, state, check, and belay without a command.

#include <gtest/gtest.h>

#include <csignal>

#include "tests/cli/belay_process.h"

namespace belay::cli::tests {
namespace {

class CliLooking : public ::testing::Test {
 protected:
  void SetUp() override {
    Outcome imported = world.run({"notes", "import", "-"}, note_line("2026-01-01", hard_day()));
    ASSERT_EQ(imported.code, 0) << imported.err;
    ASSERT_EQ(world.run({"run", "daily-audit", "--date", "2026-01-01", "--thread", "t"}).code, 3);
  }
  World world;
};

TEST_F(CliLooking, ThreadsNamesEachWithItsRun) {
  Outcome threads = world.run({"threads"});
  EXPECT_EQ(threads.code, 0);
  EXPECT_NE(threads.out.find("daily_auditor"), std::string::npos);
  Value document = world.run({"threads", "--json"}).json();
  const Value::Array* items = document["threads"].as_array();
  ASSERT_TRUE(items);
  ASSERT_EQ(items->size(), 1u);
  EXPECT_EQ((*items)[0]["threadId"], Value("t"));
  EXPECT_EQ((*items)[0]["run"]["status"], Value("paused"));
  for (const Words& words : std::vector<Words>{{"threads", "--limit", "0"},
                                               {"threads", "--limit", "-1"},
                                               {"threads", "--limit", "many"},
                                               {"threads", "--limit", "1001"}}) {
    Outcome refused = world.run(words);
    EXPECT_EQ(refused.code, 2) << words.back();
    EXPECT_TRUE(refused.says({"--limit"})) << refused.err;
  }
}

TEST_F(CliLooking, AThreadIsDeletedOnceItsRunHasEnded) {
  Outcome early = world.run({"threads", "delete", "t"});
  EXPECT_EQ(early.code, 4);
  EXPECT_TRUE(early.says({"is paused", "Cancel the run"})) << early.err;
  ASSERT_EQ(world.run({"cancel", "t"}).code, 0);
  ASSERT_EQ(world.run({"threads", "preserve", "t"}).code, 0);
  EXPECT_TRUE(world.run({"threads", "delete", "t"}).says({"is preserved"}));
  ASSERT_EQ(world.run({"threads", "unpreserve", "t"}).code, 0);
  Outcome deleted = world.run({"threads", "delete", "t", "--json"});
  EXPECT_EQ(deleted.code, 0) << deleted.err;
  EXPECT_EQ(to_json(deleted.json()), R"({"runs":1,"threadId":"t"})");
  EXPECT_TRUE(world.run({"threads", "--json"}).json()["threads"].as_array()->empty());
  EXPECT_TRUE(world.run({"threads", "delete", "t"}).says({"Unknown thread"}));
  EXPECT_EQ(world.run({"notes", "list", "--json"}).json()["notes"].as_array()->empty(), false)
      << "notes remain";
  EXPECT_EQ(world.run({"check"}).code, 0);
}

TEST_F(CliLooking, TheRunsBeforeTheNewestAreDeletedAndTheThreadKeepsItsState) {
  ASSERT_EQ(world.run({"cancel", "t"}).code, 0);
  Outcome one = world.run({"threads", "delete", "t", "--keep", "newest", "--json"});
  EXPECT_EQ(to_json(one.json()), R"({"runs":0,"threadId":"t"})") << one.err;
  std::string state = world.run({"state", "t", "--json"}).out;
  for (const char* other : {"", "oldest", "none"}) {
    EXPECT_EQ(world.run({"threads", "delete", "t", "--keep", other}).code, 2) << other;
  }
  std::string told = world.run({"threads", "delete", "t", "--keep", "newest"}).out;
  EXPECT_NE(told.find("keeps its newest run"), std::string::npos) << told;
  EXPECT_EQ(world.run({"state", "t", "--json"}).out, state);
  EXPECT_EQ(world.run({"check"}).code, 0);
}

// Names with direction characters resemble other names, on the screen and when pasted.
TEST_F(CliLooking, NoNameTurnsALineRound) {
  for (const char* mark : {"\u202e", "\u2066", "\u200f", "\u061c"}) {
    std::string name = std::string("b") + mark + "e'\\a";
    Outcome run = world.run({"run", "daily-audit", "--date", "2026-01-01", "--thread", name});
    ASSERT_EQ(run.code, 3) << run.err;
    for (const Words& words :
         {Words{"threads"}, Words{"state", name}, Words{"history", name},
          Words{"approvals", "list"}, Words{"approvals", "show", name}, Words{"status"},
          Words{"events", name}, Words{"cancel", "no" + name}}) {
      for (bool json : {false, true}) {
        Words all = words;
        if (json) all.push_back("--json");
        Outcome shown = world.run(all);
        EXPECT_EQ((shown.out + shown.err).find(mark), std::string::npos) << words[0];
        bool is_document = json && !shown.out.empty() && words[0] != "events";
        EXPECT_TRUE(!is_document || !shown.json().is_null()) << shown.out;
      }
    }
    EXPECT_EQ((run.out + run.err).find(mark), std::string::npos) << run.out;
    Outcome listed = world.run({"threads", "--json"});
    EXPECT_EQ(listed.json()["threads"].as_array()->front()["threadId"], Value(name));
  }
}

TEST_F(CliLooking, PruningForgetsWhatHasEndedUnlessItIsPreserved) {
  auto prune = [&](const Words& more) {
    Words words{"store", "prune", "--json"};
    words.insert(words.end(), more.begin(), more.end());
    return world.run(words).json();
  };
  EXPECT_EQ(prune({"--older-than", "0h"})["threads"], Value(0)) << "it waits";
  ASSERT_EQ(world.run({"cancel", "t"}).code, 0);
  EXPECT_EQ(prune({})["threads"], Value(0)) << "it ended just now";
  EXPECT_EQ(world.run({"threads", "preserve", "t"}).code, 0);
  EXPECT_EQ(prune({"--older-than", "0h"})["preserved"], Value(1));
  EXPECT_EQ(world.run({"threads", "unpreserve", "t"}).code, 0);
  EXPECT_EQ(prune({"--older-than", "0h", "--dry-run"})["threads"], Value(1));
  EXPECT_EQ(world.run({"state", "t"}).code, 0) << "a dry run changes nothing";
  EXPECT_EQ(prune({"--older-than", "0h"})["runs"], Value(1));
  EXPECT_EQ(world.run({"state", "t"}).code, 2);
  EXPECT_EQ(world.run({"check"}).code, 0);
  Outcome notes = world.run({"notes", "list"});
  EXPECT_NE(notes.out.find("2026-01-01"), std::string::npos) << "records stay";
  EXPECT_EQ(world.run({"threads", "preserve", "nobody"}).code, 2);
  EXPECT_EQ(world.run({"store", "prune", "--older-than", "soon"}).code, 2);
  EXPECT_EQ(world.run({"store"}).code, 2);
}

TEST_F(CliLooking, TheStoreIsMeasuredAndCompacted) {
  Value stats = world.run({"store", "stats", "--json"}).json();
  const Value::Array* tables = stats["tables"].as_array();
  ASSERT_TRUE(tables);
  std::int64_t checkpoints = 0;
  for (const Value& table : *tables) {
    if (table["name"] == Value("checkpoints")) checkpoints = table["rows"].as_int().value_or(0);
  }
  EXPECT_GE(checkpoints, 4);
  EXPECT_NE(world.run({"store", "stats"}).out.find("checkpoints"), std::string::npos);
  Value compacted = world.run({"store", "compact", "--json"}).json();
  EXPECT_LE(compacted["bytesAfter"].as_int(), compacted["bytesBefore"].as_int());
  EXPECT_EQ(world.run({"check"}).code, 0);
}

TEST_F(CliLooking, HistoryHasEveryCommitNewestFirst) {
  Value document = world.run({"history", "t", "--json"}).json();
  EXPECT_EQ(document["threadId"], Value("t"));
  const Value::Array* rows = document["checkpoints"].as_array();
  ASSERT_TRUE(rows);
  ASSERT_GE(rows->size(), 4u);
  auto seq = static_cast<std::int64_t>(rows->size());
  for (const Value& row : *rows) {
    EXPECT_EQ(row["seq"], Value(seq--));
    for (std::string_view name : {"checkpointId", "parentId", "epoch", "kind", "node", "superstep",
                                  "status", "retryCount", "createdAt", "hash"}) {
      EXPECT_TRUE(row.find(name)) << name;
    }
  }
  Outcome text = world.run({"history", "t"});
  EXPECT_EQ(text.code, 0);
  EXPECT_NE(text.out.find("analyzeNotes"), std::string::npos);
  Outcome unknown = world.run({"history", "nobody"});
  EXPECT_EQ(unknown.code, 2);
  EXPECT_TRUE(unknown.says({"nobody", "belay threads"})) << unknown.err;
}

TEST_F(CliLooking, CallsShowWhatTheModelWasAskedAndWhatItSaid) {
  Value document = world.run({"calls", "t", "--json"}).json();
  const Value::Array* calls = document["calls"].as_array();
  ASSERT_TRUE(calls);
  ASSERT_EQ(calls->size(), 1u);
  const Value& call = calls->front();
  EXPECT_EQ(call["kind"], Value("model"));
  EXPECT_EQ(call["node"], Value("analyzeNotes"));
  EXPECT_EQ(call["status"], Value("done"));
  EXPECT_EQ(call["request"].as_string()->size(), 64u);
  ASSERT_TRUE(call["prompt"]["messages"].as_array());
  EXPECT_NE(to_json(call["prompt"]).find("2026-01-01"), std::string::npos);
  EXPECT_NE(call["reply"]["text"].as_string()->find("riskLevel"), std::string::npos);
  EXPECT_TRUE(call["durationMs"].as_int()) << to_json(call);
  Outcome text = world.run({"calls", "t"});
  EXPECT_EQ(text.code, 0);
  EXPECT_TRUE(text.out.find("model/1/1") != std::string::npos &&
              text.out.find("done  ") != std::string::npos &&
              text.out.find("    -> ") != std::string::npos)
      << text.out;
  EXPECT_EQ(world.run({"calls", "nobody"}).code, 2);
}

TEST_F(CliLooking, OfAPromptThatIsNotToBeKeptTheStoreHasTheHashAlone) {
  world.setting.environment["BELAY_MODEL_PROMPTS"] = "false";
  ASSERT_EQ(world.run({"run", "daily-audit", "--date", "2026-01-01", "--thread", "u"}).code, 3);
  Value call = world.run({"calls", "u", "--json"}).json()["calls"].as_array()->at(0);
  EXPECT_TRUE(call["prompt"].is_null());
  EXPECT_FALSE(call["request"].is_null());
  EXPECT_FALSE(call["reply"].is_null());
  EXPECT_EQ(world.run({"replay", "u"}).code, 0);
  world.setting.environment["BELAY_MODEL_PROMPTS"] = "perhaps";
  EXPECT_EQ(world.run({"calls", "u"}).code, 2);
}

TEST_F(CliLooking, ARunWhoseProcessWasKilledIsSaidToBeLeft) {
  Setting halting = world.setting;
  halting.environment["BELAY_TEST_PAUSE_AT_COMMIT"] = "3";
  Belay running({"run", "daily-audit", "--date", "2026-01-01", "--thread", "k"}, halting);
  ASSERT_TRUE(running.waits_to_say("paused before commit 3"));
  EXPECT_EQ(world.run({"state", "k"}).out.find("its process is gone"), std::string::npos);
  running.send(SIGKILL);
  running.finish();
  for (const Words& words :
       {Words{"state", "k"}, Words{"threads"}, Words{"threads", "show", "k"}}) {
    Outcome shown = world.run(words);
    EXPECT_NE(shown.out.find("running: its process is gone"), std::string::npos) << shown.out;
  }
  EXPECT_EQ(world.run({"resume", "k"}).code, 3);
}

TEST_F(CliLooking, StateNowAndThen) {
  Outcome now = world.run({"state", "t"});
  EXPECT_EQ(now.code, 0);
  EXPECT_NE(now.out.find("Risk 7"), std::string::npos) << now.out;
  Value then = world.run({"state", "t", "--at", "1", "--json"}).json();
  EXPECT_EQ(then["seq"], Value(1));
  EXPECT_TRUE(then["state"]["analysis"].is_null());
  EXPECT_EQ(world.run({"state", "t", "--at", "999"}).code, 2);
  EXPECT_EQ(world.run({"state", "t", "--at", "-1"}).code, 2);
  EXPECT_EQ(world.run({"state", "t", "--at", "now"}).code, 2);
  EXPECT_EQ(world.run({"state", "nobody"}).code, 2);
  EXPECT_EQ(world.run({"state", "a\nb"}).code, 2);
  EXPECT_EQ(world.run({"state"}).code, 2);
}

TEST_F(CliLooking, LookingChangesNothing) {
  std::string before = world.store_contents();
  for (const Words& words : std::vector<Words>{{},
                                               {"threads"},
                                               {"history", "t"},
                                               {"calls", "t"},
                                               {"state", "t"},
                                               {"approvals", "list"},
                                               {"check"},
                                               {"doctor"}}) {
    EXPECT_EQ(world.run(words).code, 0);
  }
  EXPECT_EQ(world.store_contents(), before);
}

TEST_F(CliLooking, WithoutAVerbItSaysWhatWaits) {
  Outcome overview = world.run({});
  EXPECT_EQ(overview.code, 0);
  EXPECT_NE(overview.out.find("Save this audit?"), std::string::npos) << overview.out;
  EXPECT_NE(overview.out.find("belay approvals show"), std::string::npos);
  Value document = world.run({"--json"}).json();
  EXPECT_EQ(document["approvals"].as_array()->size(), 1u);
  EXPECT_EQ(document["running"].as_array()->size(), 0u);
  EXPECT_EQ(document["orphaned"].as_array()->size(), 0u);
  EXPECT_EQ(document["leftBehind"].as_array()->size(), 0u);  // its former name
}

TEST_F(CliLooking, CheckFindsNothingWrong) {
  Outcome check = world.run({"check"});
  EXPECT_EQ(check.code, 0) << check.out;
  Value document = world.run({"check", "--json"}).json();
  EXPECT_EQ(document["violations"].as_array()->size(), 0u);
  EXPECT_EQ(document["runs"], Value(1));
  EXPECT_EQ(document["approvals"], Value(1));
}

TEST_F(CliLooking, CancelEndsARunThatHasNotEnded) {
  EXPECT_EQ(world.run({"cancel", "t"}).code, 0);
  Outcome done = world.run({"run", "daily-audit", "--date", "1999-01-01", "--thread", "d"});
  ASSERT_EQ(done.code, 0);
  Outcome ended = world.run({"cancel", "d"});
  EXPECT_EQ(ended.code, 4);
  EXPECT_TRUE(ended.says({"\"d\"", "completed"})) << ended.err;
  EXPECT_EQ(world.run({"cancel", "nobody"}).code, 2);
}

TEST_F(CliLooking, AReaderThatGoesAwayIsNoFailure) {
  Setting setting = world.setting;
  setting.environment["BELAY_STORE"] = "sqlite:" + world.store_path();
  // The pipe's reading end is closed before belay writes to it.
  std::string line = std::string("env -i HOME=/tmp BELAY_STORE='sqlite:") + world.store_path() +
                     "' '" + BELAY_BINARY + "' history t | true; echo ${PIPESTATUS[0]}";
  std::string command = "bash -c \"" + line + "\"";
  // `$` expressions are meant for the inner shell.
  for (std::size_t at = command.find('$'); at != command.npos; at = command.find('$', at + 2)) {
    command.insert(at, "\\");
  }
  FILE* pipe = ::popen(command.c_str(), "r");
  ASSERT_TRUE(pipe);
  char code[16] = {};
  EXPECT_TRUE(std::fgets(code, sizeof code, pipe));
  ::pclose(pipe);
  EXPECT_STREQ(code, "0\n");
}

TEST_F(CliLooking, AResultThatCannotBeWrittenIsTold) {
  std::string command = "env -i HOME=/tmp BELAY_STORE='sqlite:" + world.store_path() + "' '" +
                        BELAY_BINARY + "' threads > /dev/full 2> '" + world.folder.file("err") +
                        "'";
  int status = std::system(command.c_str());
  EXPECT_EQ(WEXITSTATUS(status), 70);
}

}  // namespace
}  // namespace belay::cli::tests
