#include <gtest/gtest.h>

#include <cmath>

#include "tests/support/runtime_fixture.h"

namespace belay {
namespace {

struct Delivery {
  int amount = 100;
  int bought = 0;
  std::string by{};
};

// A node that raises an interrupt, as in LangGraph.
struct Questions : RuntimeFixture {
  int runs_of_buy = 0;
  int amount_shown = 100;

  Graph<Delivery> orders() {
    GraphBuilder<Delivery> builder{"orders"};
    builder.node("buy", [this](const Delivery&, Context& context) -> Task<Update<Delivery>> {
      ++runs_of_buy;
      InterruptRequest question;
      question.name = "amount";
      question.text = "Buy?";
      question.payload = Value(amount_shown);
      InterruptResponse answer = context.interrupt(std::move(question));
      if (!answer.approved) co_return set(&Delivery::by, answer.decided_by);
      int bought = static_cast<int>(answer.payload.as_int().value());
      co_return set(&Delivery::bought, bought).set(&Delivery::by, answer.decided_by);
    });
    builder.edge(start, "buy").edge("buy", end);
    return std::move(builder).build().value();
  }

  RunView ask() {
    auto built = orders();
    runtime->add(built);
    return block_on(loop, runtime->start(built, Delivery{}, StartOptions{})).value();
  }
};

TEST_F(Questions, ANodeThatAsksEndsAndRunsAgainWithTheAnswer) {
  auto paused = ask();
  EXPECT_EQ(paused.row.status, RunStatus::paused);
  ASSERT_TRUE(paused.approval);
  EXPECT_EQ(paused.approval->question, "Buy?");
  auto answer = decide(paused, approve()).value();
  EXPECT_EQ(answer.view.row.status, RunStatus::completed);
  EXPECT_EQ(answer.view.state["bought"], Value(100));
  EXPECT_EQ(runs_of_buy, 2);
}

TEST_F(Questions, ARejectionReachesTheNode) {
  auto answer = decide(ask(), reject()).value();
  EXPECT_EQ(answer.view.state["bought"], Value(0));
  EXPECT_EQ(answer.view.state["by"], Value("ana"));
}

TEST_F(Questions, AnEditedPayloadReachesTheNode) {
  Decision decision = approve();
  decision.edited = Value(70);
  auto paused = ask();
  EXPECT_EQ(decide(paused, decision)->view.state["bought"], Value(70));
  EXPECT_EQ(decide(paused, decision)->kind, DecisionResult::Kind::duplicate);
  decision.edited = Value(80);
  EXPECT_EQ(decide(paused, decision)->kind, DecisionResult::Kind::conflict);
}

TEST_F(Questions, AnEditedPayloadThatCantBeStoredIsRefused) {
  auto paused = ask();
  Decision decision = approve();
  for (Value edited : {Value(std::string("\xff")), Value(HUGE_VAL)}) {
    decision.edited = edited;
    auto refused = decide(paused, decision);
    ASSERT_FALSE(refused.ok());
    EXPECT_EQ(refused.error().code, ErrorCode::invalid);
  }
  EXPECT_EQ(decide(paused, approve())->kind, DecisionResult::Kind::accepted);
}

// The process dies after the decision, while the node that continues is running.
TEST_F(Questions, AnAnswerToANodeOfASubgraphSurvivesTheProcess) {
  GraphBuilder<Delivery> inner{"buying"};
  inner.node("buy", [this](const Delivery&, Context& context) -> Task<Update<Delivery>> {
    ++runs_of_buy;
    InterruptRequest question;
    question.name = "amount";
    question.text = "Buy?";
    question.payload = Value(amount_shown);
    InterruptResponse answer = context.interrupt(std::move(question));
    co_await sleep_for(std::chrono::seconds(10));
    co_return set(&Delivery::by, answer.decided_by);
  });
  inner.edge(start, "buy").edge("buy", end);
  GraphBuilder<Delivery> builder{"shop"};
  builder.subgraph(
      "buying", std::move(inner).build().value(), [](const Delivery& order) { return order; },
      [](const Delivery& bought) { return set(&Delivery::by, bought.by); });
  builder.edge(start, "buying").edge("buying", end);
  auto shop = std::move(builder).build().value();
  runtime->add(shop);
  auto paused = block_on(loop, runtime->start(shop, Delivery{}, StartOptions{})).value();
  auto deciding = spawn<Result<DecisionResult>>(
      loop, runtime->decide(default_tenant(), paused.approval->interrupt, approve()),
      [](const Result<DecisionResult>&) {});
  loop.run_until(clock.now() + std::chrono::seconds(5));
  EXPECT_EQ(runs_of_buy, 2);
  deciding.reset();
  runtime = process();
  runtime->add(shop);
  auto view = block_on(loop, runtime->resume(default_tenant(), paused.row.thread)).value();
  EXPECT_EQ(view.row.status, RunStatus::completed) << "nobody is asked again";
  EXPECT_EQ(view.state["by"], Value("ana"));
  EXPECT_EQ(runs_of_buy, 3);
}

TEST_F(Questions, AnotherPayloadIsAskedAnew) {
  auto paused = ask();
  amount_shown = 200;
  auto second = decide(paused, approve()).value();
  EXPECT_EQ(second.view.row.status, RunStatus::paused);
  EXPECT_NE(second.view.approval->interrupt, paused.approval->interrupt);
  auto third = decide(second.view, approve()).value();
  EXPECT_EQ(third.view.state["bought"], Value(200));
}

TEST_F(Questions, AnAnswerSurvivesTheProcess) {
  auto paused = ask();
  decide(paused, approve()).value();
  runtime.reset();
  runtime = process();
  runtime->add(orders());
  auto view = block_on(loop, runtime->status(default_tenant(), paused.row.thread)).value();
  EXPECT_EQ(view.state["bought"], Value(100));
}

}  // namespace
}  // namespace belay
