// Tests of an owner that counts as dead but still writes: its writes become durable after the next
// owner has read the run, and before the claim of the next owner.

#include <gtest/gtest.h>

#include "tests/support/superstep_fixture.h"

namespace belay {
namespace {

// The store of the next owner. Considers all other sessions dead, and delays claims.
class LateClaimStore final : public ForwardingStore {
 public:
  explicit LateClaimStore(Store& inner) : ForwardingStore(inner) {}
  Task<Result<CommitOutcome>> commit(Commit commit) override {
    bool is_claim = commit.rows.checkpoint && commit.rows.checkpoint->kind == CommitKind::claim;
    if (is_claim) co_await sleep_for(claims_take);
    co_return co_await inner().commit(std::move(commit));
  }
  Result<bool> is_alive(const SessionId&) override { return false; }

  std::chrono::milliseconds claims_take{2'000};
};

struct LateWrites : Supersteps {
  LateClaimStore claims_late{*kept};
  int calls = 0;
  std::unique_ptr<Runtime> first;
  std::optional<Result<RunView>> of_first;
  Spawned spawned;

  // The first process begins a run and works for half a second, then the second one takes it over.
  Result<RunView> take_over(const Graph<Plan>& graph) {
    first = process(graph);
    StartOptions options;
    options.thread = ThreadId("t");
    loop.post([this, graph, options] {
      spawned =
          spawn<Result<RunView>>(loop, first->start(graph, Plan{}, options),
                                 [this](Result<RunView> view) { of_first = std::move(view); });
    });
    loop.run_until(clock.now() + 500ms);
    auto second = Runtime::open(RuntimeParts{claims_late, loop, clock, random, model}).value();
    second->add(graph);
    auto view = block_on(loop, second->resume(default_tenant(), ThreadId("t")));
    loop.run_until(clock.now() + 1min);
    return view;
  }

  // A node whose effect is called one second after its start, and takes one minute.
  Graph<Plan> mails_after_a_second(WhenUncertain policy) {
    GraphBuilder<Plan> builder{"plan"};
    builder.node("mail", [this, policy](const Plan&, Context& context) -> Task<Update<Plan>> {
      co_await sleep_for(1s);
      auto send = [this]() -> Task<int> {
        ++calls;
        co_await sleep_for(1min);
        co_return 1;
      };
      EffectOptions options;
      options.when_uncertain = policy;
      co_await context.unkeyed_effect("mail", options, send);
      co_return add(&Plan::total, 1);
    });
    builder.edge(start, "mail").edge("mail", end);
    return built(std::move(builder));
  }
};

TEST_F(LateWrites, AnIntentBeforeTheClaimIsFoundByTheNextOwnerWhichAsks) {
  auto view = take_over(mails_after_a_second(WhenUncertain::ask));
  EXPECT_EQ(view.value().row.status, RunStatus::paused);
  EXPECT_EQ(calls, 1);
}

TEST_F(LateWrites, AnIntentBeforeTheClaimIsSkippedByTheNextOwner) {
  auto view = take_over(mails_after_a_second(WhenUncertain::skip));
  EXPECT_EQ(view.value().row.status, RunStatus::completed);
  EXPECT_EQ(calls, 1);
}

TEST_F(LateWrites, ATaskThatIsCommittedBeforeTheClaimDoesNotRunAgain) {
  GraphBuilder<Plan> builder{"plan"};
  builder.node("fast", logs_after("fast", 1s));
  builder.node("slow", logs_after("slow", 20s));
  builder.edge(start, "fast").edge(start, "slow").edge("fast", end).edge("slow", end);
  auto view = take_over(built(std::move(builder))).value();
  EXPECT_EQ(view.row.status, RunStatus::completed);
  EXPECT_EQ(texts(view.state["log"]), (std::vector<std::string>{"fast", "slow"}));
  EXPECT_EQ(visits["fast"], 1);
  EXPECT_EQ(visits["slow"], 2);
}

TEST_F(LateWrites, AStepOfASubgraphThatIsCommittedBeforeTheClaimDoesNotRunAgain) {
  GraphBuilder<Plan> inner{"inner"};
  inner.node("one", logs_after("one", 1s));
  inner.node("two", logs_after("two", 20s));
  inner.edge(start, "one").edge("one", "two").edge("two", end);
  GraphBuilder<Plan> builder{"plan"};
  auto whole = [](const Plan& plan) { return plan; };
  auto keep_log = [](const Plan& plan) { return set(&Plan::log, plan.log); };
  builder.subgraph("all", built(std::move(inner)), whole, keep_log);
  builder.edge(start, "all").edge("all", end);
  auto view = take_over(built(std::move(builder))).value();
  EXPECT_EQ(view.row.status, RunStatus::completed);
  EXPECT_EQ(visits["one"], 1);
  EXPECT_EQ(visits["two"], 2);
}

// The first owner's question has an approval; the next owner must wait for the same one.
TEST_F(LateWrites, AQuestionThatIsAskedBeforeTheClaimStaysOpen) {
  GraphBuilder<Plan> builder{"plan"};
  builder.node("asks", [this](const Plan&, Context& context) -> Task<Update<Plan>> {
    ++visits["asks"];
    co_await sleep_for(1s);
    InterruptRequest question;
    question.name = "agree";
    question.text = "Agree?";
    bool agrees = context.interrupt(std::move(question)).approved;
    co_return add(&Plan::total, agrees ? 1 : 0);
  });
  builder.node("slow", logs_after("slow", 20s));
  builder.edge(start, "asks").edge(start, "slow").edge("asks", end).edge("slow", end);
  auto view = take_over(built(std::move(builder))).value();
  EXPECT_EQ(view.row.status, RunStatus::paused);
  EXPECT_EQ(visits["asks"], 1);
}

}  // namespace
}  // namespace belay
