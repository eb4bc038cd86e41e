// Several calls of one reply that wait for approval at the same time.

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>

#include "belay/agent.h"
#include "belay/runtime.h"
#include "belay/testing.h"

namespace belay {
namespace {

constexpr int kCalls = 4;

struct SendArguments {
  std::string to{};
};

class SendsFour final : public Model {
 public:
  Task<Result<ModelReply>> generate(ModelRequest request) override {
    ++requests;
    ModelReply reply;
    bool has_results = request.messages.back().role == Role::tool;
    if (has_results) {
      reply.text = "done";
      results.clear();
      for (const Message& message : request.messages) {
        if (message.role == Role::tool) results.push_back(message.text);
      }
    } else {
      reply.stop_reason = StopReason::tool_calls;
      for (int i = 0; i < kCalls; ++i) {
        std::string name(1, static_cast<char>('a' + i));
        reply.tool_calls.push_back({name, "send", Value::object({{"to", name}})});
      }
    }
    co_return reply;
  }

  int requests = 0;
  std::vector<std::string> results;
};

enum class Verdict { approve, reject, edit, expire };

// A store in memory that outlives its processes, and the receiver of the effects.
class FourApprovals {
 public:
  FourApprovals() {
    AgentOptions options;
    Tool send = make_tool<SendArguments>({.name = "send",
                                          .description = "Sends.",
                                          .effect = ToolEffect::unkeyed,
                                          .approval = ToolApproval::always},
                                         [this](const SendArguments& arguments, ToolContext&) {
                                           ++sent[arguments.to];
                                           return "sent to " + arguments.to;
                                         });
    options.tools = {send};
    graph = agent_graph("sender", options).value();
    restart();
  }

  // Ends the process and begins another one.
  void restart() {
    runtime.reset();
    runtime = Runtime::open(RuntimeParts{*store, loop, clock, random, model}).value();
    runtime->add(*graph);
  }

  RunView start() {
    AgentState state;
    state.question = "Send four.";
    StartOptions options;
    options.thread = ThreadId("t");
    return block_on(loop, runtime->start(*graph, std::move(state), options)).value();
  }

  RunView view() {
    return block_on(loop, runtime->status(default_tenant(), ThreadId("t"))).value();
  }

  // Decides on the call with this id.
  DecisionResult decide(const std::string& call, Verdict verdict) {
    for (const ApprovalRow& approval : view().approvals) {
      auto payload = parse_json(*json_in_envelope(approval.payload)).value();
      if (payload["call"] != Value(call)) continue;
      Decision decision;
      decision.approved = verdict != Verdict::reject;
      decision.decided_by = "ana";
      if (verdict == Verdict::edit) {
        Value::Object edited = *payload.as_object();
        edited.insert_or_assign("arguments", Value::object({{"to", "edited-" + call}}));
        decision.edited = Value(std::move(edited));
      }
      return block_on(loop, runtime->decide(default_tenant(), approval.interrupt, decision))
          .value();
    }
    ADD_FAILURE() << "no open approval of the call " << call;
    return {};
  }

  testing::SimulatedClock clock{*instant_from("2026-01-01T09:00:00Z")};
  testing::SeededRandom random{1};
  testing::SimulatedLoop loop{clock};
  SendsFour model;
  std::unique_ptr<Store> store = open_store("memory:", clock, random).value();
  std::optional<Graph<AgentState>> graph;
  std::map<std::string, int> sent;
  std::unique_ptr<Runtime> runtime;
};

std::string receiver_of(const std::string& call, Verdict verdict) {
  return verdict == Verdict::edit ? "edited-" + call : call;
}

TEST(AgentApprovals, HoldInAnyOrderWithAnyVerdictsAcrossProcesses) {
  std::vector<std::string> order{"a", "b", "c", "d"};
  int scenarios = 0;
  do {
    // Three verdicts for each of four calls.
    for (int mix = scenarios % 7; mix < 81; mix += 7) {
      ++scenarios;
      FourApprovals world;
      ASSERT_EQ(world.start().row.status, RunStatus::paused);
      ASSERT_EQ(world.view().approvals.size(), 4u);
      std::map<std::string, Verdict> verdicts;
      int rest = mix;
      for (const std::string& call : order) {
        verdicts[call] = static_cast<Verdict>(rest % 3);
        rest /= 3;
        EXPECT_EQ(world.model.requests, 1) << "the model waits for all decisions";
        world.decide(call, verdicts[call]);
        if (mix % 2 == 1) world.restart();
      }
      RunView ended = world.view();
      ASSERT_EQ(ended.row.status, RunStatus::completed) << ended.row.error;
      EXPECT_EQ(world.model.requests, 2);
      std::map<std::string, int> expected;
      for (const auto& [call, verdict] : verdicts) {
        if (verdict != Verdict::reject) expected[receiver_of(call, verdict)] = 1;
      }
      EXPECT_EQ(world.sent, expected);
    }
  } while (std::next_permutation(order.begin(), order.end()));
  EXPECT_GT(scenarios, 250);
}

// The World decides on the approvals in their order, and on a call of unknown outcome by the calls
// that really happened.
TEST(AgentApprovals, HoldWhereverTheProcessEnds) {
  Tool send = make_tool<SendArguments>(
      {.name = "send", .approval = ToolApproval::always},
      [](const SendArguments& arguments, ToolContext&) { return "sent to " + arguments.to; });
  AgentOptions options;
  options.tools = {send};
  auto graph = agent_graph("sender", std::move(options)).value();
  AgentState question;
  question.question = "Send four.";
  testing::World world;
  world.model(std::make_shared<SendsFour>());
  Decision no;
  no.decided_by = "ana";
  auto scenario = world.run(graph, question);
  scenario.decide("tool", no);
  auto baseline = scenario.approve_all();
  ASSERT_FALSE(baseline.error()) << baseline.error()->message;
  EXPECT_EQ(baseline.effects("call"), kCalls - 1);
  for (auto crash : baseline.crash_points()) {
    auto crashing = scenario;
    auto crashed = crashing.crash_at(crash).approve_all();
    ASSERT_FALSE(crashed.error()) << crashed.error()->message;
    EXPECT_EQ(crashed.effects("call"), kCalls - 1);
    EXPECT_EQ(crashed.status(), RunStatus::completed);
    EXPECT_EQ(crashed.violations().size(), 0u);
  }
}

TEST(AgentApprovals, EachCallHasTheResultOfItsOwnDecision) {
  FourApprovals world;
  world.start();
  world.decide("c", Verdict::approve);
  world.decide("a", Verdict::reject);
  world.decide("d", Verdict::edit);
  world.clock.move(std::chrono::hours(25));
  block_on(world.loop, world.runtime->process_due(default_tenant())).value();
  ASSERT_EQ(world.view().row.status, RunStatus::completed);
  ASSERT_EQ(world.model.results.size(), 4u);
  EXPECT_EQ(world.model.results[0], "Error: a person rejected this call. It was not made.");
  EXPECT_EQ(world.model.results[1], "Error: this call was not approved in time. It was not made.");
  EXPECT_EQ(world.model.results[2], "sent to c");
  EXPECT_EQ(world.model.results[3],
            "[A person changed the arguments to {\"to\":\"edited-d\"}.]\nsent to edited-d");
}

TEST(AgentApprovals, ASecondDecisionOnACallChangesNothing) {
  FourApprovals world;
  world.start();
  InterruptId interrupt = world.view().approvals.front().interrupt;
  Decision decision;
  decision.approved = true;
  decision.decided_by = "ana";
  auto first = block_on(world.loop, world.runtime->decide(default_tenant(), interrupt, decision));
  EXPECT_EQ(first.value().kind, DecisionResult::Kind::accepted);
  auto again = block_on(world.loop, world.runtime->decide(default_tenant(), interrupt, decision));
  EXPECT_EQ(again.value().kind, DecisionResult::Kind::duplicate);
  decision.approved = false;
  auto other = block_on(world.loop, world.runtime->decide(default_tenant(), interrupt, decision));
  EXPECT_EQ(other.value().kind, DecisionResult::Kind::conflict);
  int total = 0;
  for (const auto& [to, times] : world.sent) total += times;
  EXPECT_EQ(total, 1);
}

RunView forked_at(FourApprovals& world, std::uint64_t seq) {
  ForkOptions fork;
  fork.from = ThreadId("t");
  fork.thread = ThreadId("fork-" + std::to_string(seq));
  fork.seq = seq;
  return block_on(world.loop, world.runtime->fork(std::move(fork))).value();
}

// A fork uses results of the superstep in progress at its commit, and no decision of the original
// run: a call without such a result is requested again.
TEST(AgentApprovals, OfAForkAreRequestedAgain) {
  FourApprovals world;
  world.start();
  for (const char* call : {"a", "b", "c", "d"}) world.decide(call, Verdict::approve);
  ASSERT_EQ(world.view().row.status, RunStatus::completed);
  constexpr std::uint64_t before_reply = 2;
  RunView before = forked_at(world, before_reply);
  EXPECT_EQ(before.row.status, RunStatus::paused);
  EXPECT_EQ(before.approvals.size(), 4u);
  RunView after = forked_at(world, before_reply + 1);
  EXPECT_EQ(after.row.status, RunStatus::paused);
  EXPECT_EQ(after.approvals.size(), 1u);
  for (const auto& [to, times] : world.sent) EXPECT_EQ(times, 1) << to;
}

TEST(AgentApprovals, AfterACancelTheConversationIsValidAndGoesOn) {
  FourApprovals world;
  world.start();
  world.decide("b", Verdict::approve);
  auto cancelled =
      block_on(world.loop, world.runtime->cancel(default_tenant(), ThreadId("t"), "ana"));
  ASSERT_TRUE(cancelled.ok());
  world.model.requests = 0;
  AgentState state;
  state.question = "And now?";
  StartOptions options;
  options.thread = ThreadId("t");
  auto next = block_on(world.loop, world.runtime->start(*world.graph, std::move(state), options));
  ASSERT_TRUE(next.ok()) << next.error().message;
  auto conversation = decode_json<AgentState>(next->state).value();
  std::vector<Message> messages = conversation_of(conversation);
  // question, calls, four results, a reply instead of the missing one, question, calls, results.
  ASSERT_GE(messages.size(), 9u);
  EXPECT_EQ(messages[1].tool_calls.size(), 4u);
  for (int i = 2; i < 6; ++i) EXPECT_EQ(messages[static_cast<std::size_t>(i)].role, Role::tool);
  EXPECT_EQ(messages[6].role, Role::assistant);
  EXPECT_EQ(messages[7].text, "And now?");
}

}  // namespace
}  // namespace belay
