// The command line with a server: the same commands in a local and a remote world, and servers that
// die. Long on purpose: the commands of each story are one list.

#include <gtest/gtest.h>
#include <signal.h>

#include <algorithm>
#include <filesystem>

#include "tests/cli/served.h"

namespace belay::cli::tests {
namespace {

bool is_digit(char c) { return c >= '0' && c <= '9'; }

// Returns the end of the sequence of characters of `kind` that starts at `from`.
std::size_t run_end(const std::string& text, std::size_t from, std::string_view kind) {
  return std::min(text.find_first_not_of(kind, from), text.size());
}

// Returns whether a number before `rest` is a duration: "38 ms", "23 h 59 min".
bool is_span(std::string_view rest) {
  return rest.starts_with(" ms") || rest.starts_with(" s\n") || rest.starts_with(" h ") ||
         rest.starts_with(" min");
}

// Returns the text without values that differ between two worlds or two moments: ids, digests
// (whole, or cut off at the end of a line), times and durations.
std::string without_chance(const std::string& text) {
  constexpr std::size_t id_least = 8;
  std::string same;
  for (std::size_t at = 0; at < text.size();) {
    std::size_t end = run_end(text, at, "0123456789abcdefTZ:.-");
    std::string run = text.substr(at, end - at);
    bool has_digit = std::any_of(run.begin(), run.end(), is_digit);
    bool is_time_of_day = run.size() == 5 && run[2] == ':' && is_digit(run[0]);
    bool is_chance =
        has_digit &&
        (run.size() >= id_least || is_time_of_day || is_span(std::string_view(text).substr(end)) ||
         same.ends_with("\"workedMs\"") || same.ends_with("\"durationMs\""));
    if (is_chance) same += '#';
    if (!is_chance) same += end > at ? run : text.substr(at, 1);
    at = std::max(end, at + 1);
  }
  return same;
}

// Returns a setting whose commands use that server.
Setting through(const Setting& setting, const Served& server) {
  Setting remote = setting;
  remote.environment.erase("BELAY_STORE");
  remote.environment["BELAY_SERVER"] = server.url("");
  return remote;
}

struct Step {
  Words words;
  std::string input = {};
};

// A thread with several runs. Without a model that replies, they fail.
std::vector<Step> thread_story() {
  return {
      {{"run", "assistant", "--input", "question=Hello?", "--thread", "talk"}},
      {{"run", "assistant", "--input", "question=Why?", "--thread", "talk", "--key", "why"}},
      {{"run", "assistant", "--input", "question=Why?", "--thread", "talk", "--key", "why"}},
      {{"run", "assistant", "--input", "question=When?", "--thread", "talk", "--key", "why"}},
      {{"run", "assistant", "--input", "question=Who?", "--key", "who"}},
      {{"run", "assistant", "--input", "question=Who?", "--if-busy", "perhaps"}},
      {{"history", "talk"}},
      {{"history", "talk", "--run", "nothing"}},
      {{"state", "talk", "--run", "00000000-0000-4000-8000-000000000000"}},
      {{"threads", "show", "talk"}},
      {{"threads", "show", "talk", "--limit", "1"}},
      {{"threads", "show", "nobody"}},
      {{"threads", "edit", "talk", "--title", "A talk", "--metadata", R"({"a":1,"b":2})"}},
      {{"threads", "edit", "talk", "--metadata", R"({"a":null})", "--expires", "never"}},
      {{"threads", "edit", "talk", "--metadata", "[]"}},
      {{"threads", "edit", "talk"}},
      {{"threads", "edit", "nobody", "--title", "x"}},
      {{"threads", "delete", "talk", "--keep", "oldest"}},
      {{"threads", "delete", "talk", "--keep", "newest"}},
      {{"threads", "show", "talk"}},
      {{"threads", "delete", "nobody", "--keep", "newest"}},
  };
}

// A sequence of steps with every command, and with most of the errors that they return.
std::vector<Step> story() {
  std::string notes = note_line("2026-01-01", hard_day()) + note_line("2026-01-02", crisis_day()) +
                      note_line("2026-01-03", "A calm day. I had a good walk.");
  return {
      {{"notes", "import", "-"}, notes},
      {{"notes", "list"}},
      {{"run", "daily-audit", "--date", "2026-01-01", "--thread", "a"}},
      {{"run", "daily-audit", "--date", "2026-01-01", "--thread", "a"}},
      {{"run", "daily-audit", "--date", "2026-01-02", "--thread", "a"}},
      {{"run", "daily-audit", "--date", "2026-01-03", "--thread", "calm"}},
      {{"run", "nothing"}},
      {{"enqueue", "daily-audit", "--date", "2026-01-02", "--thread", "later", "--after", "2h"}},
      {{"status"}},
      {{"threads"}},
      {{"threads", "--limit", "1"}},
      {{"threads", "preserve", "a"}},
      {{"threads", "preserve", "nobody"}},
      {{"approvals", "list"}},
      {{"approvals", "show", "a"}},
      {{"approvals", "show", "nobody"}},
      {{"state", "a"}},
      {{"state", "a", "--at", "2"}},
      {{"state", "a", "--at", "99"}},
      {{"history", "a"}},
      {{"calls", "a"}},
      {{"calls", "nobody"}},
      {{"export", "nobody"}},
      {{"events", "a"}},
      {{"events", "a", "--kinds", "status", "--after", "1-4"}},
      {{"events", "a", "--after", "900-0"}},
      {{"fork", "a", "--at", "2", "--preview"}},
      {{"fork", "a", "--at", "2", "--thread", "b"}},
      {{"fork", "a", "--at", "2", "--thread", "b"}},
      {{"cancel", "b", "--by", "ana"}},
      {{"cancel", "b", "--by", "ana"}},
      {{"approvals", "happened", "a"}},
      {{"approvals", "redo", "a"}},
      {{"approvals", "choose", "a", "burn"}},
      {{"approvals", "approve", "a", "--by", "ana", "--comment", "fine"}},
      {{"approvals", "approve", "a", "--by", "ana", "--comment", "fine"}},
      {{"approvals", "choose", "a", "approve", "--by", "ana"}},
      {{"approvals", "reject", "a", "--by", "ben"}},
      {{"approvals", "approve", "b", "--by", "ana"}},
      {{"approvals", "list", "--all"}},
      {{"resume", "a"}},
      {{"resume", "nobody"}},
      {{"resume", "--all"}},
      {{"replay", "a"}},
      {{"replay", "later"}},
      {{"outbox", "list"}},
      {{"outbox", "retry", "x"}},
      {{"outbox", "discard", "00000000-0000-0000-0000-000000000000/1/2"}},
      {{"queue", "pause", "mails"}},
      {{"queue", "limit", "mails", "--max-runs", "2"}},
      {{"queue"}},
      {{"queue", "resume", "mails"}},
      {{"queue", "quarantined"}},
      {{"queue", "retry", "a"}},
      {{"agents", "list"}},
      {{"agents", "show", "daily_auditor"}},
      {{"agents", "graph", "daily_auditor", "--format", "mermaid"}},
      {{"agents", "show", "nobody"}},
      {{"check"}},
      {{"store", "prune", "--dry-run"}},
      {{"store", "prune", "--older-than", "0h"}},
  };
}

TEST(CliRemote, SaysWhatALocalCommandSays) {
  World local, other;
  Served server(other.setting);
  ASSERT_TRUE(server.is_up());
  Setting remote = through(other.setting, server);
  const std::string made = "Created store: " + local.store_path() + "\n";
  std::vector<Step> steps = story();
  for (Step& step : thread_story()) steps.push_back(std::move(step));
  for (const Step& step : steps) {
    for (bool json : {false, true}) {
      Words words = step.words;
      if (json) words.push_back("--json");
      std::string said;
      for (const std::string& word : words) said += word + " ";
      SCOPED_TRACE(said);
      Outcome here = local.run(words, step.input);
      remote.input = step.input;
      Outcome there = run_belay(words, remote);
      EXPECT_EQ(there.code, here.code) << there.err;
      // Only a process on the store can find out whether the process of a run is alive.
      const std::string gone = ": its process is gone";
      if (auto at = here.out.find(gone); at != here.out.npos) here.out.erase(at, gone.size());
      EXPECT_EQ(without_chance(there.out), without_chance(here.out));
      if (here.err.starts_with(made)) here.err.erase(0, made.size());
      EXPECT_EQ(without_chance(there.err), without_chance(here.err));
    }
  }
}

TEST(CliRemote, ALocaleIsNoPartOfTheInputThatARepeatedStartCompares) {
  World world;
  ASSERT_EQ(world.run({"notes", "import", "-"}, note_line("2026-01-01", hard_day())).code, 0);
  Served server(world.setting);
  ASSERT_TRUE(server.is_up());
  for (const Setting& door : {world.setting, through(world.setting, server)}) {
    std::string thread = door.environment.contains("BELAY_SERVER") ? "remote" : "local";
    SCOPED_TRACE(thread);
    Setting spanish = door, english = door;
    spanish.environment["LANG"] = "es_ES.UTF-8";
    english.environment["LANG"] = "C.UTF-8";
    Words words{"run", "daily-audit", "--date", "2026-01-01", "--thread", thread};
    EXPECT_EQ(run_belay(words, spanish).code, 3);
    Outcome again = run_belay(words, english);
    EXPECT_EQ(again.code, 3) << again.err;
    Outcome state = run_belay({"state", thread, "--json"}, english);
    EXPECT_EQ(state.json()["state"]["language"], Value("es"));
    words.insert(words.end(), {"--language", "en"});
    Outcome named = run_belay(words, english);
    EXPECT_TRUE(named.says({"different input"})) << named.err;
  }
}

TEST(CliRemote, ARunIsWaitedForThoughItsServerIsKilled) {
  World world;
  ASSERT_EQ(world.run({"notes", "import", "-"}, note_line("2026-01-01", hard_day())).code, 0);
  Setting halting = world.setting;
  halting.environment["BELAY_TEST_PAUSE_AT_COMMIT"] = "3";
  Served first(halting);
  ASSERT_TRUE(first.is_up());
  Belay running({"run", "daily-audit", "--date", "2026-01-01", "--thread", "t"},
                through(world.setting, first));
  ASSERT_TRUE(first.process().waits_to_say("paused before commit 3"));
  first.process().send(SIGKILL);
  first.process().finish();
  Served second(world.setting, {}, first.port());
  ASSERT_TRUE(second.is_up());
  Outcome ended = running.finish();
  EXPECT_EQ(ended.code, 3) << ended.err;
  EXPECT_NE(ended.out.find("waiting for your decision"), std::string::npos) << ended.out;
  EXPECT_NE(ended.err.find("awaitingApproval"), std::string::npos) << ended.err;
  Outcome threads = run_belay({"threads", "--json"}, through(world.setting, second));
  EXPECT_EQ(threads.json()["threads"].as_array()->size(), 1u) << "begun once";
  EXPECT_EQ(run_belay({"check"}, through(world.setting, second)).code, 0);
}

TEST(CliRemote, ADecisionIsMadeOnceThoughItsServerIsKilled) {
  World world;
  ASSERT_EQ(world.run({"notes", "import", "-"}, note_line("2026-01-01", hard_day())).code, 0);
  ASSERT_EQ(world.run({"run", "daily-audit", "--date", "2026-01-01", "--thread", "t"}).code, 3);
  for (bool after : {false, true}) {
    SCOPED_TRACE(after);
    std::string thread = after ? "after" : "before";
    ASSERT_EQ(world.run({"fork", "t", "--copy", "--thread", thread}).code, 3);
    Setting halting = world.setting;
    halting.environment["BELAY_TEST_PAUSE_AT_COMMIT"] = "1";
    if (after) halting.environment["BELAY_TEST_PAUSE_AFTER"] = "1";
    Served first(halting);
    ASSERT_TRUE(first.is_up());
    Belay deciding({"approvals", "approve", thread, "--by", "ana"}, through(world.setting, first));
    ASSERT_TRUE(first.process().waits_to_say(" commit 1"));
    first.process().send(SIGKILL);
    first.process().finish();
    Served second(world.setting, {}, first.port());
    ASSERT_TRUE(second.is_up());
    Outcome decided = deciding.finish();
    EXPECT_EQ(decided.code, 0) << decided.err;
    EXPECT_TRUE(decided.out.starts_with("Approved by ana.")) << decided.out;
    EXPECT_NE(decided.out.find(": saved"), std::string::npos) << decided.out;
  }
}

TEST(CliRemote, AFollowerMissesNothingThoughItsServerIsKilled) {
  World world;
  ASSERT_EQ(world.run({"notes", "import", "-"}, note_line("2026-01-01", hard_day())).code, 0);
  ASSERT_EQ(world.run({"run", "daily-audit", "--date", "2026-01-01", "--thread", "t"}).code, 3);
  Served first(world.setting);
  ASSERT_TRUE(first.is_up());
  Setting remote = through(world.setting, first);
  Belay following({"events", "t", "--follow", "--json"}, remote);
  ASSERT_TRUE(following.waits_to_show("\"status\":\"paused\""));
  first.process().send(SIGKILL);
  first.process().finish();
  Served second(world.setting, {}, first.port());
  ASSERT_TRUE(second.is_up());
  ASSERT_EQ(run_belay({"approvals", "approve", "t"}, remote).code, 0);
  Outcome followed = following.finish();
  EXPECT_EQ(followed.code, 0) << followed.err;
  EXPECT_EQ(followed.out, world.run({"events", "t", "--json"}).out);
}

TEST(CliRemote, AServerThatIsNotThereIsToldWithWhatToDo) {
  World world;
  world.setting.environment.erase("BELAY_STORE");
  for (const Words& words : {Words{"threads"}, Words{"run", "daily_auditor", "--thread", "t"},
                             Words{"events", "t"}, Words{}}) {
    Words all = words;
    all.insert(all.end(), {"--server", "http://127.0.0.1:1"});
    Outcome refused = world.run(all);
    EXPECT_EQ(refused.code, 6);
    EXPECT_TRUE(refused.says({"Could not connect to a Belay server at http://127.0.0.1:1",
                              "belay serve", "--server", "BELAY_SERVER"}))
        << refused.err;
    EXPECT_EQ(refused.out, "");
  }
}

TEST(CliRemote, WhatNeedsAStoreOfItsOwnIsRefused) {
  World world;
  world.setting.environment.erase("BELAY_STORE");
  world.setting.environment["BELAY_SERVER"] = "http://127.0.0.1:1";
  for (const Words& words :
       {Words{"worker"}, Words{"serve"}, Words{"store", "encrypt"}, Words{"store", "rotate"}}) {
    Outcome refused = world.run(words);
    EXPECT_EQ(refused.code, 2);
    EXPECT_TRUE(refused.says({"a separate store", "BELAY_SERVER"})) << refused.err;
  }
  Outcome both = world.run({"threads", "--server", "http://127.0.0.1:1", "--store", "memory:"});
  EXPECT_EQ(both.code, 2);
  EXPECT_TRUE(both.says({"--server", "--store"})) << both.err;
  EXPECT_EQ(world.run({"threads", "--store", "memory:"}).code, 0) << "a flag wins";
  EXPECT_EQ(world.run({"threads", "--server", "localhost:8123"}).code, 2);
  EXPECT_EQ(world.run({"threads", "--model", "builtin"}).code, 2);
}

TEST(CliRemote, TheKeyComesFromAFileOrTheEnvironmentAndIsNeverShown) {
  World world;
  std::string keys = world.write("keys", "ana run T0ken-of-ana-which-is-long-enough\n");
  std::string mine = world.write("mine", "T0ken-of-ana-which-is-long-enough\n");
  std::string wrong = world.write("wrong", "another-one\n");
  for (const std::string& file : {keys, mine, wrong}) {
    std::filesystem::permissions(file, std::filesystem::perms::owner_read);
  }
  Served server(world.setting, {"--api-keys", keys});
  ASSERT_TRUE(server.is_up());
  Setting remote = through(world.setting, server);
  Outcome none = run_belay({"threads"}, remote);
  EXPECT_EQ(none.code, 2);
  EXPECT_TRUE(none.says({"requires an API key", "--api-key-file", "BELAY_API_KEY"})) << none.err;
  EXPECT_EQ(run_belay({"threads", "--api-key-file", wrong}, remote).code, 2);
  EXPECT_EQ(run_belay({"threads", "--api-key-file", world.folder.file("absent")}, remote).code, 2);
  Outcome with_file = run_belay({"--api-key-file", mine}, remote);
  EXPECT_EQ(with_file.code, 0) << with_file.err;
  EXPECT_NE(with_file.out.find("--api-key-file " + mine), std::string::npos) << with_file.out;
  Outcome refused = run_belay({"check", "--api-key-file", mine}, remote);
  EXPECT_EQ(refused.code, 2) << "it may run, not administer";
  remote.environment["BELAY_API_KEY"] = "T0ken-of-ana-which-is-long-enough";
  EXPECT_EQ(run_belay({"threads"}, remote).code, 0);
  for (const Words& words : {Words{"doctor"}, Words{"config", "explain"}, Words{"check"}}) {
    Outcome shown = run_belay(words, remote);
    EXPECT_EQ((shown.out + shown.err).find("T0ken"), std::string::npos) << shown.out;
  }
}

// A world whose server has keys, with a setting for each key.
struct KeyedWorld {
  KeyedWorld() {
    std::string keys = world.write("keys",
                                   "ana run ana-runs-0000000000000\n"
                                   "bob decide bob-decides-0000000000 lawyer,clerk\n"
                                   "root administer root-administers-0000\n");
    std::filesystem::permissions(keys, std::filesystem::perms::owner_read);
    server.emplace(world.setting, Words{"--api-keys", keys});
  }
  Outcome as(const std::string& token, const Words& words, const std::string& input = "") {
    Setting remote = through(world.setting, *server);
    remote.environment["BELAY_API_KEY"] = token;
    remote.input = input;
    return run_belay(words, remote);
  }
  Outcome ana(const Words& words, const std::string& input = "") {
    return as("ana-runs-0000000000000", words, input);
  }
  Outcome bob(const Words& words) { return as("bob-decides-0000000000", words); }
  Outcome root(const Words& words) { return as("root-administers-0000", words); }

  World world;
  std::optional<Served> server;
};

TEST(CliRemote, WhoActsIsTheKeysNameAndAnotherStandsBeside) {
  KeyedWorld keyed;
  ASSERT_TRUE(keyed.server->is_up());
  Outcome imported = keyed.ana({"notes", "import", "-"}, note_line("2026-01-01", hard_day()));
  ASSERT_EQ(imported.code, 0) << imported.err;
  for (const char* thread : {"t", "u", "v"}) {
    ASSERT_EQ(keyed.ana({"run", "daily-audit", "--date", "2026-01-01", "--thread", thread}).code,
              3);
  }
  Outcome plain = keyed.bob({"approvals", "approve", "t", "--json"});
  ASSERT_EQ(plain.code, 0) << plain.err;
  EXPECT_EQ(plain.json()["approval"]["decidedBy"], Value("bob"));
  EXPECT_TRUE(plain.json()["approval"]["onBehalfOf"].is_null()) << "the login is not meant";
  EXPECT_TRUE(plain.json()["run"]["state"].is_null()) << "it is another user's";
  Outcome beside = keyed.bob({"approvals", "approve", "u", "--by", "carla"});
  EXPECT_NE(beside.out.find("Approved by bob on behalf of carla."), std::string::npos)
      << beside.out;
  Outcome shown = keyed.ana({"approvals", "show", "u"});
  EXPECT_NE(shown.out.find("Decided by bob on behalf of carla"), std::string::npos) << shown.out;
  EXPECT_EQ(keyed.ana({"cancel", "v", "--by", "carla"}).code, 0);
  std::string told = keyed.ana({"events", "v", "--json"}).out;
  EXPECT_EQ(keyed.root({"check"}).code, 0);
}

TEST(CliRemote, AnothersThreadsAreNotThere) {
  KeyedWorld keyed;
  ASSERT_TRUE(keyed.server->is_up());
  ASSERT_EQ(keyed.ana({"notes", "import", "-"}, note_line("2026-01-01", hard_day())).code, 0);
  ASSERT_EQ(keyed.ana({"run", "daily-audit", "--date", "2026-01-01", "--thread", "t"}).code, 3);
  for (const Words& words : {Words{"state", "t"}, Words{"history", "t"}, Words{"calls", "t"},
                             Words{"export", "t"}, Words{"events", "t"}, Words{"fork", "t"},
                             Words{"cancel", "t"}, Words{"resume", "t"}, Words{"replay", "t"}}) {
    Outcome refused = keyed.bob(words);
    EXPECT_EQ(refused.code, 2) << words[0];
    EXPECT_TRUE(refused.says({"Unknown thread \"t\""})) << words[0] << refused.err;
  }
  EXPECT_EQ(keyed.bob({"threads", "--json"}).json()["threads"].as_array()->size(), 0u);
  EXPECT_EQ(keyed.bob({"approvals", "list", "--json"}).json()["approvals"].as_array()->size(), 1u);
  EXPECT_EQ(keyed.bob({"notes", "list", "--json"}).json()["notes"].as_array()->size(), 0u);
  EXPECT_EQ(keyed.bob({"notes", "list", "--user", "ana"}).code, 2);
  EXPECT_EQ(keyed.root({"state", "t"}).code, 0);
}

// A retried run belongs to its original user, no matter which user retries it.
TEST(CliRemote, ARunGoesAgainAsItsOwnUsers) {
  KeyedWorld keyed;
  ASSERT_TRUE(keyed.server->is_up());
  ASSERT_EQ(keyed.ana({"notes", "import", "-"}, note_line("2026-01-01", hard_day())).code, 0);
  ASSERT_EQ(
      keyed.ana({"run", "daily-audit", "--date", "2026-01-01", "--thread", "t", "--timeout", "1"})
          .code,
      1);
  Outcome again = keyed.root({"queue", "retry", "t", "--thread", "again", "--json"});
  ASSERT_EQ(again.code, 0) << again.err;
  EXPECT_EQ(again.json()["userId"], Value("ana"));
}

TEST(CliRemote, DoctorLooksAtTheServer) {
  World world;
  Served server(world.setting);
  ASSERT_TRUE(server.is_up());
  Outcome well = run_belay({"doctor"}, through(world.setting, server));
  EXPECT_EQ(well.code, 0) << well.out;
  EXPECT_NE(well.out.find("It accepts work."), std::string::npos) << well.out;
  Outcome away = world.run({"doctor", "--server", "http://127.0.0.1:1", "--json"});
  EXPECT_EQ(away.code, 6);
  EXPECT_EQ(away.json()["usable"], Value(false));
}

// The server runs another program than the client: the client uses the server's agents.
TEST(CliRemote, AgentsThatOnlyTheServerHasAreRunAndShown) {
  World world;
  Setting shop = world.setting;
  shop.binary = BELAY_SHOP_BINARY;
  Served server(shop);
  ASSERT_TRUE(server.is_up());
  Setting remote = through(world.setting, server);
  Outcome listed = run_belay({"agents", "list"}, remote);
  EXPECT_NE(listed.out.find("errand"), std::string::npos) << listed.out;
  EXPECT_EQ(run_belay({"agents", "show", "order", "--json"}, remote).json(),
            run_belay({"agents", "show", "order", "--json"}, shop).json());
  Outcome begun = run_belay(
      {"run", "order", "--thread", "t", "--input", "item=a hat", "--input", "count=2", "--json"},
      remote);
  EXPECT_EQ(begun.code, 3) << begun.err;
  EXPECT_EQ(begun.json()["state"]["item"], Value("a hat"));
  EXPECT_EQ(begun.json()["state"]["count"], Value(2));
  Outcome unfit = run_belay({"run", "order", "--input", "count=many"}, remote);
  EXPECT_EQ(unfit.code, 2) << "the server says what does not fit";
  EXPECT_TRUE(unfit.says({"count"})) << unfit.err;
}

// Approvals that never expire, that cannot be rejected, with choices in an order that is not that
// of their names, with several deciders, and with another expiry.
TEST(CliRemote, AgentsAreShownAsByTheirProgram) {
  World world;
  world.setting.binary = BELAY_LETTER_BINARY;
  Served server(world.setting);
  ASSERT_TRUE(server.is_up());
  World other;  // a program without these agents
  Setting remote = through(other.setting, server);
  std::vector<Words> all{{"agents", "list"}, {"agents", "list", "--json"}};
  for (const char* agent : {"letter", "refund", "board", "hasty"}) {
    all.push_back({"agents", "show", agent});
    all.push_back({"agents", "show", agent, "--json"});
    for (const char* format : {"mermaid", "dot", "text"}) {
      all.push_back({"agents", "graph", agent, "--format", format});
    }
  }
  for (const Words& words : all) {
    Outcome shown = run_belay(words, remote);
    EXPECT_EQ(shown.code, 0) << shown.err;
    EXPECT_EQ(shown.out, world.run(words).out) << words.back();
  }
  EXPECT_EQ(run_belay({"run", "letter", "--thread", "t"}, remote).code, 3);
}

}  // namespace
}  // namespace belay::cli::tests
