// Tests keyed and unkeyed effects with a crash at every commit; the receiver counts the calls.

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tests/support/crashing_store_fixture.h"

namespace belay {
namespace {

using namespace std::chrono_literals;
using ::testing::ElementsAre;
using ::testing::HasSubstr;

struct Purchase {
  std::string item = "chair";
  std::string receipt{};
  int shipped = 0;
};

struct Effects : CrashingStoreFixture {
  std::vector<std::string> payments;  // idempotency keys that the receiver got
  int mails = 0;

  static Graph<Purchase> one_node(auto node, RetryPolicy retry = {}) {
    GraphBuilder<Purchase> graph{"order"};
    graph.one_run_per_thread();
    graph.node("act", node).retry(retry);
    graph.node("after", [](const Purchase&, Context&) { return add(&Purchase::shipped, 1); });
    graph.edge(start, "act").edge("act", "after").edge("after", end);
    return std::move(graph).build().value();
  }
  RunView run(const Graph<Purchase>& graph, RunOptions options = {}) {
    StartOptions start_options;
    start_options.run = options;
    auto runtime = process(graph);
    return block_on(loop, runtime->start(graph, Purchase{}, start_options)).value();
  }
  RunView run_with_crash(const Graph<Purchase>& graph, int commit, bool lands,
                         RunOptions options = {}) {
    return CrashingStoreFixture::run_with_crash(graph, commit, lands, options).value();
  }

  Graph<Purchase> pays() {
    return one_node([this](const Purchase&, Context& context) -> Task<Update<Purchase>> {
      auto pay = [this, &context]() -> Task<std::string> {
        co_await sleep_for(5ms);
        payments.push_back(context.idempotency_key("pay"));
        co_return "receipt " + std::to_string(payments.size());
      };
      auto receipt = co_await context.keyed_effect("pay", pay);
      co_await sleep_for(5ms);
      co_return set(&Purchase::receipt, receipt);
    });
  }
  Graph<Purchase> mails_with(EffectOptions options,
                             std::function<Result<std::optional<int>>()> probe = nullptr) {
    return one_node([this, options, probe](const Purchase&, Context& context) {
      auto sent = context.unkeyed_effect("smtp", options, [this] { return ++mails; }, probe);
      return set(&Purchase::receipt, sent ? "mail " + std::to_string(*sent) : "none");
    });
  }
};

TEST_F(Effects, AKeyedOneIsRecordedAndNotCalledAgain) {
  auto graph = pays();
  auto view = run(graph);
  EXPECT_EQ(view.state["receipt"], Value("receipt 1"));
  ASSERT_EQ(payments.size(), 1u);
  EXPECT_THAT(payments[0], HasSubstr(view.row.run.text() + "/"));
  auto rows = recorded(view);
  ASSERT_EQ(rows.size(), 1u);
  EXPECT_EQ(rows[0].status, EffectStatus::done);
  EXPECT_EQ(*json_in_envelope(rows[0].envelope), "\"receipt 1\"");
}

TEST_F(Effects, AKeyedOneRepeatsAfterACrashOnlyWithTheSameKeyAndOnlyUntilItIsRecorded) {
  auto graph = pays();
  run(graph);
  int commits = store.commits;
  EXPECT_EQ(commits, 4);  // input, the effect's result, act, after
  for (int at = 1; at <= commits; ++at) {
    for (bool lands : {false, true}) {
      payments.clear();
      auto view = run_with_crash(graph, at, lands);
      EXPECT_EQ(view.row.status, RunStatus::completed);
      ASSERT_FALSE(payments.empty());
      EXPECT_LE(payments.size(), 2u);
      EXPECT_EQ(payments.front(), payments.back());
      bool was_recorded = at > 2 || (at == 2 && lands) || at == 1;
      EXPECT_EQ(payments.size(), was_recorded ? 1u : 2u) << at << lands;
      EXPECT_EQ(view.state["receipt"], Value("receipt " + std::to_string(payments.size())));
    }
  }
}

TEST_F(Effects, AKeyedOneInAPlainNodeOutlivesTheNodesFailure) {
  auto graph = one_node(
      [this](const Purchase&, Context& context) -> Result<Update<Purchase>> {
        auto receipt = context.keyed_effect("pay", [this, &context] {
          payments.push_back(context.idempotency_key("pay"));
          return "receipt " + std::to_string(payments.size());
        });
        if (context.attempt() < 3) return error(ErrorCode::unavailable, "after the payment");
        return set(&Purchase::receipt, receipt);
      },
      {.attempts = 3});
  auto view = run(graph);
  EXPECT_EQ(view.row.status, RunStatus::completed);
  EXPECT_EQ(payments.size(), 1u);
  EXPECT_EQ(view.state["receipt"], Value("receipt 1"));
}

TEST_F(Effects, AnUnkeyedOneInACoroutineKeepsCountOfItsIntents) {
  auto graph = one_node([this](const Purchase&, Context& context) -> Task<Update<Purchase>> {
    auto send = [this]() -> Task<int> {
      co_await sleep_for(5ms);
      co_return ++mails;
    };
    EffectOptions options;
    co_await context.unkeyed_effect("smtp", options, send);
    co_return unchanged<Purchase>();
  });
  auto rows = recorded(run(graph));
  ASSERT_EQ(rows.size(), 1u);
  EXPECT_EQ(rows[0].status, EffectStatus::done);
  EXPECT_EQ(rows[0].attempt, 1);
}

TEST_F(Effects, AKeyedOneBeforeAnUnkeyedOneIsRecordedWithItsIntent) {
  auto graph = one_node([this](const Purchase&, Context& context) {
    auto receipt = context.keyed_effect("pay", [this, &context] {
      payments.push_back(context.idempotency_key("pay"));
      return std::string("paid");
    });
    auto sent = context.unkeyed_effect("smtp", {}, [this] { return ++mails; });
    return set(&Purchase::receipt, receipt + " " + std::to_string(*sent));
  });
  auto view = run(graph);
  EXPECT_EQ(view.state["receipt"], Value("paid 1"));
  EXPECT_EQ(payments.size(), 1u);
  EXPECT_EQ(recorded(view).size(), 2u);
  for (int at = 1; at <= 4; ++at) {
    payments.clear();
    run_with_crash(graph, at, true);
    EXPECT_EQ(payments.size(), 1u) << at;
  }
}

TEST_F(Effects, AnUnkeyedOneIsCommittedAsAnIntentBeforeItIsCalled) {
  auto graph = mails_with({});
  auto view = run(graph);
  EXPECT_EQ(view.state["receipt"], Value("mail 1"));
  EXPECT_EQ(store.commits, 4);  // input, the intent, act with its outcome, after
  EXPECT_EQ(recorded(view).at(0).status, EffectStatus::done);
}

TEST_F(Effects, AnUnkeyedOneIsNeverRepeatedSilentlyWhereverTheProcessDies) {
  auto graph = mails_with({});
  for (int at = 1; at <= 4; ++at) {
    for (bool lands : {false, true}) {
      mails = 0;
      auto view = run_with_crash(graph, at, lands);
      EXPECT_LE(mails, 1) << at << lands;
      // The intent is durable and the outcome is not: the effect is uncertain.
      bool unknown = (at == 2 && lands) || (at == 3 && !lands);
      EXPECT_EQ(view.row.status, unknown ? RunStatus::paused : RunStatus::completed) << at << lands;
      if (!unknown) continue;
      EXPECT_EQ(recorded(view).at(0).status, EffectStatus::uncertain);
      ASSERT_TRUE(view.approval);
      EXPECT_THAT(view.approval->question, HasSubstr("Did the effect \"smtp\" of \"act\" happen?"));
    }
  }
}

struct Uncertain : Effects {
  DecisionResult decide(const RunView& paused, const Graph<Purchase>& graph, bool happened) {
    auto runtime = process(graph);
    Decision decision;
    decision.choice = happened ? "happened" : "redo";
    decision.decided_by = "ana";
    return block_on(loop, runtime->decide(default_tenant(), paused.approval->interrupt, decision))
        .value();
  }
};

TEST_F(Uncertain, APersonSaysThatItHappened) {
  auto graph = mails_with({});
  auto paused = run_with_crash(graph, 3, false);
  ASSERT_EQ(mails, 1);
  auto answer = decide(paused, graph, true);
  EXPECT_EQ(answer.view.row.status, RunStatus::completed);
  EXPECT_EQ(mails, 1);
  EXPECT_EQ(recorded(answer.view).at(0).status, EffectStatus::done);
}

TEST_F(Uncertain, APersonSaysThatItDidNotAndItIsCalledAgain) {
  auto graph = mails_with({});
  auto paused = run_with_crash(graph, 2, true);
  ASSERT_EQ(mails, 0);
  auto answer = decide(paused, graph, false);
  EXPECT_EQ(answer.view.row.status, RunStatus::completed) << answer.view.row.error;
  EXPECT_EQ(mails, 1);
  EXPECT_EQ(answer.view.state["receipt"], Value("mail 1"));
}

TEST_F(Uncertain, RetryRepeatsIt) {
  auto view = run_with_crash(mails_with({.when_uncertain = WhenUncertain::retry}), 3, false);
  EXPECT_EQ(view.row.status, RunStatus::completed);
  EXPECT_EQ(mails, 2);
}

TEST_F(Uncertain, SkipGoesOnWithoutAResult) {
  auto view = run_with_crash(mails_with({.when_uncertain = WhenUncertain::skip}), 3, false);
  EXPECT_EQ(view.row.status, RunStatus::completed);
  EXPECT_EQ(view.state["receipt"], Value("none"));
  EXPECT_EQ(mails, 1);
  EXPECT_EQ(recorded(view).at(0).status, EffectStatus::skipped);
}

TEST_F(Uncertain, AProbeThatKnowsSettlesIt) {
  EffectOptions options{.when_uncertain = WhenUncertain::probe};
  auto happened =
      mails_with(options, []() -> Result<std::optional<int>> { return std::optional<int>(7); });
  EXPECT_EQ(run_with_crash(happened, 3, false).state["receipt"], Value("mail 7"));
  EXPECT_EQ(mails, 1);
  auto not_happened =
      mails_with(options, []() -> Result<std::optional<int>> { return std::optional<int>(); });
  EXPECT_EQ(run_with_crash(not_happened, 2, true).state["receipt"], Value("mail 2"));
}

TEST_F(Uncertain, AProbeThatCantTellAsksAPerson) {
  EffectOptions options{.when_uncertain = WhenUncertain::probe};
  auto graph = mails_with(options, []() -> Result<std::optional<int>> {
    return error(ErrorCode::unavailable, "The mail server is away.");
  });
  EXPECT_EQ(run_with_crash(graph, 3, false).row.status, RunStatus::paused);
}

// An effect whose first call ends with an unknown outcome.
struct CantTell : Effects {
  // Returns the graph with a plain function, and the one with a coroutine.
  std::vector<Graph<Purchase>> graphs(EffectOptions options, Probe<int> probe = nullptr) {
    auto plain = [this, options, probe](const Purchase&, Context& context) {
      auto send = [this] { return send_mail(); };
      auto sent = context.unkeyed_effect("smtp", options, send, probe);
      return set(&Purchase::receipt, sent ? "mail " + std::to_string(*sent) : "none");
    };
    auto waiting = [this, options, probe](const Purchase&,
                                          Context& context) -> Task<Update<Purchase>> {
      auto send = [this]() -> Task<Result<int>> {
        co_await sleep_for(1ms);
        co_return send_mail();
      };
      auto sent = co_await context.unkeyed_effect("smtp", options, send, probe);
      co_return set(&Purchase::receipt, sent ? "mail " + std::to_string(*sent) : "none");
    };
    RetryPolicy patient{.attempts = 2, .base = 1ms};
    return {one_node(plain, patient), one_node(waiting, patient)};
  }

  Result<int> send_mail() {
    if (++mails == 1) return error(ErrorCode::uncertain, "The line broke after DATA.");
    return mails;
  }

  // Runs the graph on a new thread.
  RunView run(const Graph<Purchase>& graph) {
    mails = 0;
    auto runtime = process(graph);
    StartOptions options;
    options.thread = ThreadId("t" + std::to_string(++threads));
    return block_on(loop, runtime->start(graph, Purchase{}, options)).value();
  }
  int threads = 0;
};

TEST_F(CantTell, AsksAPersonAtOnce) {
  for (const auto& graph : graphs({})) {
    auto view = run(graph);
    EXPECT_EQ(view.row.status, RunStatus::paused);
    ASSERT_TRUE(view.approval);
    EXPECT_THAT(view.approval->question, HasSubstr("smtp"));
    EXPECT_EQ(recorded(view).at(0).status, EffectStatus::uncertain);
    EXPECT_EQ(mails, 1);
  }
}

TEST_F(CantTell, IsSkippedWhereThatIsThePolicy) {
  for (const auto& graph : graphs({.when_uncertain = WhenUncertain::skip})) {
    auto view = run(graph);
    EXPECT_EQ(view.state["receipt"], Value("none"));
    EXPECT_EQ(recorded(view).at(0).status, EffectStatus::skipped);
    EXPECT_EQ(mails, 1);
  }
}

TEST_F(CantTell, IsDoneAgainByTheNextAttemptWhereThatIsThePolicy) {
  for (const auto& graph : graphs({.when_uncertain = WhenUncertain::retry})) {
    auto view = run(graph);
    EXPECT_EQ(view.state["receipt"], Value("mail 2"));
    EXPECT_EQ(view.row.retry_count, 1);
  }
}

TEST_F(CantTell, IsAskedOfTheOtherSide) {
  EffectOptions options{.when_uncertain = WhenUncertain::probe};
  std::optional<int> known;
  Probe<int> probe = [&known]() -> Result<std::optional<int>> { return known; };
  for (const auto& graph : graphs(options, probe)) {
    known = 7;
    EXPECT_EQ(run(graph).state["receipt"], Value("mail 7"));
    known.reset();
    EXPECT_EQ(run(graph).state["receipt"], Value("mail 2")) << "it had not happened";
  }
}

TEST_F(Uncertain, ACoroutinesEffectKeepsTheSameRules) {
  auto graph = one_node([this](const Purchase&, Context& context) -> Task<Update<Purchase>> {
    EffectOptions options;
    auto send = [this]() -> Task<Result<int>> {
      co_await sleep_for(1ms);
      co_return ++mails;
    };
    auto sent = co_await context.unkeyed_effect("smtp", options, send);
    co_return set(&Purchase::receipt, "mail " + std::to_string(*sent));
  });
  run(graph);
  int commits = store.commits;
  EXPECT_EQ(commits, 5);  // a coroutine commits the outcome separately
  for (int at = 1; at <= commits; ++at) {
    for (bool lands : {false, true}) {
      mails = 0;
      auto view = run_with_crash(graph, at, lands);
      EXPECT_LE(mails, 1) << at << lands;
      bool unknown = (at == 2 && lands) || (at == 3 && !lands);
      EXPECT_EQ(view.row.status, unknown ? RunStatus::paused : RunStatus::completed) << at << lands;
    }
  }
}

TEST_F(Effects, WithExitAnEffectWaitsForEveryEarlierCommit) {
  GraphBuilder<Purchase> builder{"order"};
  builder.one_run_per_thread();
  builder.node("first", [](const Purchase&, Context&) { return set(&Purchase::item, "table"); });
  builder.node("act", [this](const Purchase&, Context& context) {
    auto sent = context.unkeyed_effect("smtp", {}, [this] { return ++mails; });
    return set(&Purchase::receipt, std::to_string(*sent));
  });
  builder.edge(start, "first").edge("first", "act").edge("act", end);
  auto graph = std::move(builder).build().value();
  RunOptions options;
  options.durability = Durability::exit;
  auto view = run(graph, options);
  EXPECT_EQ(view.row.status, RunStatus::completed);
  // Input, the step of the first node with the intent, the end.
  EXPECT_EQ(store.commits, 3);
  for (int at = 1; at <= 3; ++at) {
    mails = 0;
    run_with_crash(graph, at, true, options);
    EXPECT_LE(mails, 1) << at;
  }
}

TEST_F(Effects, CancellingListsWhatHadBegunAsUncertain) {
  auto graph = one_node([](const Purchase&, Context& context) -> Task<Update<Purchase>> {
    EffectOptions options;
    auto slow = []() -> Task<Result<int>> {
      co_await sleep_for(1h);
      co_return 1;
    };
    co_await context.unkeyed_effect("slow", options, slow);
    co_return unchanged<Purchase>();
  });
  auto runtime = process(graph);
  StartOptions options;
  options.thread = ThreadId("t");
  Spawned spawned;
  loop.post([&] {
    spawned = spawn<Result<RunView>>(loop, runtime->start(graph, Purchase{}, options),
                                     [](Result<RunView>) {});
  });
  loop.run_until(clock.now() + 1min);
  auto view = block_on(loop, runtime->cancel(default_tenant(), options.thread, "ana")).value();
  EXPECT_EQ(view.row.status, RunStatus::cancelled);
  EXPECT_EQ(recorded(view).at(0).status, EffectStatus::uncertain);
}

}  // namespace
}  // namespace belay
