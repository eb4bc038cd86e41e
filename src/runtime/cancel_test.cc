// Tests cancels of waiting runs: a hundred times for each kind of wait, at random times, by the
// owner or by another process with the same store.

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "belay/check.h"
#include "tests/support/runtime_fixture.h"
#include "tests/support/slow_store.h"

namespace belay {
namespace {

using namespace std::chrono_literals;

constexpr int kTimesEach = 100;
// The required maximum time of a cancel by any process; a cancel by the owner takes no time.
constexpr auto kLongest = 2s;

struct Journey {
  std::string answer;
  int branches = 0;
};

using Builder = GraphBuilder<Journey>;

Graph<Journey> built(Builder builder) { return std::move(builder).build().value(); }

template <typename Function>
Graph<Journey> one_node(std::string name, Function function) {
  Builder builder{std::move(name)};
  builder.node("waits", std::move(function)).retry({.attempts = 20, .base = 500ms});
  builder.edge(start, "waits").edge("waits", end);
  return built(std::move(builder));
}

Task<Result<int>> an_hour() {
  co_await sleep_for(1h);
  co_return 1;
}

Task<Update<Journey>> sleeps(const Journey&, Context&) {
  co_await sleep_for(1h);
  co_return unchanged<Journey>();
}

Task<Update<Journey>> asks_the_model(const Journey&, Context& context) {
  ModelRequest request;
  request.messages = {Message{Role::user, "What is there?"}};
  auto reply = co_await context.model().generate(std::move(request));
  if (!reply.ok()) throw Failure(std::move(reply).error());
  co_return set(&Journey::answer, reply->text);
}

Task<Update<Journey>> acts_once(const Journey&, Context& context) {
  co_await context.keyed_effect("look", an_hour);
  co_return unchanged<Journey>();
}

Task<Update<Journey>> acts_at_most_once(const Journey&, Context& context) {
  EffectOptions options;
  co_await context.unkeyed_effect("send", options, an_hour);
  co_return unchanged<Journey>();
}

Task<Update<Journey>> spends(const Journey& journey, Context& context) {
  Cost most{10, 0};
  auto reserved = co_await context.reserve("search", most);
  if (!reserved.ok()) throw Failure(std::move(reserved).error());
  co_return co_await sleeps(journey, context);
}

Graph<Journey> asks_a_person() {
  Builder builder{"person"};
  builder.node("writes", [](const Journey&, Context&) { return set(&Journey::answer, "a draft"); });
  builder.approval("review", &Journey::answer, {.question = "Send it?"})
      .approved(end)
      .rejected(end);
  builder.edge(start, "writes").edge("writes", "review");
  return built(std::move(builder));
}

Graph<Journey> waits_in_a_child() {
  auto inner = one_node("inner", sleeps);
  Builder builder{"child"};
  builder.subgraph(
      "inside", inner, [](const Journey& journey) { return journey; },
      [](const Journey& journey) { return set(&Journey::answer, journey.answer); });
  builder.edge(start, "inside").edge("inside", end);
  return built(std::move(builder));
}

Graph<Journey> waits_in_branches() {
  Builder builder{"branches"};
  builder.node("left", sleeps);
  builder.node("middle", acts_once);
  builder.node("right", acts_at_most_once);
  for (std::string_view branch : {"left", "middle", "right"}) {
    builder.edge(start, branch).edge(branch, end);
  }
  return built(std::move(builder));
}

struct Cancels : RuntimeFixture {
  std::vector<Graph<Journey>> graphs{
      one_node("sleep", sleeps),    one_node("model", asks_the_model),
      one_node("once", acts_once),  one_node("at most once", acts_at_most_once),
      one_node("reserved", spends), asks_a_person(),
      waits_in_a_child(),           waits_in_branches()};
  std::unique_ptr<Runtime> own = runtime_of({});
  std::unique_ptr<Runtime> other = runtime_of({});

  std::unique_ptr<Runtime> runtime_of(ProcessLimits limits) {
    RuntimeParts parts{*store, loop, clock, random, model};
    parts.process_limits = limits;
    auto opened = Runtime::open(std::move(parts)).value();
    for (const auto& each : graphs) opened->add(each);
    return opened;
  }

  const Graph<Journey>& graph_named(std::string_view name) const {
    for (const auto& each : graphs) {
      if (each.name() == name) return each;
    }
    ADD_FAILURE() << name;
    return graphs.front();
  }

  StartOptions named(const std::string& thread) {
    StartOptions options;
    options.thread = ThreadId(thread);
    options.run.timeout = 24h;
    options.run.budget.tokens = 1'000'000;
    return options;
  }

  // Advances the clock by a random time of up to 3 s, in microseconds.
  void pass_some_time() {
    loop.run_until(clock.now() + std::chrono::microseconds(random.bits() % 3'000'000));
  }

  RunView view(const ThreadId& thread) {
    return block_on(loop, own->status(default_tenant(), thread)).value();
  }

  std::vector<EffectRow> effects(const RunId& run, EffectStatus status) {
    EffectFilter filter;
    filter.tenant = default_tenant();
    filter.run = run;
    filter.statuses = {status};
    std::function<Result<std::vector<EffectRow>>(Snapshot&)> reader = [filter](Snapshot& snapshot) {
      return snapshot.effects(filter);
    };
    return block_on(loop, read<std::vector<EffectRow>>(*store, std::move(reader))).value();
  }

  // Starts a run, lets it reach its wait, cancels it, and checks that no part of it continues.
  void cancel_one(const std::string& kind, int number) {
    ThreadId thread(kind + " " + std::to_string(number));
    SCOPED_TRACE(thread.text);
    std::optional<Result<RunView>> ended;
    Spawned running =
        spawn<Result<RunView>>(loop, own->start(graph_named(kind), Journey{}, named(thread.text)),
                               [&](Result<RunView> result) { ended = std::move(result); });
    loop.run_until(clock.now() + 1ms);
    pass_some_time();
    Instant asked = clock.now();
    Runtime& by = number % 2 == 0 ? *own : *other;
    auto cancelled = block_on(loop, by.cancel(default_tenant(), thread, "ana"));
    ASSERT_TRUE(cancelled.ok()) << cancelled.error().message;
    EXPECT_EQ(cancelled->row.status, RunStatus::cancelled);
    while (!ended && clock.now() < asked + kLongest) loop.run_until(clock.now() + 10ms);
    ASSERT_TRUE(ended) << "its process works on";
    std::uint64_t seq = view(thread).row.seq;
    EXPECT_EQ(seq, cancelled->row.seq);
    loop.run_until(clock.now() + 2h);
    RunView later = view(thread);
    EXPECT_EQ(later.row.seq, seq) << "something was committed after the cancel";
    EXPECT_EQ(later.row.status, RunStatus::cancelled);
    EXPECT_TRUE(later.row.session.is_null());
    EXPECT_FALSE(later.approval);
  }

  void cancel_many(const std::string& kind) {
    for (int i = 0; i < kTimesEach && !HasFatalFailure(); ++i) cancel_one(kind, i);
    auto checked = block_on(loop, check_store(*store, CheckScope{})).value();
    EXPECT_TRUE(checked.violations.empty()) << checked.violations.front().message;
    auto left = block_on(loop, own->orphaned_threads(default_tenant())).value();
    EXPECT_TRUE(left.empty());
  }
};

TEST_F(Cancels, StopANodeThatSleeps) { cancel_many("sleep"); }

TEST_F(Cancels, StopAModelThatHangs) {
  model.takes(1h);
  cancel_many("model");
}

TEST_F(Cancels, StopTheWaitForTheNextAttempt) {
  model.then_always([](const ModelRequest&) -> Result<std::string> {
    return error(ErrorCode::unavailable, "busy");
  });
  cancel_many("model");
}

TEST_F(Cancels, StopAnEffectThatMayBeRepeated) { cancel_many("once"); }

TEST_F(Cancels, StopAnEffectOfWhichNobodyKnowsTheOutcomeThen) { cancel_many("at most once"); }

// The intent is not part of the run that the cancel has read, and does not change the run's seq:
// the cancel is applied, and only its transaction can mark the effect.
TEST_F(Cancels, LeaveAnEffectUncertainThatStartsBetweenTheirReadAndTheirCommit) {
  int sent = 0;
  auto late = one_node("late", [&sent](const Journey&, Context& context) -> Task<Update<Journey>> {
    co_await sleep_for(1s);
    auto send = [&sent]() -> Task<Result<int>> {
      ++sent;
      co_await sleep_for(1h);
      co_return 1;
    };
    EffectOptions options;
    co_await context.unkeyed_effect("send", options, send);
    co_return unchanged<Journey>();
  });
  SlowStore slow{*store};
  RuntimeParts parts{slow, loop, clock, random, model};
  auto slower = Runtime::open(std::move(parts)).value();
  own->add(late);
  slower->add(late);
  std::optional<Result<RunView>> ended, cancelled;
  Spawned running =
      spawn<Result<RunView>>(loop, own->start(late, Journey{}, named("t")),
                             [&](Result<RunView> result) { ended = std::move(result); });
  loop.run_until(clock.now() + 500ms);
  const RunRow before = view(ThreadId("t")).row;
  slow.commits_take = 1s;
  slow.reads = 0;
  Spawned cancelling =
      spawn<Result<RunView>>(loop, slower->cancel(default_tenant(), ThreadId("t"), "ana"),
                             [&](Result<RunView> result) { cancelled = std::move(result); });
  loop.run_until(clock.now() + 700ms);
  ASSERT_FALSE(cancelled);
  EXPECT_EQ(slow.reads, 1) << "it has read the run";
  EXPECT_EQ(sent, 1);
  ASSERT_EQ(effects(before.run, EffectStatus::intended).size(), 1u);
  EXPECT_EQ(view(ThreadId("t")).row.seq, before.seq);
  loop.run_until(clock.now() + 3s);
  ASSERT_TRUE(cancelled && cancelled->ok());
  EXPECT_EQ((*cancelled)->row.status, RunStatus::cancelled);
  EXPECT_EQ((*cancelled)->row.seq, before.seq + 1);
  EXPECT_EQ(slow.reads, 2) << "it was applied to the run as it was read, at the first attempt";
  ASSERT_EQ((*cancelled)->uncertain.size(), 1u);
  EXPECT_EQ((*cancelled)->uncertain[0].name, "send");
  EXPECT_TRUE(ended) << "its process works on";
  loop.run_until(clock.now() + 2h);
  EXPECT_TRUE(effects(before.run, EffectStatus::intended).empty());
  EXPECT_EQ(effects(before.run, EffectStatus::uncertain).size(), 1u);
  EXPECT_EQ(sent, 1);
  auto checked = block_on(loop, check_store(*store, CheckScope{})).value();
  EXPECT_TRUE(checked.violations.empty()) << checked.violations.front().message;
}

TEST_F(Cancels, StopWhatHasReservedOfABudget) { cancel_many("reserved"); }

TEST_F(Cancels, CloseTheQuestionToAPerson) { cancel_many("person"); }

TEST_F(Cancels, StopAChildWithItsParent) { cancel_many("child"); }

TEST_F(Cancels, StopAllBranchesOfAStep) { cancel_many("branches"); }

TEST_F(Cancels, TakeARunOutOfTheQueueBeforeItsTime) {
  for (int i = 0; i < kTimesEach; ++i) {
    auto options = named("queued " + std::to_string(i));
    ThreadId thread = options.thread;
    block_on(loop, own->enqueue(graph_named("sleep"), Journey{}, options, clock.now() + 1h))
        .value();
    pass_some_time();
    Runtime& by = i % 2 == 0 ? *own : *other;
    auto cancelled = block_on(loop, by.cancel(default_tenant(), thread, "ana"));
    ASSERT_TRUE(cancelled.ok()) << cancelled.error().message;
    EXPECT_EQ(cancelled->row.status, RunStatus::cancelled);
  }
  loop.run_until(clock.now() + 2h);
  WorkerOptions until_idle;
  until_idle.until_idle = true;
  EXPECT_EQ(block_on(loop, own->run_worker(until_idle)).value(), 0u) << "none of them begins";
}

TEST_F(Cancels, StopTheWaitForAPlaceAmongRuns) {
  ProcessLimits limits;
  limits.per_user = 1;
  own = runtime_of(limits);
  Spawned holder = spawn<Result<RunView>>(
      loop, own->start(graph_named("sleep"), Journey{}, named("holds the place")),
      [](const Result<RunView>&) {});
  loop.run_until(clock.now() + 1ms);
  for (int i = 0; i < kTimesEach && !HasFatalFailure(); ++i) {
    auto options = named("waits " + std::to_string(i));
    ThreadId thread = options.thread;
    block_on(loop, own->enqueue(graph_named("sleep"), Journey{}, options, Instant())).value();
    pass_some_time();
    auto cancelled = block_on(loop, other->cancel(default_tenant(), thread, "ana"));
    ASSERT_TRUE(cancelled.ok()) << cancelled.error().message;
    EXPECT_EQ(view(thread).row.status, RunStatus::cancelled);
  }
}

}  // namespace
}  // namespace belay
