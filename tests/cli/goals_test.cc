// `belay goals`, and the routes of goals, with the built-in planner.

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <filesystem>

#include "tests/cli/served.h"

namespace belay::cli::tests {
namespace {

using ::testing::HasSubstr;
using ::testing::Not;

constexpr const char* kScript = "This is Belay's built-in planner, a script, no language model.";

class CliGoals : public ::testing::Test {
 protected:
  std::string add(const Words& more = {}) {
    Words words{"goals", "add", "messages of the outbox", "--json"};
    words.insert(words.end(), more.begin(), more.end());
    Outcome added = world.run(words);
    EXPECT_EQ(added.code, 0) << added.err;
    return text(added.json()["id"]);
  }
  void give_tools() {
    std::filesystem::create_directories(world.folder.file("handbook"));
    world.write("handbook/outbox.md", "Messages of the outbox are kept for 30 days.");
    world.setting.environment["BELAY_GOALS_FOLDERS"] = world.folder.file("handbook");
    world.setting.environment["BELAY_GOALS_FILES"] = world.folder.file("out");
  }

  World world;
};

TEST_F(CliGoals, AGoalIsPursuedInStepsAndShown) {
  give_tools();
  std::string id = add({"--tools", "search"});
  Value triggered = world.run({"goals", "trigger", id.substr(0, 8), "--json"}).json();
  EXPECT_EQ(triggered["goalId"], Value(id));
  EXPECT_EQ(triggered["threadId"], Value("goal-" + id));
  EXPECT_EQ(triggered["status"], Value("queued"));
  ASSERT_EQ(world.run({"worker", "--until-idle"}).code, 0);
  Value shown = world.run({"goals", "show", id, "--json"}).json();
  EXPECT_EQ(shown["lastRun"]["status"], Value("completed"));
  EXPECT_EQ(shown["lastRun"]["outcome"], Value("finished"));
  EXPECT_THAT(text(shown["lastRun"]["summary"]), HasSubstr(kScript));
  EXPECT_THAT(text(shown["lastRun"]["summary"]), HasSubstr("30 days"));
  EXPECT_THAT(world.run({"goals", "show", id}).out, HasSubstr("(finished)"));
  Value steps = world.run({"goals", "steps", id, "--json"}).json();
  ASSERT_EQ(steps["steps"].as_array()->size(), 2u);
  const Value& first = steps["steps"].as_array()->at(0);
  EXPECT_EQ(first["number"], Value(1));
  EXPECT_EQ(first["calls"].as_array()->at(0)["tool"], Value("search"));
  EXPECT_THAT(world.run({"goals", "steps", id}).out, HasSubstr("[search]"));
  EXPECT_THAT(world.run({"state", "goal-" + id}).out, HasSubstr(kScript));
  EXPECT_EQ(world.run({"check"}).code, 0);
}

TEST_F(CliGoals, AReportIsWrittenOnceAPersonApprovesIt) {
  give_tools();
  std::string id = add();
  ASSERT_EQ(world.run({"goals", "trigger", id}).code, 0);
  ASSERT_EQ(world.run({"worker", "--until-idle"}).code, 0);
  EXPECT_THAT(world.run({"approvals", "list"}).out, HasSubstr("write_file"));
  ASSERT_EQ(world.run({"approvals", "approve", "goal-" + id}).code, 0);
  ASSERT_EQ(world.run({"worker", "--until-idle"}).code, 0);
  Value steps = world.run({"goals", "steps", id, "--json"}).json()["steps"];
  ASSERT_EQ(steps.as_array()->size(), 4u) << "search, write, read, end";
  EXPECT_EQ(steps.as_array()->at(2)["calls"].as_array()->at(0)["tool"], Value("read_file"));
  EXPECT_THAT(text(steps.as_array()->at(2)["observation"]), HasSubstr("30 days"));
}

TEST_F(CliGoals, TheQueueRunsOneGoalAtATimeUnlessAPersonChangesIt) {
  std::string id = add();
  ASSERT_EQ(world.run({"goals", "trigger", id}).code, 0);
  EXPECT_THAT(world.run({"queue", "list", "--json"}).out, HasSubstr("\"runsMax\":1"));
  ASSERT_EQ(world.run({"queue", "limit", "goals", "--max-runs", "4"}).code, 0);
  ASSERT_EQ(world.run({"goals", "trigger", id}).code, 0);
  EXPECT_THAT(world.run({"queue", "list", "--json"}).out, HasSubstr("\"runsMax\":4"));
  ASSERT_EQ(world.run({"queue", "limit", "goals", "--max-runs", "0"}).code, 0);
  ASSERT_EQ(world.run({"goals", "trigger", id}).code, 0);
  EXPECT_THAT(world.run({"queue", "list", "--json"}).out, HasSubstr("\"runsMax\":1"))
      << "0 is no limit of this queue";
  ASSERT_EQ(world.run({"worker", "--until-idle"}).code, 0);
  EXPECT_EQ(
      world.run({"threads", "show", "goal-" + id, "--json"}).json()["runs"].as_array()->size(), 3u);
}

TEST_F(CliGoals, AKeyNamesARun) {
  std::string id = add();
  Value first = world.run({"goals", "trigger", id, "--key", "monday", "--json"}).json();
  Value again = world.run({"goals", "trigger", id, "--key", "monday", "--json"}).json();
  EXPECT_FALSE(first["runId"].is_null());
  EXPECT_EQ(first["runId"], again["runId"]);
  ASSERT_EQ(world
                .run({"goals", "edit", id, "--steps", "3", "--token-budget", "9000",
                      "--cost-budget", "0.50"})
                .code,
            0);
  again = world.run({"goals", "trigger", id, "--key", "monday", "--json"}).json();
  EXPECT_EQ(first["runId"], again["runId"]) << "also after an edit of the goal";
}

TEST_F(CliGoals, AQueuedRunOfAPausedOrRemovedGoalEndsWithoutAStep) {
  std::string id = add();
  ASSERT_EQ(world.run({"goals", "trigger", id}).code, 0);
  ASSERT_EQ(world.run({"goals", "pause", id}).code, 0);
  ASSERT_EQ(world.run({"worker", "--until-idle"}).code, 0);
  Value last = world.run({"goals", "show", id, "--json"}).json()["lastRun"];
  EXPECT_EQ(last["status"], Value("completed"));
  EXPECT_EQ(last["outcome"], Value("goal_paused"));
  EXPECT_THAT(world.run({"goals", "steps", id}).out, HasSubstr("No steps."));
  Outcome removed =
      world.run({"run", "goal", "--input", "-", "--thread", "t"}, R"({"goal":{"id":"unknown"}})");
  EXPECT_EQ(removed.code, 0) << removed.err;
  EXPECT_EQ(world.run({"state", "t", "--json"}).json()["state"]["outcome"], Value("goal_removed"));
}

TEST_F(CliGoals, AMessageToAQueuedRunIsUsedOnceByItsFirstStep) {
  std::string id = add();
  ASSERT_EQ(world.run({"goals", "trigger", id}).code, 0);
  Outcome sent = world.run({"steer", "goal-" + id, "Use the archive, too"});
  ASSERT_EQ(sent.code, 0) << sent.err;
  ASSERT_EQ(world.run({"worker", "--until-idle"}).code, 0);
  Value state = world.run({"state", "goal-" + id, "--json"}).json()["state"];
  ASSERT_EQ(state["messages"].as_array()->size(), 1u);
  EXPECT_EQ(state["messages"].as_array()->at(0)["text"], Value("Use the archive, too"));
  EXPECT_EQ(state["messages"].as_array()->at(0)["step"], Value(1));
  Value messages = world.run({"steer", "goal-" + id, "--json"}).json()["messages"];
  ASSERT_EQ(messages.as_array()->size(), 1u);
  EXPECT_EQ(messages.as_array()->at(0)["waits"], Value(false));
  EXPECT_EQ(world.run({"replay", "goal-" + id}).code, 0);
  EXPECT_EQ(world.run({"steer", "goal-" + id, "Too late"}).code, 4);
}

TEST_F(CliGoals, APausedGoalIsNotTriggered) {
  std::string id = add();
  ASSERT_EQ(world.run({"goals", "pause", id}).code, 0);
  Outcome refused = world.run({"goals", "trigger", id});
  EXPECT_EQ(refused.code, 4);
  EXPECT_TRUE(refused.says({"paused", "belay goals resume"})) << refused.err;
  ASSERT_EQ(world.run({"goals", "resume", id}).code, 0);
  EXPECT_EQ(world.run({"goals", "trigger", id}).code, 0);
}

TEST_F(CliGoals, ARunUsesTheGoalAsItIsWhenItBegins) {
  std::string id = add({"--steps", "3"});
  ASSERT_EQ(world.run({"goals", "trigger", id}).code, 0);
  ASSERT_EQ(world.run({"goals", "edit", id, "--objective", "another", "--steps", ""}).code, 0);
  ASSERT_EQ(world.run({"worker", "--until-idle"}).code, 0);
  Value goal = world.run({"state", "goal-" + id, "--json"}).json()["state"]["goal"];
  EXPECT_EQ(goal["objective"], Value("another"));
  EXPECT_EQ(goal["params"]["stepBudget"], Value(10)) << "the default";
  ASSERT_EQ(world.run({"goals", "edit", id, "--objective", "a third"}).code, 0);
  EXPECT_EQ(world.run({"replay", "goal-" + id}).code, 0) << "with the goal of that time";
  ASSERT_EQ(world.run({"goals", "trigger", id}).code, 0);
  ASSERT_EQ(world.run({"worker", "--until-idle"}).code, 0);
  goal = world.run({"state", "goal-" + id, "--json"}).json()["state"]["goal"];
  EXPECT_EQ(goal["objective"], Value("a third"));
}

TEST_F(CliGoals, AGoalWithARunInProgressIsRemovedOnlyWithItsRuns) {
  std::string id = add();
  ASSERT_EQ(world.run({"goals", "trigger", id}).code, 0);
  Outcome refused = world.run({"goals", "remove", id});
  EXPECT_EQ(refused.code, 4);
  EXPECT_TRUE(refused.says({"queued", "cancel"})) << refused.err;
  EXPECT_EQ(world.run({"goals", "remove", id, "--cancel"}).code, 0);
  EXPECT_EQ(world.run({"goals", "show", id}).code, 2);
  EXPECT_EQ(world.run({"state", "goal-" + id, "--json"}).json()["status"], Value("cancelled"));
  EXPECT_THAT(world.run({"goals", "list"}).out, HasSubstr("No goals."));
}

TEST_F(CliGoals, AnUnknownToolIsRefusedWithTheKnownOnes) {
  give_tools();
  std::string id = add();
  Outcome refused = world.run({"goals", "add", "x", "--tools", "search,fly"});
  EXPECT_EQ(refused.code, 2);
  EXPECT_TRUE(refused.says({"\"fly\"", "search", "write_file"})) << refused.err;
  EXPECT_EQ(world.run({"goals", "add", "x", "--steps", "101"}).code, 2);
  EXPECT_EQ(world.run({"goals", "add", " "}).code, 2);
  EXPECT_EQ(world.run({"goals", "edit", id}).code, 2) << "nothing to change";
  EXPECT_EQ(world.run({"goals", "edit", id, "--memory", "all"}).code, 2);
}

TEST_F(CliGoals, AreListedNewestFirstInPages) {
  for (const char* name : {"first", "second", "third"}) {
    ASSERT_EQ(world.run({"goals", "add", name}).code, 0);
  }
  Value page = world.run({"goals", "list", "--limit", "2", "--json"}).json();
  ASSERT_EQ(page["goals"].as_array()->size(), 2u);
  EXPECT_EQ(page["goals"].as_array()->at(0)["objective"], Value("third"));
  Value rest = world.run({"goals", "list", "--after", text(page["next"]), "--json"}).json();
  ASSERT_EQ(rest["goals"].as_array()->size(), 1u);
  EXPECT_EQ(rest["goals"].as_array()->at(0)["objective"], Value("first"));
  EXPECT_TRUE(rest["next"].is_null());
}

TEST_F(CliGoals, HaveRoutes) {
  Served served(world.setting);
  ASSERT_TRUE(served.is_up());
  Got made = served.send("POST", "/api/goals", R"({"objective":"Find it","memory":"carry"})");
  ASSERT_EQ(made.status, 201) << made.body;
  std::string path = "/api/goals/" + text(made.json()["id"]);
  EXPECT_EQ(served.get(path).json(), made.json());
  Got edited = served.send("PATCH", path, R"({"params":{"stepBudget":3,"temperature":0.5}})");
  ASSERT_EQ(edited.status, 200) << edited.body;
  EXPECT_EQ(edited.json()["params"]["temperature"], Value(0.5));
  edited = served.send("PATCH", path, R"({"params":{"temperature":null}})");
  EXPECT_TRUE(edited.json()["params"]["temperature"].is_null()) << edited.body;
  EXPECT_EQ(edited.json()["params"]["stepBudget"], Value(3));
  EXPECT_EQ(served.send("PATCH", path, R"({"params":{"stepBudget":0}})").status, 422);
  EXPECT_EQ(served.post(path + "/pause").status, 200);
  EXPECT_EQ(served.post(path + "/trigger").status, 409);
  EXPECT_EQ(served.post(path + "/resume").status, 200);
  Got triggered = served.post(path + "/trigger");
  ASSERT_EQ(triggered.status, 202) << triggered.body;
  std::string run = text(triggered.json()["runId"]);
  std::string thread = "/api/threads/" + text(triggered.json()["threadId"]);
  Got ended;
  for (int poll = 0; poll < 600 && ended.json()["status"] != Value("completed"); ++poll) {
    ended = served.get(thread);
  }
  ASSERT_EQ(ended.json()["status"], Value("completed")) << ended.body;
  Value runs = served.get(path + "/runs").json();
  ASSERT_EQ(runs["runs"].as_array()->size(), 1u);
  EXPECT_EQ(runs["runs"].as_array()->at(0)["runId"], Value(run));
  Value steps = served.get("/api/runs/" + run + "/steps").json();
  ASSERT_EQ(steps["steps"].as_array()->size(), 1u);
  EXPECT_THAT(text(steps["steps"].as_array()->at(0)["thought"]), HasSubstr(kScript));
  EXPECT_TRUE(steps["next"].is_null());
  EXPECT_EQ(served.get("/api/goals").json()["goals"].as_array()->size(), 1u);
  EXPECT_EQ(served.send("DELETE", path, "").status, 204);
  EXPECT_EQ(served.get(path).status, 404);
  EXPECT_EQ(served.get("/api/runs/" + run + "/steps").json()["steps"].as_array()->size(), 0u);
}

TEST_F(CliGoals, AreUsedThroughAServer) {
  Served served(world.setting);
  ASSERT_TRUE(served.is_up());
  auto remote = [&](Words words) {
    words.insert(words.end(), {"--server", served.url("")});
    return world.run(words);
  };
  Value goal = remote({"goals", "add", "Find it", "--json"}).json();
  std::string id = text(goal["id"]);
  EXPECT_THAT(remote({"goals", "list"}).out, HasSubstr("Find it"));
  ASSERT_EQ(remote({"goals", "add", "Find another"}).code, 0);
  Value page = remote({"goals", "list", "--limit", "1", "--json"}).json();
  ASSERT_EQ(page["goals"].as_array()->size(), 1u);
  EXPECT_EQ(page["goals"].as_array()->at(0)["objective"], Value("Find another"));
  Value rest = remote({"goals", "list", "--after", text(page["next"]), "--json"}).json();
  ASSERT_EQ(rest["goals"].as_array()->size(), 1u);
  EXPECT_EQ(rest["goals"].as_array()->at(0)["id"], Value(id));
  EXPECT_EQ(remote({"goals", "add", "Find it", "--tools", "fly"}).code, 2);
  EXPECT_EQ(remote({"goals", "edit", id, "--priority", "2"}).code, 0);
  EXPECT_EQ(remote({"goals", "show", id, "--json"}).json()["priority"], Value(2));
  Outcome triggered = remote({"goals", "trigger", id});
  EXPECT_EQ(triggered.code, 0) << triggered.err;
}

}  // namespace
}  // namespace belay::cli::tests
