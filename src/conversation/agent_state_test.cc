// The entries of real states of agents with tools.

#include <gtest/gtest.h>

#include "agent/turn.h"
#include "belay/agent.h"
#include "belay/testing.h"
#include "conversation/conversation.h"
#include "conversation/entry_id.h"

namespace belay::conversation {
namespace {

using Entries = std::vector<ChatEntry>;

struct CityArguments {
  std::string city{};
};

Tool city_tool() {
  return make_tool<CityArguments>(
      {.name = "weather", .description = "The weather.", .effect = ToolEffect::reads},
      [](const CityArguments& in, ToolContext&) -> Result<std::string> {
        if (in.city == "Nowhere") return error(ErrorCode::not_found, "There is no such city.");
        return "rain in " + in.city;
      });
}

Value city(std::string name) { return Value::object({{"city", std::move(name)}}); }

Value state_value(const AgentState& state) {
  return parse_json(encode_json(state).value()).value();
}

// The state after a question with two parallel calls, of which one fails, and an answer.
AgentState answered_state() {
  AgentOptions options;
  options.tools = {city_tool()};
  auto world = testing::World{}.model(
      testing::calls({{"c1", "weather", city("Oslo")}, {"c2", "weather", city("Nowhere")}})
          .replies("It rains."));
  AgentState state;
  state.question = "Rain?";
  auto run = world.run(agent_graph("trip", std::move(options)), state).approve_all();
  EXPECT_FALSE(run.error());
  return run.state();
}

Entries entries_in(const AgentState& state, bool ended = true) {
  return Conversations().entries_of("trip", "t", state_value(state), ended);
}

TEST(AgentConversations, HaveTheQuestionTheCallsTheResultsAndTheAnswer) {
  Entries entries = entries_in(answered_state());
  ASSERT_EQ(entries.size(), 5u);
  EXPECT_EQ(entries[0].author, Author::person);
  EXPECT_EQ(entries[0].text, "Rain?");
  EXPECT_EQ(entries[1].author, Author::agent);
  ASSERT_EQ(entries[1].calls.size(), 2u);
  EXPECT_EQ(entries[1].calls[0].arguments, city("Oslo"));
  EXPECT_EQ(entries[2].author, Author::tool);
  EXPECT_EQ(entries[2].call_id, entries[1].calls[0].id);
  EXPECT_EQ(entries[2].tool, "weather");
  EXPECT_EQ(entries[2].text, "rain in Oslo");
  EXPECT_FALSE(entries[2].is_error);
  EXPECT_EQ(entries[3].call_id, entries[1].calls[1].id);
  EXPECT_TRUE(entries[3].is_error);
  EXPECT_EQ(entries[4].text, "It rains.");
}

TEST(AgentConversations, KeepTheirIdsWhileResultsArriveInAnyOrder) {
  AgentState whole = answered_state();
  Entries complete = entries_in(whole);
  AgentState waiting = whole;
  waiting.turns.resize(2);
  waiting.results.erase("c1");
  Entries entries = entries_in(waiting, false);
  ASSERT_EQ(entries.size(), 3u) << "a call that waits has no result";
  EXPECT_EQ(entries[0].id, complete[0].id);
  EXPECT_EQ(entries[1].id, complete[1].id);
  EXPECT_EQ(entries[2].id, complete[3].id);
}

TEST(AgentConversations, HaveAFailureForACallThatGetsNoResult) {
  AgentState state = answered_state();
  state.results.erase("c1");
  Entries passed = entries_in(state, false);
  ASSERT_EQ(passed.size(), 5u) << "a later turn exists";
  EXPECT_TRUE(passed[2].is_error);
  EXPECT_FALSE(passed[2].text.empty());
  state.turns.resize(2);
  EXPECT_EQ(entries_in(state, true).size(), 4u) << "the run has ended";
  EXPECT_EQ(entries_in(state, true)[2].id, passed[2].id);
  state.turns[1].calls[0].fault = "Error: refused.";
  EXPECT_EQ(entries_in(state, false)[2].text, "Error: refused.");
}

TEST(AgentConversations, ShowSteeringMessagesAsThoseOfThePerson) {
  AgentState state;
  AgentTurn question, steering, note;
  question.question = "Rain?";
  steering.question = "In Oslo, I mean.";
  note.question = agents::note_of(agents::Limit::steps);
  steering.is_note = note.is_note = true;
  state.turns = {question, steering, note};
  Entries entries = entries_in(state);
  ASSERT_EQ(entries.size(), 3u);
  EXPECT_EQ(entries[1].author, Author::person);
  EXPECT_EQ(entries[2].author, Author::system);
}

TEST(AgentConversations, NameAReplyByTheAttemptThatReceivedIt) {
  AgentState state = answered_state();
  ASSERT_EQ(state.turns.size(), 3u);
  EXPECT_TRUE(state.turns[0].message_id.empty()) << "a question";
  Entries entries = entries_in(state);
  EXPECT_EQ(entries[1].id, state.turns[1].message_id);
  EXPECT_EQ(entries[4].id, state.turns[2].message_id);
  EXPECT_NE(entries[1].id, entries[4].id);
  EXPECT_TRUE(entries[1].id.starts_with("run-")) << entries[1].id;
}

TEST(AgentConversations, NameAReplyOfAnOlderProgramByItsPosition) {
  AgentState state = answered_state();
  Entries now = entries_in(state);
  Value older = state_value(state);
  for (Value& turn : *(*older.as_object())["turns"].as_array()) {
    ASSERT_EQ(turn.as_object()->erase("message_id"), 1u);
  }
  Entries entries = Conversations().entries_of("trip", "t", older, true);
  ASSERT_EQ(entries.size(), now.size());
  EXPECT_EQ(entries[0].id, now[0].id);
  EXPECT_NE(entries[1].id, now[1].id);
  EXPECT_EQ(entries[1].id, entry_id("t", "turn", "1"));
}

TEST(AgentConversations, LeaveOutDamagedTurns) {
  Value state = parse_json(R"({"results":{"c":7,"__proto__":{"text":"x"}},"turns":[7,null,
      {"question":7,"text":7,"calls":7},{"text":"a","calls":[7,{"call":{"id":7}},
      {"call":{"id":"c","name":7,"arguments":"{"}},
      {"call":{"id":"__proto__","name":"p","arguments":null}}]}]})")
                    .value();
  Entries entries = Conversations().entries_of("a", "t", state, true);
  ASSERT_EQ(entries.size(), 4u);
  EXPECT_EQ(entries[1].calls.size(), 2u);
  EXPECT_EQ(entries[1].calls[0].arguments, Value::object({{"input", "{"}}));
  EXPECT_EQ(entries[3].text, "x");
}

}  // namespace
}  // namespace belay::conversation
