// Tests that unkeyed effects are not called while another process might claim the run.

#include <gtest/gtest.h>

#include "tests/support/crashing_store_fixture.h"

namespace belay {
namespace {

using namespace std::chrono_literals;

struct Parcels {
  int sent = 0;
};

struct EffectsInDoubt : CrashingStoreFixture {
  int calls = 0;
  std::unique_ptr<Runtime> runtime;
  std::optional<Result<RunView>> ended;
  Spawned spawned;

  Graph<Parcels> sends() {
    GraphBuilder<Parcels> builder{"parcels"};
    builder.node("send", [this](const Parcels&, Context& context) -> Task<Update<Parcels>> {
      auto mail = [this]() -> Task<int> { co_return ++calls; };
      EffectOptions options;
      co_await context.unkeyed_effect("smtp", options, mail);
      co_return add(&Parcels::sent, 1);
    });
    builder.edge(start, "send").edge("send", end);
    return std::move(builder).build().value();
  }
  void begin(const Graph<Parcels>& graph) {
    runtime = process(graph);
    StartOptions options;
    options.thread = ThreadId("t");
    loop.post([this, graph, options] {
      spawned = spawn<Result<RunView>>(loop, runtime->start(graph, Parcels{}, options),
                                       [this](Result<RunView> view) { ended = std::move(view); });
    });
  }
};

TEST_F(EffectsInDoubt, AreCalledOnceTheLeaseIsFreshAgain) {
  auto graph = sends();
  store.is_sure = false;
  begin(graph);
  loop.run_until(clock.now() + 1min);
  EXPECT_EQ(calls, 0);
  EXPECT_FALSE(ended);
  store.is_sure = true;
  loop.run_until(clock.now() + 1min);
  ASSERT_TRUE(ended && ended->ok());
  EXPECT_EQ((*ended)->row.status, RunStatus::completed);
  EXPECT_EQ(calls, 1);
}

TEST_F(EffectsInDoubt, AreNotCalledIfTheRunIsCancelledMeanwhile) {
  auto graph = sends();
  store.is_sure = false;
  begin(graph);
  loop.run_until(clock.now() + 1min);
  auto cancelled = block_on(loop, runtime->cancel(default_tenant(), ThreadId("t"), "ana"));
  ASSERT_TRUE(cancelled.ok());
  EXPECT_EQ(cancelled->uncertain.size(), 1u) << "its intent was committed";
  store.is_sure = true;
  loop.run_until(clock.now() + 1min);
  EXPECT_EQ(calls, 0);
}

}  // namespace
}  // namespace belay
