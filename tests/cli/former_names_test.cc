// Former names of commands, options and settings: accepted for one release, and not displayed.

#include <gtest/gtest.h>

#include <algorithm>

#include "tests/cli/queue_retry.h"

namespace belay::cli::tests {
namespace {

class CliFormerNames : public ::testing::Test {
 protected:
  // The store exists then, so that no command reports that it created it.
  void SetUp() override { ASSERT_EQ(world.run({"worker", "--until-idle"}).code, 0); }

  // Leaves a paused run in the thread "t".
  void pause_a_run() {
    ASSERT_EQ(world.run({"notes", "import", "-"}, note_line("2026-01-01", hard_day())).code, 0);
    ASSERT_EQ(world.run({"run", "daily-audit", "--date", "2026-01-01", "--thread", "t"}).code, 3);
  }
  Outcome expect_same(const Words& former, const Words& current) {
    Outcome expected = world.run(current);
    Outcome found = world.run(former);
    EXPECT_EQ(found.code, expected.code) << found.err;
    EXPECT_EQ(found.out, expected.out);
    EXPECT_EQ(found.err, expected.err);
    return found;
  }

  World world;
};

bool holds(const Words& words, const std::string& word) {
  return std::find(words.begin(), words.end(), word) != words.end();
}

// Splits a text into command and option names. In a manual page, a hyphen is "\-", and "\fB"
// selects a font.
Words names_in(const std::string& text) {
  Words names(1);
  for (std::size_t at = 0; at < text.size(); ++at) {
    bool is_font = text.compare(at, 2, "\\f") == 0;
    bool is_of_name = (text[at] >= 'a' && text[at] <= 'z') || text[at] == '-';
    if (is_of_name) {
      names.back() += text[at];
    } else if (text[at] != '\\' || is_font) {
      names.emplace_back();
    }
    if (is_font) at += 2;
  }
  return names;
}

// A former option of a command, and its current name, each with a value if it takes one.
struct FormerOption {
  Words command, former, current;
};

const std::vector<FormerOption>& former_options() {
  static const std::vector<FormerOption> all = {
      {{"worker"}, {"--runs", "2"}, {"--max-runs", "3"}},
      {{"worker"}, {"--keep", "1d"}, {"--retention", "2d"}},
      {{"serve"}, {"--runs", "2"}, {"--max-runs", "3"}},
      {{"serve"}, {"--keep", "1d"}, {"--retention", "2d"}},
      {{"fork", "t"}, {"--as", "u"}, {"--thread", "v"}},
      {{"import", "-"}, {"--may-go-on"}, {"--allow-unfinished"}},
      {{"queue", "retry", "t"}, {"--as", "u"}, {"--thread", "v"}},
      {{"queue", "limit", "mails"}, {"--runs", "2"}, {"--max-runs", "3"}},
      {{"queue", "limit", "mails"}, {"--per-key", "1"}, {"--max-runs-per-key", "2"}},
  };
  return all;
}

TEST_F(CliFormerNames, OfCommandsDoTheSame) {
  pause_a_run();
  EXPECT_NE(expect_same({"tail", "t", "--json"}, {"events", "t", "--json"}).out, "");
  EXPECT_EQ(expect_same({"tail"}, {"events"}).code, 2);
  EXPECT_EQ(expect_same({"queue", "quarantine"}, {"queue", "quarantined"}).code, 0);
  EXPECT_EQ(expect_same({"outbox", "give-up", "nonsense"}, {"outbox", "discard", "nonsense"}).code,
            2);
}

TEST_F(CliFormerNames, OfOptionsDoTheSame) {
  Outcome limited =
      expect_same({"queue", "limit", "mails", "--runs", "4", "--per-key=2", "--json"},
                  {"queue", "limit", "mails", "--max-runs", "4", "--max-runs-per-key=2", "--json"});
  EXPECT_EQ(limited.json()["runsMax"], Value(4));
  EXPECT_EQ(limited.json()["perKeyMax"], Value(2));
  EXPECT_EQ(
      expect_same({"worker", "--until-idle", "--json", "--runs", "4", "--keep", "forever"},
                  {"worker", "--until-idle", "--json", "--max-runs", "4", "--retention", "forever"})
          .code,
      0);
  // The values reach the checks of the current option, whose name is in the message.
  for (const char* command : {"worker", "serve"}) {
    Outcome runs = expect_same({command, "--runs", "0"}, {command, "--max-runs", "0"});
    EXPECT_EQ(runs.code, 2);
    EXPECT_TRUE(runs.says({"--max-runs"})) << runs.err;
    Outcome keep = expect_same({command, "--keep", "soon"}, {command, "--retention", "soon"});
    EXPECT_EQ(keep.code, 2);
    EXPECT_TRUE(keep.says({"--retention"})) << keep.err;
  }
}

TEST_F(CliFormerNames, OfTheThreadOfAForkDoesTheSame) {
  pause_a_run();
  Outcome former = world.run({"fork", "t", "--as", "u", "--json"});
  Outcome current = world.run({"fork", "t", "--thread", "v", "--json"});
  EXPECT_EQ(former.code, current.code) << former.err;
  EXPECT_EQ(former.json()["threadId"], Value("u"));
  EXPECT_EQ(current.json()["threadId"], Value("v"));
  EXPECT_EQ(former.json()["status"], current.json()["status"]);
}

TEST_F(CliFormerNames, OfTheThreadOfARetryDoesTheSame) {
  expect_a_failed_run_goes_again(world);
  Outcome again = world.run({"queue", "retry", "t", "--as", "v", "--json"});
  EXPECT_EQ(again.code, 0) << again.err;
  EXPECT_EQ(again.json()["threadId"], Value("v"));
}

TEST_F(CliFormerNames, OfTheImportOfAnUnfinishedRunDoesTheSame) {
  pause_a_run();
  std::string text = world.run({"export", "t"}).out;
  for (const char* option : {"--may-go-on", "--allow-unfinished"}) {
    World elsewhere;
    EXPECT_EQ(elsewhere.run({"import", "-", option}, text).code, 0) << option;
    EXPECT_EQ(elsewhere.run({"state", "t", "--json"}).json()["status"], Value("paused")) << option;
  }
}

TEST_F(CliFormerNames, OfDiscardDiscardsTheMessage) {
  world.setting.binary = BELAY_SHOP_BINARY;
  ASSERT_EQ(world.run({"run", "order", "--thread", "t", "--input", "item=a cat"}).code, 3);
  ASSERT_EQ(world.run({"approvals", "approve", "t", "--by", "ana"}).code, 0);
  Value listed = world.run({"outbox", "list", "--json"}).json()["messages"];
  ASSERT_EQ(listed.as_array()->size(), 1u) << to_json(listed);
  std::string id = *listed.as_array()->front()["id"].as_string();
  Outcome discarded = world.run({"outbox", "give-up", id, "--json"});
  EXPECT_EQ(discarded.code, 0) << discarded.err;
  EXPECT_EQ(discarded.json()["status"], Value("given_up"));
  expect_same({"outbox", "give-up", id}, {"outbox", "discard", id});
}

TEST_F(CliFormerNames, TogetherWithTheCurrentOnesAreRefused) {
  for (const FormerOption& each : former_options()) {
    for (bool is_former_first : {true, false}) {
      Words words = each.command;
      const Words& first = is_former_first ? each.former : each.current;
      const Words& second = is_former_first ? each.current : each.former;
      words.insert(words.end(), first.begin(), first.end());
      words.insert(words.end(), second.begin(), second.end());
      Outcome refused = world.run(words);
      EXPECT_EQ(refused.code, 2) << each.former.front() << refused.err;
      EXPECT_TRUE(refused.says({each.former.front() + " and " + each.current.front(), "--help"}))
          << refused.err;
    }
  }
}

TEST_F(CliFormerNames, AreNotInTheHelp) {
  for (const FormerOption& each : former_options()) {
    Words words = each.command;
    words.push_back("--help");
    Words shown = names_in(world.run(words).out);
    EXPECT_TRUE(holds(shown, each.current.front())) << each.current.front();
    EXPECT_FALSE(holds(shown, each.former.front())) << each.former.front();
  }
  Words program = names_in(world.run({"--help"}).out);
  EXPECT_TRUE(holds(program, "events"));
  EXPECT_TRUE(holds(program, "status"));
  EXPECT_FALSE(holds(program, "tail"));
  Words queue = names_in(world.run({"queue", "--help"}).out);
  EXPECT_TRUE(holds(queue, "quarantined"));
  EXPECT_FALSE(holds(queue, "quarantine"));
  Words outbox = names_in(world.run({"outbox", "--help"}).out);
  EXPECT_TRUE(holds(outbox, "discard"));
  EXPECT_FALSE(holds(outbox, "give-up"));
  EXPECT_EQ(world.run({"tail", "--help"}).out, world.run({"events", "--help"}).out);
}

TEST_F(CliFormerNames, AreNotInTheManualPage) {
  Words shown = names_in(world.run({"man"}).out);
  for (const char* current : {"events", "quarantined", "discard", "--allow-unfinished",
                              "--retention", "--max-runs", "--max-runs-per-key"}) {
    EXPECT_TRUE(holds(shown, current)) << current;
  }
  // `worker --per-key` and `threads delete --keep` are current names.
  for (const char* former : {"tail", "quarantine", "give-up", "--may-go-on", "--as", "--runs"}) {
    EXPECT_FALSE(holds(shown, former)) << former;
  }
}

TEST_F(CliFormerNames, AreNotOfferedButAreCompletedFrom) {
  for (const FormerOption& each : former_options()) {
    Words words = each.command;
    words.push_back("--");
    Words offered = world.completed(words);
    EXPECT_TRUE(holds(offered, each.current.front())) << each.current.front();
    EXPECT_FALSE(holds(offered, each.former.front())) << each.former.front();
  }
  EXPECT_FALSE(holds(world.completed({"ta"}), "tail"));
  EXPECT_EQ(world.completed({"queue", "quar"}), Words{"quarantined"});
  EXPECT_EQ(world.completed({"outbox", "g"}), Words{});

  pause_a_run();
  EXPECT_EQ(world.completed({"tail", ""}), Words{"t"});
  EXPECT_EQ(world.completed({"tail", "t", "--fol"}), Words{"--follow"});
  EXPECT_EQ(world.completed({"queue", "retry", "--as", "u", ""}), Words{"t"}) << "u is a value";
  EXPECT_EQ(world.completed({"fork", "t", "--thread", ""}), Words{}) << "it must be a new thread";
}

TEST_F(CliFormerNames, OfAUseOfRedisIsAccepted) {
  auto explained = [this](const std::string& uses) {
    world.setting.environment["BELAY_REDIS_FOR"] = uses;
    return world.run({"config", "explain", "--redis", "redis://127.0.0.1:9/0"});
  };
  Outcome current = explained("hints,replies");
  EXPECT_EQ(current.code, 0) << current.err;
  EXPECT_NE(current.out.find("hints,replies"), std::string::npos) << current.out;
  EXPECT_EQ(explained("hints,answers").out, current.out);
  for (const char* uses : {"answers,replies", "replies,hints,answers"}) {
    Outcome refused = explained(uses);
    EXPECT_EQ(refused.code, 2) << uses;
    EXPECT_TRUE(refused.says({"BELAY_REDIS_FOR", "replies and answers"})) << refused.err;
  }
  Outcome unknown = explained("magic");
  EXPECT_TRUE(unknown.says({"magic", "replies"})) << unknown.err;
  EXPECT_EQ(unknown.err.find("answers"), std::string::npos) << unknown.err;
}

}  // namespace
}  // namespace belay::cli::tests
