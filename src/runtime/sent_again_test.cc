// Tests starts and forks that are requested twice, concurrently or while their run is running: all
// callers get the same run.

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "store/forwarding_store.h"
#include "tests/support/runtime_fixture.h"

namespace belay {
namespace {

using namespace std::chrono_literals;
using ::testing::HasSubstr;

// Each commit takes a second, so that other callers read before it is applied.
class LateStore final : public ForwardingStore {
 public:
  using ForwardingStore::ForwardingStore;
  Task<Result<CommitOutcome>> commit(Commit commit) override {
    co_await sleep_for(1s);
    co_return co_await inner().commit(std::move(commit));
  }
};

struct SentAgain : RuntimeFixture {
  LateStore late{*store};
  std::unique_ptr<Runtime> one = over(late);
  std::unique_ptr<Runtime> other = over(late);

  std::unique_ptr<Runtime> over(Store& by) {
    RuntimeParts parts{by, loop, clock, random, model};
    parts.concurrency = places;
    auto opened = Runtime::open(std::move(parts)).value();
    opened->add(graph);
    return opened;
  }
  static StartOptions named(std::string thread = "t") {
    StartOptions options;
    options.thread = ThreadId(std::move(thread));
    options.run.timeout = 24h;
    return options;
  }
  static ForkOptions fork_of(std::string thread) {
    ForkOptions options;
    options.from = ThreadId(std::move(thread));
    options.thread = ThreadId("fork");
    return options;
  }

  struct Call {
    std::optional<Result<RunView>> ended;
    Spawned task;
  };
  std::unique_ptr<Call> begin(Task<Result<RunView>> task) {
    auto call = std::make_unique<Call>();
    call->task = spawn<Result<RunView>>(
        loop, std::move(task),
        [at = call.get()](Result<RunView> view) { at->ended.emplace(std::move(view)); });
    return call;
  }
  void pass(std::chrono::milliseconds time) { loop.run_until(clock.now() + time); }

  // Expects that both callers got the same run, and that one of them executed it.
  void expect_one_run(const Call& first, const Call& second, std::size_t runs = 1) {
    ASSERT_TRUE(first.ended && second.ended);
    ASSERT_TRUE(first.ended->ok()) << first.ended->error().message;
    ASSERT_TRUE(second.ended->ok()) << second.ended->error().message;
    EXPECT_EQ((*first.ended)->row.run, (*second.ended)->row.run);
    EXPECT_EQ(all_runs().size(), runs);
  }

  ConcurrencyLimits places{};
};

TEST_F(SentAgain, OfTwoEqualStartsAtTheSameInstantBothGetTheRun) {
  for (Runtime* by : {one.get(), other.get()}) {
    std::size_t asked = model.requests().size();
    StartOptions options = named(by == one.get() ? "here" : "elsewhere");
    auto first = begin(one->start(graph, Mail{.topic = "calm"}, options));
    auto second = begin(by->start(graph, Mail{.topic = "calm"}, options));
    loop.run();
    expect_one_run(*first, *second, by == one.get() ? 1 : 2);
    EXPECT_EQ(model.requests().size(), asked + 1);
  }
}

struct Parcel {
  std::string receipt{};
};

// Equal keys give equal ids of runs: the end of a start that lost must not release the run.
TEST_F(SentAgain, StartsWithOneKeyAtTheSameInstantExecuteTheRunOnce) {
  int sent = 0;
  GraphBuilder<Parcel> builder{"parcel"};
  builder.node("send", [&sent](const Parcel&, Context& context) -> Task<Result<Update<Parcel>>> {
    auto send = [&sent]() -> Task<Result<std::string>> {
      co_await sleep_for(5s);
      co_return "receipt " + std::to_string(++sent);
    };
    EffectOptions policy;
    auto receipt = co_await context.unkeyed_effect("send", policy, send);
    co_return set(&Parcel::receipt, receipt.value_or(""));
  });
  builder.edge(start, "send").edge("send", end);
  auto parcels = std::move(builder).build().value();
  one->add(parcels);
  StartOptions options = named("parcels");
  options.idempotency_key = "one";
  std::vector<std::unique_ptr<Call>> calls;
  for (int i = 0; i < 3; ++i) calls.push_back(begin(one->start(parcels, Parcel{}, options)));
  auto all_ended = [&calls] {
    return std::all_of(calls.begin(), calls.end(), [](const auto& each) { return each->ended; });
  };
  for (int i = 0; i < 100 && !all_ended(); ++i) pass(1s);
  ASSERT_TRUE(all_ended());
  EXPECT_EQ(sent, 1);
  for (const auto& call : calls) {
    ASSERT_TRUE(call->ended->ok()) << call->ended->error().message;
    EXPECT_EQ((*call->ended)->row.run, (*calls[0]->ended)->row.run);
  }
  EXPECT_EQ((*calls[0]->ended)->row.epoch, 1u) << "it was not claimed";
}

TEST_F(SentAgain, OfTwoEqualEnqueuesAtTheSameInstantBothGetTheRun) {
  auto first = begin(one->enqueue(graph, Mail{.topic = "calm"}, named(), Instant()));
  auto second = begin(other->enqueue(graph, Mail{.topic = "calm"}, named(), Instant()));
  loop.run();
  expect_one_run(*first, *second);
}

TEST_F(SentAgain, AStartFindsItsRunAtWorkHereAndElsewhere) {
  model.takes(20s);
  auto first = begin(one->start(graph, Mail{.topic = "calm"}, named()));
  pass(5s);
  for (Runtime* by : {one.get(), other.get()}) {
    auto again = block_on(loop, by->start(graph, Mail{.topic = "calm"}, named()));
    ASSERT_TRUE(again.ok()) << again.error().message;
    EXPECT_EQ(again->row.status, RunStatus::running);
    auto queued = block_on(loop, by->enqueue(graph, Mail{.topic = "calm"}, named(), Instant()));
    ASSERT_TRUE(queued.ok()) << queued.error().message;
    EXPECT_EQ(queued->row.run, again->row.run);
    auto another = block_on(loop, by->start(graph, Mail{.topic = "other"}, named()));
    EXPECT_EQ(another.error().code, ErrorCode::invalid);
  }
  loop.run();
  EXPECT_EQ(first->ended->value().row.status, RunStatus::completed);
  EXPECT_EQ(all_runs().size(), 1u);
}

TEST_F(SentAgain, AStartOfADeadProcessGoesOn) {
  model.takes(20s);
  auto first = begin(one->start(graph, Mail{.topic = "calm"}, named()));
  pass(5s);
  first.reset();
  one.reset();
  auto again = block_on(loop, other->start(graph, Mail{.topic = "calm"}, named())).value();
  EXPECT_EQ(again.row.status, RunStatus::completed);
}

TEST_F(SentAgain, AStartFindsItsRunThatHasNoPlaceNow) {
  places.per_key = 1;
  one = over(late);
  StartOptions options = named("first");
  options.concurrency_key = "key";
  model.takes(20s);
  auto first = begin(one->start(graph, Mail{.topic = "calm"}, options));
  pass(5s);
  options.thread = ThreadId("second");
  block_on(loop, one->enqueue(graph, Mail{.topic = "calm"}, options, Instant())).value();
  auto again = block_on(loop, one->start(graph, Mail{.topic = "calm"}, options));
  ASSERT_TRUE(again.ok()) << again.error().message;
  EXPECT_EQ(again->row.status, RunStatus::queued);
}

TEST_F(SentAgain, OfTwoEqualForksAtTheSameInstantBothGetTheRun) {
  start_mail("urgent", named()).value();
  for (bool queued : {false, true}) {
    ForkOptions options = fork_of("t");
    options.thread = ThreadId(queued ? "queued" : "driven");
    options.queued = queued;
    auto first = begin(one->fork(options));
    auto second = begin(other->fork(options));
    loop.run();
    expect_one_run(*first, *second, queued ? 3 : 2);
  }
}

TEST_F(SentAgain, AForkIsFoundAgainThoughItsOriginHasGoneOn) {
  auto paused = start_mail("urgent", named()).value();
  auto forked = block_on(loop, runtime->fork(fork_of("t"))).value();
  ASSERT_TRUE(decide(paused, approve()).ok());
  auto again = block_on(loop, runtime->fork(fork_of("t")));
  ASSERT_TRUE(again.ok()) << again.error().message;
  EXPECT_EQ(again->row.run, forked.row.run);
  EXPECT_EQ(again->row.status, RunStatus::paused);
  EXPECT_EQ(all_runs().size(), 2u);
}

TEST_F(SentAgain, AnotherForkUnderTheSameThreadIsRefused) {
  start_mail("urgent", named()).value();
  start_mail("urgent", named("unrelated")).value();
  block_on(loop, runtime->fork(fork_of("t"))).value();
  ForkOptions earlier = fork_of("t");
  earlier.seq = 1;
  ForkOptions edited = fork_of("t");
  edited.edits = Value::object({{"draft", "Another"}});
  ForkOptions copy = fork_of("t");
  copy.copy = true;
  ForkOptions of_no_fork = fork_of("t");
  of_no_fork.thread = ThreadId("unrelated");
  for (const ForkOptions& each : {earlier, edited, copy, fork_of("unrelated"), of_no_fork}) {
    auto refused = block_on(loop, runtime->fork(each));
    ASSERT_FALSE(refused.ok());
    EXPECT_EQ(refused.error().code, ErrorCode::invalid);
    EXPECT_THAT(refused.error().message, HasSubstr("not this fork"));
  }
  EXPECT_EQ(all_runs().size(), 3u);
}

}  // namespace
}  // namespace belay
