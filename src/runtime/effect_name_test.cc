// Tests that effect names are unique within an attempt: the journal identifies effects by name.

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tests/support/crashing_store_fixture.h"

namespace belay {
namespace {

using namespace std::chrono_literals;
using ::testing::ElementsAre;
using ::testing::HasSubstr;

struct Bill {
  std::vector<std::string> items = {"chair", "desk", "lamp"};
  std::vector<std::string> receipts{};
};

struct EffectNames : CrashingStoreFixture {
  std::vector<std::string> calls;

  static Graph<Bill> one_node(auto node, RetryPolicy retry = {}) {
    GraphBuilder<Bill> graph{"bill"};
    graph.one_run_per_thread();
    graph.node("charge", std::move(node)).retry(retry);
    graph.edge(start, "charge").edge("charge", end);
    return std::move(graph).build().value();
  }
  RunView run(const Graph<Bill>& graph, Budget budget = {}) {
    StartOptions options;
    options.thread = ThreadId("bill");
    options.run.budget = budget;
    auto runtime = process(graph);
    return block_on(loop, runtime->start(graph, Bill{}, options)).value();
  }
  std::string call(const std::string& item) {
    calls.push_back(item);
    return "receipt of " + item;
  }
  // Expects that the run fails after one call, with the effect and its node in the error, and that
  // a replay has the same result without a call.
  void expect_refused(const Graph<Bill>& graph) {
    auto view = run(graph);
    EXPECT_EQ(view.row.status, RunStatus::failed);
    EXPECT_EQ(view.row.error_code, "invalid");
    EXPECT_THAT(
        view.row.error,
        HasSubstr("The effect \"pay\" of the node \"charge\" is used twice in one attempt"));
    EXPECT_THAT(view.row.error, HasSubstr("Give each effect its own name"));
    EXPECT_THAT(calls, ElementsAre("chair"));
    auto runtime = process(graph);
    ReplayOptions replayed;
    replayed.thread = ThreadId("bill");
    auto report = block_on(loop, runtime->replay(replayed)).value();
    EXPECT_FALSE(report.divergence) << report.divergence->replayed;
    EXPECT_THAT(calls, ElementsAre("chair"));
  }
  // A node that charges for each item; `name_of` makes the effect names.
  Graph<Bill> charges(std::function<std::string(const std::string&)> name_of) {
    auto node = [this, name_of](const Bill& bill, Context& context) -> Task<Update<Bill>> {
      auto update = unchanged<Bill>();
      for (const std::string& item : bill.items) {
        auto pay = [this, item]() -> Task<std::string> {
          co_await sleep_for(5ms);
          co_return call(item);
        };
        auto receipt = co_await context.keyed_effect(name_of(item), pay);
        update = std::move(update).append(&Bill::receipts, receipt);
      }
      co_return std::move(update);
    };
    return one_node(std::move(node));
  }
};

TEST_F(EffectNames, OfAKeyedOneInAPlainNodeAreUsedOnce) {
  expect_refused(one_node([this](const Bill& bill, Context& context) {
    auto update = unchanged<Bill>();
    for (const std::string& item : bill.items) {
      auto receipt = context.keyed_effect("pay", [&] { return call(item); });
      update = std::move(update).append(&Bill::receipts, receipt);
    }
    return update;
  }));
}

TEST_F(EffectNames, OfAKeyedOneInACoroutineAreUsedOnce) {
  expect_refused(charges([](const std::string&) { return "pay"; }));
}

TEST_F(EffectNames, OfAnUnkeyedOneInAPlainNodeAreUsedOnce) {
  expect_refused(one_node([this](const Bill& bill, Context& context) {
    for (const std::string& item : bill.items) {
      context.unkeyed_effect("pay", {}, [&] { return call(item); });
    }
    return unchanged<Bill>();
  }));
}

TEST_F(EffectNames, OfAnUnkeyedOneInACoroutineAreUsedOnce) {
  expect_refused(one_node([this](const Bill& bill, Context& context) -> Task<Update<Bill>> {
    for (const std::string& item : bill.items) {
      auto pay = [this, item]() -> Task<std::string> { co_return call(item); };
      EffectOptions options;
      co_await context.unkeyed_effect("pay", options, pay);
    }
    co_return unchanged<Bill>();
  }));
}

TEST_F(EffectNames, OfOnesOfBothClassesAreUsedOnce) {
  expect_refused(one_node([this](const Bill& bill, Context& context) {
    context.keyed_effect("pay", [&] { return call(bill.items[0]); });
    context.unkeyed_effect("pay", {}, [&] { return call(bill.items[1]); });
    return unchanged<Bill>();
  }));
}

TEST_F(EffectNames, OfOnesOnTheBlockingPoolAreUsedOnce) {
  expect_refused(one_node([this](const Bill& bill, Context& context) -> Task<Update<Bill>> {
    for (const std::string& item : bill.items) {
      auto pay = [this, &context, item]() -> Task<Result<std::string>> {
        std::function<Result<std::string>()> work = [this, item] { return call(item); };
        co_return co_await context.run_blocking(std::move(work));
      };
      co_await context.keyed_effect("pay", pay);
    }
    co_return unchanged<Bill>();
  }));
}

// The second effect starts while the first is still running.
TEST_F(EffectNames, AreUsedOnceAlsoSideBySide) {
  expect_refused(one_node([this](const Bill& bill, Context& context) -> Task<Update<Bill>> {
    auto first = [&]() -> Task<std::string> {
      call(bill.items[0]);
      co_await sleep_for(5ms);
      auto second = [&]() -> Task<std::string> { co_return call(bill.items[1]); };
      co_return co_await context.keyed_effect("pay", second);
    };
    co_await context.keyed_effect("pay", first);
    co_return unchanged<Bill>();
  }));
}

TEST_F(EffectNames, OfALoopThatNamesEachCallEachOnceWhereverTheProcessDies) {
  auto graph = charges([](const std::string& item) { return "pay/" + item; });
  EXPECT_EQ(run(graph).state["receipts"].as_array()->size(), 3u);
  EXPECT_THAT(calls, ElementsAre("chair", "desk", "lamp"));
  int commits = store.commits;
  for (int at = 1; at <= commits; ++at) {
    for (bool lands : {false, true}) {
      calls.clear();
      auto view = run_with_crash(graph, at, lands).value();
      EXPECT_EQ(view.row.status, RunStatus::completed) << view.row.error;
      EXPECT_EQ(view.state["receipts"].as_array()->size(), 3u);
      EXPECT_LE(calls.size(), 4u) << "one alone is under way when the process dies";
    }
  }
}

TEST_F(EffectNames, AreUsedAgainByTheNextAttempt) {
  auto graph = one_node(
      [this](const Bill& bill, Context& context) -> Result<Update<Bill>> {
        auto paid = context.keyed_effect("pay", [&] { return call(bill.items[0]); });
        context.unkeyed_effect("mail", {}, [&] { return call("mail"); });
        if (context.attempt() < 3) return error(ErrorCode::unavailable, "after both");
        return append(&Bill::receipts, paid);
      },
      {.attempts = 3});
  auto view = run(graph);
  EXPECT_EQ(view.row.status, RunStatus::completed) << view.row.error;
  EXPECT_THAT(calls, ElementsAre("chair", "mail"));
}

TEST_F(EffectNames, AreUsedAgainByAnotherVisit) {
  GraphBuilder<Bill> builder{"bill"};
  builder.one_run_per_thread();
  builder.node("charge", [this](const Bill& bill, Context& context) {
    const std::string& item = bill.items[bill.receipts.size()];
    return append(&Bill::receipts, context.keyed_effect("pay", [&] { return call(item); }));
  });
  auto is_paid = [](const Bill& bill) { return bill.receipts.size() == bill.items.size(); };
  builder.edge(start, "charge");
  builder.branch("charge", [is_paid](const Bill& bill) { return is_paid(bill) ? "end" : "charge"; },
                 {"charge", end});
  auto view = run(std::move(builder).build().value());
  EXPECT_EQ(view.row.status, RunStatus::completed) << view.row.error;
  EXPECT_THAT(calls, ElementsAre("chair", "desk", "lamp"));
}

struct CostNames : EffectNames {
  Graph<Bill> reserves(bool settles) {
    return one_node([this, settles](const Bill& bill, Context& context) -> Task<Update<Bill>> {
      for (const std::string& item : bill.items) {
        Cost most{10, 0};
        auto reserved = co_await context.reserve("search", most);
        std::move(reserved).value();
        call(item);
        if (settles) context.settle("search", Cost{4, 0});
      }
      co_return unchanged<Bill>();
    });
  }
};

TEST_F(CostNames, AreReservedAgainOnceTheyAreSettled) {
  auto view = run(reserves(true), Budget{100, std::nullopt});
  EXPECT_EQ(view.row.status, RunStatus::completed) << view.row.error;
  EXPECT_EQ(view.spending->spent.tokens, 12);
}

TEST_F(CostNames, AreNotReservedTwiceAtATime) {
  auto view = run(reserves(false), Budget{100, std::nullopt});
  EXPECT_EQ(view.row.error_code, "invalid");
  EXPECT_THAT(view.row.error,
              HasSubstr("The cost \"search\" of the node \"charge\" is reserved twice"));
  EXPECT_THAT(calls, ElementsAre("chair"));
  EXPECT_EQ(view.spending->reserved.tokens, 10) << "the first counts in full";
}

}  // namespace
}  // namespace belay
