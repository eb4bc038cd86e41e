// Several runs of a thread on PostgreSQL: each starts from the state that the run before it has
// left, whichever of two processes starts it.

#include "belay/check.h"
#include "belay/runtime.h"
#include "belay/testing.h"
#include "tests/postgres/store_world.h"

namespace belay::postgres_tests {
namespace {

struct Talk {
  std::string question{};
  std::vector<std::string> said{};
  int turns = 0;
};

Graph<Talk> talk_graph() {
  GraphBuilder<Talk> graph{"talk"};
  graph.accumulate(&Talk::said).accumulate(&Talk::turns);
  graph.node("reply",
             [](const Talk& talk, Context&) { return append(&Talk::said, "re " + talk.question); });
  graph.approval("review", &Talk::question, {.question = "Good?"})
      .when([](const Talk& talk) { return talk.question == "ask"; })
      .approved(end)
      .rejected(end);
  graph.edge(start, "reply").edge("reply", "review");
  return std::move(graph).build().value();
}

class PostgresThreads : public StoreWorld {
 protected:
  struct Process {
    std::unique_ptr<Store> store;
    std::unique_ptr<Runtime> runtime;
  };
  Process process() {
    Process made;
    made.store = open(url());
    RuntimeParts parts{*made.store, *loop_, *system_, random_, model_};
    made.runtime = Runtime::open(std::move(parts)).value();
    made.runtime->add(graph_);
    return made;
  }
  RunView say(Process& by, std::string question, BusyThread if_busy = BusyThread::reject) {
    StartOptions options;
    options.thread = ThreadId("t");
    options.if_busy = if_busy;
    Talk talk;
    talk.question = std::move(question);
    talk.said = {"q " + talk.question};
    talk.turns = 1;
    auto view = block_on(*loop_, by.runtime->start(graph_, std::move(talk), std::move(options)));
    EXPECT_TRUE(view.ok()) << view.error().message;
    return view.ok() ? *view : RunView();
  }
  RunView status(Process& by, const RunId& run) {
    return block_on(*loop_, by.runtime->status(default_tenant(), ThreadId("t"), run)).value();
  }
  void work(Process& by) {
    WorkerOptions options;
    options.until_idle = true;
    ASSERT_TRUE(block_on(*loop_, by.runtime->run_worker(std::move(options))).ok());
  }
  void expect_sound(Process& by) {
    CheckScope scope;
    scope.graphs = {graph_.definition()};
    CheckReport report = block_on(*loop_, check_store(*by.store, std::move(scope))).value();
    for (const Violation& each : report.violations) ADD_FAILURE() << each.rule << each.message;
  }

  std::unique_ptr<EventLoop> loop_ = make_event_loop();
  std::unique_ptr<Clock> system_ = system_clock();
  testing::ScriptedModel model_;
  Graph<Talk> graph_ = talk_graph();
};

TEST_F(PostgresThreads, GoOnInAnyProcess) {
  Process one = process();
  Process other = process();
  say(one, "a");
  say(other, "b");
  RunView third = say(one, "c");
  EXPECT_EQ(third.state["turns"], Value(3));
  EXPECT_EQ(to_json(third.state["said"]), R"(["q a","re a","q b","re b","q c","re c"])");
  expect_sound(other);
}

TEST_F(PostgresThreads, EnqueuedRunsWaitAndStartInTheirOrder) {
  Process one = process();
  Process other = process();
  RunView paused = say(one, "ask");
  RunView second = say(other, "b", BusyThread::enqueue);
  RunView third = say(one, "c", BusyThread::enqueue);
  work(other);
  EXPECT_EQ(status(one, second.row.run).row.status, RunStatus::queued);
  Decision decision;
  decision.approved = true;
  decision.decided_by = "ana";
  ASSERT_TRUE(block_on(*loop_, other.runtime->decide(default_tenant(), paused.approval->interrupt,
                                                     std::move(decision)))
                  .ok());
  work(other);
  EXPECT_EQ(status(one, third.row.run).state["turns"], Value(3));
  expect_sound(one);
}

TEST_F(PostgresThreads, RolledBackRunsLeaveNothing) {
  Process one = process();
  say(one, "a");
  RunView paused = say(one, "ask");
  RunView third = say(one, "c", BusyThread::rollback);
  EXPECT_EQ(to_json(third.state["said"]), R"(["q a","re a","q c","re c"])");
  auto gone =
      block_on(*loop_, one.runtime->status(default_tenant(), ThreadId("t"), paused.row.run));
  EXPECT_EQ(gone.error().code, ErrorCode::not_found);
  expect_sound(one);
}

}  // namespace
}  // namespace belay::postgres_tests
