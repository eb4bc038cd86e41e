// Starts on a thread that is deleted while they read it, or before they commit.
#include <gtest/gtest.h>

#include "tests/support/runtime_fixture.h"
#include "tests/support/slow_store.h"

namespace belay {
namespace {

using namespace std::chrono_literals;

struct Stroll {
  int steps = 0;
};

Graph<Stroll> stroll_graph() {
  GraphBuilder<Stroll> builder{"stroll"};
  builder.node("step", [](const Stroll&, Context&) { return add(&Stroll::steps, 1); });
  builder.edge(start, "step").edge("step", end);
  return std::move(builder).build().value();
}

struct DeletedThreads : RuntimeFixture {
  SlowStore slow{*store};
  std::unique_ptr<Runtime> slow_runtime =
      Runtime::open(RuntimeParts{slow, loop, clock, random, model}).value();
  Graph<Stroll> stroll = stroll_graph();

  DeletedThreads() {
    runtime->add(stroll);
    slow_runtime->add(stroll);
    slow_runtime->add(graph);
  }

  static StartOptions on_thread(bool exists) {
    StartOptions options;
    options.thread = ThreadId("t");
    options.thread_exists = exists;
    return options;
  }
  void delete_run(const RunView& view) {
    Commit deletion;
    deletion.tenant = default_tenant();
    deletion.rows.prune.push_back({view.row.run});
    ASSERT_TRUE(block_on(loop, store->commit(std::move(deletion))).ok());
    ASSERT_TRUE(all_runs().empty());
  }
  // Starts another run on the thread, which is deleted 500 ms later.
  Result<RunView> start_while_deleted(bool exists) {
    RunView first = block_on(loop, runtime->start(stroll, Stroll{}, on_thread(false))).value();
    std::optional<Result<RunView>> started;
    Spawned task =
        spawn<Result<RunView>>(loop, slow_runtime->start(stroll, Stroll{}, on_thread(exists)),
                               [&started](Result<RunView> result) { started = std::move(result); });
    loop.run_until(clock.now() + 500ms);
    delete_run(first);
    loop.run();
    return *std::move(started);
  }
};

TEST_F(DeletedThreads, AreNotCreatedByAStartThatHasReadThem) {
  for (auto* takes : {&slow.reads_take, &slow.commits_take}) {
    slow.reads_take = slow.commits_take = 0ms;
    *takes = 1s;
    auto started = start_while_deleted(true);
    ASSERT_FALSE(started.ok());
    EXPECT_EQ(started.error().code, ErrorCode::not_found) << started.error().message;
    EXPECT_TRUE(all_runs().empty());
  }
}

TEST_F(DeletedThreads, AreCreatedByAStartThatNamesAThread) {
  slow.commits_take = 1s;
  auto started = start_while_deleted(false);
  ASSERT_TRUE(started.ok()) << started.error().message;
  EXPECT_EQ(started->row.ordinal, 0);
}

TEST_F(DeletedThreads, OfOneRunAreNotCreatedEither) {
  auto none = start_mail("calm", on_thread(true));
  ASSERT_FALSE(none.ok());
  EXPECT_EQ(none.error().code, ErrorCode::not_found);
  ASSERT_TRUE(start_mail("calm", on_thread(false)).ok());
  EXPECT_TRUE(start_mail("calm", on_thread(true)).ok()) << "it is the run of the thread";
}

TEST_F(DeletedThreads, AreNotCreatedByAChangeOfTheirState) {
  StartOptions options = on_thread(true);
  options.edit.emplace();
  options.edit->values = Value::object({{"steps", 7}});
  options.edit->held = true;
  auto changed = block_on(loop, runtime->start(stroll, Stroll{}, options));
  ASSERT_FALSE(changed.ok());
  EXPECT_EQ(changed.error().code, ErrorCode::not_found);
  EXPECT_TRUE(all_runs().empty());
}

TEST_F(DeletedThreads, AreNotThoseWhoseRunsTheStartItselfHasRolledBack) {
  GraphBuilder<Stroll> builder{"nap"};
  builder.node("rest", [](const Stroll&, Context&) -> Task<Update<Stroll>> {
    co_await sleep_for(1h);
    co_return add(&Stroll::steps, 1);
  });
  builder.edge(start, "rest").edge("rest", end);
  auto nap = std::move(builder).build().value();
  runtime->add(nap);
  slow_runtime->add(nap);
  std::optional<Result<RunView>> first;
  Spawned napping =
      spawn<Result<RunView>>(loop, runtime->start(nap, Stroll{}, on_thread(false)),
                             [&first](Result<RunView> result) { first = std::move(result); });
  loop.run_until(clock.now() + 1s);
  StartOptions options = on_thread(true);
  options.if_busy = BusyThread::rollback;
  auto second = block_on(loop, runtime->start(nap, Stroll{}, options));
  ASSERT_TRUE(second.ok()) << second.error().message;
  EXPECT_EQ(all_runs().size(), 1u);
}

}  // namespace
}  // namespace belay
