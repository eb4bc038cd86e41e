// The assistant's reply is the result that the user wants: every view of its run shows it.

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <filesystem>

#include "tests/cli/belay_process.h"
#include "tests/providers/scripted_provider.h"

namespace belay::cli::tests {
namespace {

using ::testing::HasSubstr;
using ::testing::Not;

class CliAssistant : public ::testing::Test {
 protected:
  CliAssistant() { set_model("plain"); }
  void set_model(const std::string& name) {
    world.setting.environment["BELAY_MODEL"] = "openai:" + name;
    world.setting.environment["BELAY_MODEL_URL"] = provider.url("/v1");
  }
  Outcome ask(const std::string& thread) {
    return world.run({"run", "assistant", "--input", "question=Hello?", "--thread", thread});
  }
  static constexpr const char* kAnswer = "Hello, w\xC3\xB6rld!";

  providers::ScriptedProvider provider;
  World world;
};

TEST_F(CliAssistant, ItsAnswerIsTheResult) {
  Outcome piped = ask("t");
  EXPECT_EQ(piped.code, 0) << piped.err;
  EXPECT_THAT(piped.out, HasSubstr(std::string("\n") + kAnswer + "\n"));
  EXPECT_THAT(piped.out, Not(HasSubstr("\"question\""))) << "an answer, not a state";
  EXPECT_THAT(world.run({"state", "t"}).out, HasSubstr(kAnswer));
  EXPECT_THAT(ask("t").out, HasSubstr(kAnswer)) << "a further run";
  world.setting.terminal = true;
  EXPECT_THAT(ask("in a terminal").out, HasSubstr(kAnswer));
}

TEST_F(CliAssistant, EachQuestionOnAThreadIsARunOfItsOwn) {
  ASSERT_EQ(ask("t").code, 0);
  Outcome second = world.run({"run", "assistant", "--input", "question=And you?", "--thread", "t",
                              "--key", "k", "--json"});
  ASSERT_EQ(second.code, 0) << second.err;
  Value state = second.json()["state"];
  ASSERT_EQ(state["messages"].as_array()->size(), 4u);
  EXPECT_EQ(state["messages"].as_array()->at(0)["text"], Value("Hello?"));
  EXPECT_EQ(state["messages"].as_array()->at(2)["text"], Value("And you?"));
  std::string run = *second.json()["runId"].as_string();
  Value calls = world.run({"calls", "t", "--json"}).json();
  const Value& prompt = calls["calls"].as_array()->at(0)["prompt"];
  ASSERT_EQ(prompt["messages"].as_array()->size(), 3u) << to_json(prompt);
  EXPECT_EQ(prompt["messages"].as_array()->at(1)["text"], Value(kAnswer));
  Outcome again = world.run({"run", "assistant", "--input", "question=And you?", "--thread", "t",
                             "--key", "k", "--json"});
  EXPECT_EQ(again.json()["runId"], Value(run)) << "the key names the run";

  Value shown = world.run({"threads", "show", "t", "--json"}).json();
  EXPECT_EQ(shown["status"], Value("idle"));
  ASSERT_EQ(shown["runs"].as_array()->size(), 2u);
  std::string first = *shown["runs"].as_array()->at(1)["runId"].as_string();
  Value earlier = world.run({"state", "t", "--run", first.substr(0, 12), "--json"}).json();
  EXPECT_EQ(earlier["runId"], Value(first));
  EXPECT_EQ(earlier["state"]["messages"].as_array()->size(), 2u);
  Outcome history = world.run({"history", "t"});
  EXPECT_THAT(history.out, HasSubstr("Run " + run));
  EXPECT_THAT(history.out, HasSubstr("Run " + first));
  EXPECT_EQ(world.run({"replay", "t", "--run", first}).code, 0);
  EXPECT_EQ(world.run({"replay", "t"}).code, 0);
  Value deleted = world.run({"threads", "delete", "t", "--keep", "newest", "--json"}).json();
  EXPECT_EQ(to_json(deleted), R"({"runs":1,"threadId":"t"})");
  EXPECT_EQ(world.run({"state", "t", "--json"}).json()["state"], state);
  EXPECT_EQ(world.run({"check"}).code, 0);
  EXPECT_EQ(world.run({"threads", "edit", "t", "--title", "Greetings"}).code, 0);
  EXPECT_THAT(world.run({"threads"}).out, HasSubstr("\"Greetings\""));
  EXPECT_EQ(world.run({"threads", "edit", "t", "--title", ""}).code, 0);
  EXPECT_THAT(world.run({"threads"}).out, testing::Not(HasSubstr("\"Greetings\"")));
}

TEST_F(CliAssistant, ABusyThreadRefusesAQuestionOrKeepsItForLater) {
  auto ask_more = [&](const Words& more) {
    Words words{"run", "assistant", "--input", "question=And you?", "--thread", "t"};
    words.insert(words.end(), more.begin(), more.end());
    return world.run(words);
  };
  ASSERT_EQ(ask_more({"--input", "review=true"}).code, 3);
  Outcome refused = ask_more({});
  EXPECT_EQ(refused.code, 4);
  EXPECT_THAT(refused.err, HasSubstr("is busy"));
  Outcome queued = ask_more({"--if-busy", "enqueue"});
  EXPECT_EQ(queued.code, 0) << queued.err;
  EXPECT_THAT(queued.out, HasSubstr("waits for run "));
  EXPECT_THAT(world.run({"threads"}).out, HasSubstr("interrupted"));
  Value runs = world.run({"threads", "show", "t", "--json"}).json()["runs"];
  std::string waiting = *runs.as_array()->at(0)["runId"].as_string();
  EXPECT_EQ(world.run({"approvals", "approve", "t"}).code, 0);
  EXPECT_EQ(world.run({"worker", "--until-idle"}).code, 0);
  Value state = world.run({"state", "t", "--run", waiting, "--json"}).json();
  EXPECT_EQ(state["status"], Value("paused")) << "`review` remains true";
  EXPECT_EQ(state["state"]["messages"].as_array()->size(), 2u);
  EXPECT_EQ(ask_more({"--if-busy", "rollback", "--input", "review=true"}).code, 3);
  EXPECT_EQ(world.run({"state", "t", "--run", waiting}).code, 2) << "it was deleted";
  EXPECT_EQ(world.run({"cancel", "t"}).code, 0);
  EXPECT_EQ(world.run({"check"}).code, 0);
}

TEST_F(CliAssistant, HasTheToolsThatItsSettingsPermit) {
  auto tools_of = [&](const std::string& thread) {
    std::vector<std::string> names;
    Value calls = world.run({"calls", thread, "--json"}).json();
    const Value::Array* tools = calls["calls"].as_array()->at(0)["prompt"]["tools"].as_array();
    if (!tools) return names;
    for (const Value& tool : *tools) names.push_back(*tool["name"].as_string());
    return names;
  };
  EXPECT_EQ(ask("none").code, 0);
  EXPECT_THAT(tools_of("none"), ::testing::IsEmpty());
  std::filesystem::create_directories(world.folder.file("handbook"));
  world.write("handbook/outbox.md", "Messages of the outbox are kept for 30 days.");
  auto& environment = world.setting.environment;
  environment["BELAY_ASSISTANT_FOLDERS"] = " " + world.folder.file("handbook") + ", ";
  environment["BELAY_ASSISTANT_FILES"] = world.folder.file("out");
  Outcome asked = ask("t");
  EXPECT_EQ(asked.code, 0) << asked.err;
  EXPECT_THAT(asked.out, HasSubstr(kAnswer));
  EXPECT_THAT(tools_of("t"), ::testing::ElementsAre("search", "write_file", "read_file"));
  EXPECT_EQ(world.run({"check"}).code, 0);
  environment["BELAY_ASSISTANT_FOLDERS"] = world.folder.file("absent");
  Outcome refused = ask("absent");
  EXPECT_EQ(refused.code, 2);
  EXPECT_THAT(refused.err, HasSubstr("absent"));
}

TEST_F(CliAssistant, WithoutAnAnswerShowsNone) {
  world.setting.environment["BELAY_MODEL"] = "builtin";
  Outcome failed = ask("t");
  EXPECT_EQ(failed.code, 1);
  EXPECT_THAT(failed.out, Not(HasSubstr(kAnswer)));
}

}  // namespace
}  // namespace belay::cli::tests
