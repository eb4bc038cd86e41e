// Tests budgets of runs: never exceeded, with concurrent branches and crashes at any commit.
// Long on purpose: all tests use one model with prices.

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "belay/check.h"
#include "graph/call_record.h"
#include "tests/support/crashing_store_fixture.h"

namespace belay {
namespace {

using namespace std::chrono_literals;
using ::testing::HasSubstr;

struct Study {
  std::vector<std::string> found{};
  int refused = 0;
};

// A model that counts its calls, tokens and costs.
class PricedModel final : public Model {
 public:
  Task<Result<ModelReply>> generate(ModelRequest request) override {
    ++calls;
    Usage usage;
    usage.input_tokens = input_tokens_max(request) / 4;
    usage.output_tokens = std::min(output, request.max_output_tokens.value_or(output));
    // A call costs money even if its process dies before the reply.
    tokens += usage.input_tokens + usage.output_tokens;
    money += usage.input_tokens * 3 + usage.output_tokens * 15;
    co_await sleep_for(time);
    if (failure) co_return *failure;
    ModelReply reply;
    reply.text = "answer " + std::to_string(calls);
    if (tells_usage) reply.usage = usage;
    co_return std::move(reply);
  }
  std::int64_t input_tokens_max(const ModelRequest& request) const override {
    return has_tokens ? Model::input_tokens_max(request) : 0;
  }
  std::optional<ModelPrice> price(const ModelRequest&) const override {
    if (!tells_price) return std::nullopt;
    return ModelPrice{3'000'000, 15'000'000};
  }

  int calls = 0;
  std::int64_t tokens = 0;
  std::int64_t money = 0;
  std::int64_t output = 100;
  std::chrono::milliseconds time{10};
  bool tells_usage = true;
  bool tells_price = true;
  bool has_tokens = true;
  std::optional<Error> failure;
};

Task<Result<std::string>> look(Context& context, std::int64_t output) {
  ModelRequest request;
  Message message{Role::user, "What is new?"};
  request.messages.push_back(std::move(message));
  request.max_output_tokens = output;
  auto reply = co_await context.model().generate(std::move(request));
  if (!reply.ok()) co_return std::move(reply).error();
  co_return std::move(reply->text);
}

struct Budgets : CrashingStoreFixture {
  PricedModel priced;
  // Input of look(): 2 frames of 16 bytes, and 12 bytes of text.
  static constexpr std::int64_t input = 44;

  std::unique_ptr<Runtime> process_of(const Graph<Study>& graph) {
    auto runtime = Runtime::open(RuntimeParts{store, loop, clock, random, priced}).value();
    runtime->add(graph);
    return runtime;
  }
  static StartOptions with(Budget budget) {
    StartOptions options;
    options.run.budget = budget;
    return options;
  }
  Result<RunView> run(const Graph<Study>& graph, Budget budget) {
    auto runtime = process_of(graph);
    return block_on(loop, runtime->start(graph, Study{}, with(budget)));
  }
  static Graph<Study> looks(int times, std::int64_t output = 100) {
    GraphBuilder<Study> graph{"study"};
    graph.one_run_per_thread();
    graph
        .node("look",
              [times, output](const Study&, Context& context) -> Task<Update<Study>> {
                std::vector<std::string> found;
                for (int i = 0; i < times; ++i) {
                  found.push_back((co_await look(context, output)).value());
                }
                co_return set(&Study::found, std::move(found));
              })
        .retry({.attempts = 3});
    graph.edge(start, "look").edge("look", end);
    return std::move(graph).build().value();
  }
  // Branches that each call the model twice and record which call was refused.
  static Graph<Study> branches(int count) {
    GraphBuilder<Study> graph{"wide"};
    graph.one_run_per_thread();
    for (int i = 0; i < count; ++i) {
      std::string name = "look" + std::to_string(i);
      graph.node(name, [](const Study&, Context& context) -> Task<Update<Study>> {
        auto update = unchanged<Study>();
        for (int each = 0; each < 2; ++each) {
          auto found = co_await look(context, 100);
          if (!found.ok() && found.error().code != ErrorCode::exhausted) found.value();
          if (found.ok()) {
            update = std::move(update).append(&Study::found, *found);
          } else {
            update = std::move(update).add(&Study::refused, 1);
          }
        }
        co_return std::move(update);
      });
      graph.edge(start, name).edge(name, end);
    }
    return std::move(graph).build().value();
  }
  std::string violations(const Graph<Study>& graph) {
    CheckScope scope;
    scope.graphs = {graph.definition()};
    auto report = block_on(loop, check_store(store, std::move(scope))).value();
    std::string found;
    for (const Violation& each : report.violations) found += each.rule + " " + each.message + "\n";
    return found;
  }
};

TEST_F(Budgets, CountWhatCallsReallyCost) {
  auto graph = looks(2);
  auto view = run(graph, Budget{1'000, std::nullopt}).value();
  EXPECT_EQ(view.row.status, RunStatus::completed) << view.row.error;
  ASSERT_TRUE(view.spending);
  EXPECT_EQ(view.spending->spent.tokens, 2 * (input / 4 + 100));
  EXPECT_EQ(view.spending->spent.money, priced.money);
  EXPECT_EQ(view.spending->reserved, Cost{});
  EXPECT_EQ(store.commits, 4) << "input, two reservations, the node";
  EXPECT_EQ(violations(graph), "");
}

TEST_F(Budgets, AreNoMatterOfARunWithoutOne) {
  auto view = run(looks(2), Budget{}).value();
  EXPECT_FALSE(view.spending);
  EXPECT_EQ(store.commits, 2);
}

TEST_F(Budgets, RefuseWhatCouldExceedThem) {
  auto graph = looks(3);
  auto view = run(graph, Budget{300, std::nullopt}).value();
  EXPECT_EQ(view.row.status, RunStatus::failed);
  EXPECT_EQ(view.row.error_code, "exhausted");
  EXPECT_THAT(view.row.error, HasSubstr("of 300 remain"));
  EXPECT_THAT(view.row.error, HasSubstr("needs up to 144 tokens, but only 78"));
  EXPECT_THAT(view.row.error, HasSubstr("(222 spent, 0 reserved)"));
  EXPECT_EQ(view.row.retry_count, 1) << "one failure, and no other attempt";
  EXPECT_EQ(priced.calls, 2);
  EXPECT_EQ(violations(graph), "");
}

TEST_F(Budgets, OfMoneyCountPrices) {
  auto view = run(looks(3), Budget{std::nullopt, 4'500}).value();
  EXPECT_EQ(view.row.error_code, "exhausted");
  EXPECT_THAT(view.row.error, HasSubstr("money"));
  EXPECT_EQ(priced.calls, 2);
  EXPECT_LE(priced.money, 4'500);
}

TEST_F(Budgets, OfMoneyNeedAPrice) {
  priced.tells_price = false;
  auto view = run(looks(1), Budget{std::nullopt, 5'000}).value();
  EXPECT_EQ(view.row.error_code, "invalid");
  EXPECT_THAT(view.row.error, HasSubstr("its model has no price"));
  EXPECT_EQ(priced.calls, 0);
}

TEST_F(Budgets, TakeTheReservationWhereNobodyCounted) {
  priced.tells_usage = false;
  auto view = run(looks(2), Budget{1'000, std::nullopt}).value();
  EXPECT_EQ(view.spending->spent.tokens, 2 * (input + 100));
}

TEST_F(Budgets, TakeNothingForACallThatWasNotServed) {
  priced.failure = error(ErrorCode::unavailable, "It is away.");
  auto view = run(looks(1), Budget{200, std::nullopt}).value();
  EXPECT_EQ(view.row.error_code, "unavailable");
  EXPECT_EQ(priced.calls, 3);
  EXPECT_EQ(view.spending->spent, Cost{});
  priced.failure = error(ErrorCode::uncertain, "The line broke.");
  view = run(looks(1), Budget{200, std::nullopt}).value();
  EXPECT_EQ(view.spending->spent.tokens, input + 100) << "it may have been";
}

TEST_F(Budgets, TakeNothingForAModelThatHasNoTokens) {
  priced.has_tokens = false;
  auto view = run(looks(2), Budget{0, 0}).value();
  EXPECT_EQ(view.row.status, RunStatus::completed) << view.row.error;
  EXPECT_EQ(store.commits, 2);
  EXPECT_EQ(view.spending, Spending{});
}

TEST_F(Budgets, BelowZeroAreRefused) {
  EXPECT_EQ(run(looks(1), Budget{-1, std::nullopt}).error().code, ErrorCode::invalid);
}

TEST_F(Budgets, AreSharedByBranchesAndNeverExceeded) {
  auto graph = branches(5);
  for (std::int64_t tokens : {0, 143, 144, 300, 600, 1'000, 1'110, 5'000}) {
    priced.tokens = 0;
    auto view = run(graph, Budget{tokens, std::nullopt}).value();
    EXPECT_EQ(view.row.status, RunStatus::completed) << view.row.error;
    EXPECT_LE(priced.tokens, tokens);
    EXPECT_EQ(view.spending->spent.tokens, priced.tokens);
    int found = static_cast<int>(view.state["found"].as_array()->size());
    EXPECT_EQ(found + *view.state["refused"].as_int(), 10);
  }
  EXPECT_EQ(violations(graph), "");
}

TEST_F(Budgets, KeepWhatACallThatTookTooLongHadReserved) {
  GraphBuilder<Study> builder{"slow"};
  builder.one_run_per_thread();
  builder
      .node("look",
            [](const Study&, Context& context) -> Task<Update<Study>> {
              (co_await look(context, 100)).value();
              co_return unchanged<Study>();
            })
      .timeout(1s)
      .retry({.attempts = 5});
  builder.edge(start, "look").edge("look", end);
  auto graph = std::move(builder).build().value();
  priced.time = 1min;
  auto view = run(graph, Budget{300, std::nullopt}).value();
  EXPECT_EQ(view.row.error_code, "exhausted") << view.row.error;
  EXPECT_EQ(priced.calls, 2);
  EXPECT_EQ(view.spending->reserved.tokens, 2 * (input + 100));
  EXPECT_EQ(violations(graph), "");
}

TEST_F(Budgets, KeepWhatACancelledRunHadReserved) {
  auto graph = looks(1);
  priced.time = 1h;
  auto runtime = process_of(graph);
  auto options = with(Budget{300, std::nullopt});
  options.thread = ThreadId("t");
  Spawned spawned = spawn<Result<RunView>>(loop, runtime->start(graph, Study{}, options),
                                           [](const Result<RunView>&) {});
  loop.run_until(clock.now() + 1s);
  auto view = block_on(loop, runtime->cancel(default_tenant(), options.thread, "ana")).value();
  EXPECT_EQ(view.row.status, RunStatus::cancelled);
  EXPECT_EQ(view.spending->reserved.tokens, input + 100);
  EXPECT_EQ(violations(graph), "");
}

TEST_F(Budgets, AreSharedWithSubgraphsAndHoldInEveryDurabilityMode) {
  auto inner = looks(2);
  GraphBuilder<Study> builder{"outer"};
  builder.one_run_per_thread();
  builder.node("first", [](const Study&, Context& context) -> Task<Update<Study>> {
    auto found = co_await look(context, 100);
    co_return append(&Study::found, std::move(found).value());
  });
  builder.subgraph(
      "inside", inner, [](const Study&) { return Study{}; },
      [](const Study& study) { return append(&Study::found, study.found.back()); });
  builder.edge(start, "first").edge("first", "inside").edge("inside", end);
  auto graph = std::move(builder).build().value();
  for (Durability durability : {Durability::sync, Durability::async, Durability::exit}) {
    for (std::int64_t tokens : {300, 400}) {
      priced.calls = 0;
      auto runtime = process_of(graph);
      auto options = with(Budget{tokens, std::nullopt});
      options.run.durability = durability;
      auto view = block_on(loop, runtime->start(graph, Study{}, options)).value();
      EXPECT_EQ(view.row.error_code, tokens == 300 ? "exhausted" : "") << view.row.error;
      EXPECT_EQ(priced.calls, tokens == 300 ? 2 : 3);
      EXPECT_EQ(view.spending->spent.tokens, priced.calls * (input / 4 + 100));
    }
  }
  EXPECT_EQ(violations(graph), "");
}

TEST_F(Budgets, AreNeverExceededWhereverTheProcessDies) {
  auto graph = branches(3);
  for (std::int64_t tokens : {288, 500, 700, 2'000}) {
    int commits = 0;
    for (int at = 1; commits == 0 || at <= commits; ++at) {
      for (bool lands : {false, true}) {
        priced.tokens = 0;
        store.commits = 0;
        store.halt_at = at;
        store.lands = lands;
        auto options = with(Budget{tokens, std::nullopt});
        options.thread = ThreadId(random_uuid(random).text());
        auto first = process_of(graph);
        Spawned spawned = spawn<Result<RunView>>(loop, first->start(graph, Study{}, options),
                                                 [](const Result<RunView>&) {});
        loop.run_until(clock.now() + 1h);
        if (store.commits < at) commits = store.commits;
        store.halt_at = 0;
        spawned.reset();
        first.reset();
        auto second = process_of(graph);
        auto view = block_on(loop, second->start(graph, Study{}, options)).value();
        EXPECT_EQ(view.row.status, RunStatus::completed) << view.row.error;
        EXPECT_LE(priced.tokens, tokens) << at << lands;
        Spending spending = *view.spending;
        EXPECT_GE(spending.spent.tokens + spending.reserved.tokens, priced.tokens) << at << lands;
        EXPECT_LE(spending.spent.tokens + spending.reserved.tokens, tokens) << at << lands;
      }
    }
    EXPECT_GT(commits, 3);
  }
  EXPECT_EQ(violations(graph), "");
}

TEST_F(Budgets, OfAForkAreItsOwn) {
  auto graph = looks(2);
  auto runtime = process_of(graph);
  auto options = with(Budget{300, std::nullopt});
  options.thread = ThreadId("first");
  auto first = block_on(loop, runtime->start(graph, Study{}, options)).value();
  EXPECT_EQ(first.row.status, RunStatus::completed) << first.row.error;
  ForkOptions fork_options;
  fork_options.from = ThreadId("first");
  fork_options.seq = 1;
  auto fork = block_on(loop, runtime->fork(fork_options)).value();
  EXPECT_EQ(fork.row.status, RunStatus::completed) << fork.row.error;
  EXPECT_EQ(fork.spending->spent.tokens, first.spending->spent.tokens);
}

// Tools that a node calls, with their own costs.
struct Tools : Budgets {
  int searches = 0;

  Graph<Study> searching(int times, Cost most, std::optional<Cost> spent) {
    GraphBuilder<Study> graph{"tools"};
    graph.one_run_per_thread();
    auto node = [this, times, most, spent](const Study&, Context& context) -> Task<Update<Study>> {
      for (int i = 0; i < times; ++i) {
        std::string name = "search " + std::to_string(i);
        auto search = [this, &context, name, most, spent]() -> Task<Result<int>> {
          auto reserved = co_await context.reserve(name, most);
          if (!reserved.ok()) co_return std::move(reserved).error();
          ++searches;
          if (spent) context.settle(name, *spent);
          co_return 7;
        };
        co_await context.keyed_effect(name, search);
      }
      co_return unchanged<Study>();
    };
    graph.node("search", node);
    graph.edge(start, "search").edge("search", end);
    return std::move(graph).build().value();
  }
};

TEST_F(Tools, ReserveAndSettle) {
  auto graph = searching(3, Cost{0, 100}, Cost{0, 40});
  auto view = run(graph, Budget{std::nullopt, 180}).value();
  EXPECT_EQ(view.row.status, RunStatus::completed) << view.row.error;
  EXPECT_EQ(view.spending->spent.money, 120);
  EXPECT_EQ(violations(graph), "");
}

TEST_F(Tools, CountInFullWhatIsNeverSettled) {
  auto graph = searching(2, Cost{0, 100}, std::nullopt);
  auto view = run(graph, Budget{std::nullopt, 180}).value();
  EXPECT_EQ(view.row.error_code, "exhausted");
  EXPECT_EQ(searches, 1);
  EXPECT_EQ(view.spending->reserved.money, 100);
  EXPECT_EQ(violations(graph), "");
}

TEST_F(Tools, PayNothingForWhatIsOnRecord) {
  auto graph = searching(2, Cost{0, 100}, Cost{0, 40});
  store.halt_at = 5;  // input; for each of two searches a reservation and a result
  store.lands = true;
  auto options = with(Budget{std::nullopt, 180});
  options.thread = ThreadId("t");
  auto first = process_of(graph);
  Spawned spawned = spawn<Result<RunView>>(loop, first->start(graph, Study{}, options),
                                           [](const Result<RunView>&) {});
  loop.run_until(clock.now() + 1h);
  store.halt_at = 0;
  spawned.reset();
  first.reset();
  auto second = process_of(graph);
  auto view = block_on(loop, second->start(graph, Study{}, options)).value();
  EXPECT_EQ(view.row.status, RunStatus::completed) << view.row.error;
  EXPECT_EQ(searches, 2);
  EXPECT_LE(view.spending->spent.money + view.spending->reserved.money, 180);
  EXPECT_EQ(violations(graph), "");
}

TEST_F(Tools, OfAPlainFunctionSpendAtOnce) {
  GraphBuilder<Study> builder{"tools"};
  builder.one_run_per_thread();
  builder.node("search", [](const Study&, Context& context) -> Result<Update<Study>> {
    for (int i = 0; i < 3; ++i) {
      auto spent = context.spend("page", Cost{0, 60});
      if (!spent.ok()) return add(&Study::refused, 1);
    }
    return unchanged<Study>();
  });
  builder.edge(start, "search").edge("search", end);
  auto graph = std::move(builder).build().value();
  auto view = run(graph, Budget{std::nullopt, 150}).value();
  EXPECT_EQ(view.state["refused"], Value(1));
  EXPECT_EQ(view.spending->spent.money, 120);
  EXPECT_EQ(violations(graph), "");
}

}  // namespace
}  // namespace belay
