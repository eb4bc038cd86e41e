#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tests/support/runtime_fixture.h"

namespace belay {
namespace {

using namespace std::chrono_literals;
using ::testing::HasSubstr;

// Two processes with one store.
struct Ownership : RuntimeFixture {
  std::unique_ptr<Runtime> other = process();

  // Starts a run whose model takes `time`, and lets it run for a second.
  Spawned begin(std::chrono::milliseconds time, std::string thread) {
    model.takes(time);
    StartOptions options;
    options.thread = ThreadId(thread);
    options.run.timeout = 24h;
    auto running =
        spawn<Result<RunView>>(loop, runtime->start(graph, Mail{.topic = "calm"}, options),
                               [this](Result<RunView> view) { first = std::move(view); });
    loop.run_until(clock.now() + 1s);
    return running;
  }
  Result<RunView> resume(Runtime& by, std::string thread) {
    return block_on(loop, by.resume(default_tenant(), ThreadId(thread)));
  }

  std::optional<Result<RunView>> first;
};

TEST_F(Ownership, ALivingProcessKeepsItsRun) {
  auto running = begin(20s, "t");
  auto refused = resume(*other, "t");
  EXPECT_EQ(refused.error().code, ErrorCode::conflict);
  EXPECT_THAT(refused.error().message, HasSubstr("another live process"));
  EXPECT_TRUE(block_on(loop, other->orphaned_threads(default_tenant()))->empty());
  loop.run();
  EXPECT_EQ(first->value().row.status, RunStatus::completed);
}

TEST_F(Ownership, OneProcessDoesNotWorkTwiceOnOneRun) {
  auto running = begin(20s, "t");
  EXPECT_EQ(resume(*runtime, "t").error().code, ErrorCode::conflict);
}

TEST_F(Ownership, ADeadProcessesRunIsTakenOverAtOnce) {
  auto running = begin(20s, "t");
  running.reset();
  runtime.reset();
  EXPECT_THAT(*block_on(loop, other->orphaned_threads(default_tenant())),
              ::testing::ElementsAre(ThreadId("t")));
  auto view = resume(*other, "t").value();
  EXPECT_EQ(view.row.status, RunStatus::completed);
  EXPECT_EQ(view.row.epoch, 2u);
  EXPECT_EQ(view.row.seq, 4u);  // input, claim, write, send
}

TEST_F(Ownership, ARetryThatWaitsSurvivesTheProcess) {
  model.fails(error(ErrorCode::unavailable, "busy"));
  auto running = begin(0ms, "t");
  running.reset();
  runtime.reset();
  auto taken = clock.now();
  auto view = resume(*other, "t").value();
  EXPECT_EQ(view.row.status, RunStatus::completed);
  EXPECT_EQ(view.row.retry_count, 1);
  EXPECT_GE(clock.now() - taken, 600ms);  // the backoff is at least 1.6 s, of which 1 s had passed
  EXPECT_EQ(model.requests().size(), 2u);
}

TEST_F(Ownership, ACancelStopsTheNodeOfThisProcessAtOnce) {
  auto running = begin(20s, "t");
  auto cancelled = block_on(loop, runtime->cancel(default_tenant(), ThreadId("t"), "ana"));
  EXPECT_EQ(cancelled->row.status, RunStatus::cancelled);
  Instant stopped = clock.now();
  loop.run();
  EXPECT_EQ(first->value().row.status, RunStatus::cancelled);
  EXPECT_EQ(clock.now(), stopped);
}

TEST_F(Ownership, ACancelByAnotherProcessStopsTheNodeWithinTwoSeconds) {
  auto running = begin(20s, "t");
  Instant asked = clock.now();
  block_on(loop, other->cancel(default_tenant(), ThreadId("t"), "ana")).value();
  loop.run();
  EXPECT_EQ(first->value().row.status, RunStatus::cancelled);
  EXPECT_LE(clock.now() - asked, 2s);
}

TEST_F(Ownership, CancellingAgainChangesNothingAndAnEndedRunIsNotCancelled) {
  start_mail("calm", StartOptions{.thread = ThreadId("done")}).value();
  auto late = block_on(loop, runtime->cancel(default_tenant(), ThreadId("done"), "ana"));
  EXPECT_EQ(late.error().code, ErrorCode::conflict);
  start_mail("urgent", StartOptions{.thread = ThreadId("p")}).value();
  auto once = block_on(loop, runtime->cancel(default_tenant(), ThreadId("p"), "ana")).value();
  auto twice = block_on(loop, runtime->cancel(default_tenant(), ThreadId("p"), "ben")).value();
  EXPECT_EQ(once.row, twice.row);
}

TEST_F(Ownership, APausedRunBelongsToNobody) {
  auto paused = start_mail("urgent").value();
  EXPECT_TRUE(paused.row.session.is_null());
  runtime = std::move(other);
  auto answer = decide(paused, approve()).value();
  EXPECT_EQ(answer.kind, DecisionResult::Kind::accepted);
}

}  // namespace
}  // namespace belay
