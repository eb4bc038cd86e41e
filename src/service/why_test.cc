// Each cause of a wait is named, and the run advances once the named thing is gone.

#include "service/why.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <list>

#include "driver/run_driver.h"
#include "load/declared_programs.h"
#include "service/json_decode.h"
#include "service/json_encode.h"
#include "service/local_service.h"
#include "service/thread_history.h"
#include "tests/support/crashing_store_fixture.h"
#include "tests/support/principals.h"

namespace belay {
namespace {

using namespace std::chrono_literals;
using ::testing::ElementsAre;
using ::testing::HasSubstr;

struct Job {
  std::vector<std::string> log{};
};

struct WhyService : CrashingStoreFixture {
  bool is_down = true;
  std::string last = "last";   // the name of the last node: another one is another version
  std::string declared_model;  // not empty: the graph declares it, and refuses another one
  std::unique_ptr<Runtime> runtime;
  std::unique_ptr<Service> service;
  std::list<Spawned> spawned;

  // Nodes: try, which fails while `is_down`; rest, a wait of an hour; stop, a breakpoint; last.
  Graph<Job> job_graph() {
    GraphBuilder<Job> graph{"job"};
    graph
        .node("try",
              [this](const Job&, Context&) -> Result<Update<Job>> {
                if (is_down) return error(ErrorCode::unavailable, "The server is down.");
                return append(&Job::log, "tried");
              })
        .retry({.attempts = 5, .base = 10s});
    graph.wait("rest", 1h);
    graph.node("stop", [](const Job&, Context&) { return append(&Job::log, "stopped"); })
        .interrupt_before();
    graph.node(last, [](const Job&, Context&) -> Task<Update<Job>> {
      co_await sleep_for(10s);
      co_return append(&Job::log, "ended");
    });
    graph.edge(start, "try").edge("try", "rest").edge("rest", "stop").edge("stop", last);
    graph.edge(last, end);
    if (!declared_model.empty()) {
      graph.material("model", declared_model)
          .on_changed_materials(MaterialChange::refuse, {"model"});
    }
    return std::move(graph).build().value();
  }

  void open(bool with_graph = true, bool works = true) {
    service.reset();
    runtime = process();
    Graph<Job> graph = job_graph();
    std::vector<std::shared_ptr<const GraphDefinition>> graphs;
    if (with_graph) {
      runtime->add(graph);
      graphs.push_back(graph.definition());
    }
    LocalServiceParts parts{store, store, *runtime, loop, clock, random, graphs, {}, {}};
    parts.concurrency = places;
    parts.works = works;
    service = make_local_service(std::move(parts));
  }
  void TearDown() override {
    spawned.clear();
    service.reset();
    runtime.reset();
  }

  void enqueue(const std::string& thread, StartRun wanted = {}) {
    wanted.agent = "job";
    wanted.thread = ThreadId(thread);
    wanted.input = Value::object({});
    wanted.queued = true;
    auto queued = block_on(loop, service->start(local_program, std::move(wanted)));
    ASSERT_TRUE(queued.ok()) << queued.error().message;
  }
  // A worker that runs until the test ends.
  void work() {
    spawned.push_back(
        spawn<Result<std::size_t>>(loop, runtime->run_worker({}), [](Result<std::size_t>) {}));
  }
  void pass(std::chrono::milliseconds time) { loop.run_until(clock.now() + time); }
  void resume(const std::string& thread) {
    spawned.push_back(spawn<Result<RunView>>(loop, service->resume(local_program, ThreadId(thread)),
                                             [](Result<RunView>) {}));
  }
  void pause_queue(bool paused) {
    QueueChange change;
    change.name = "default";
    change.paused = paused;
    ASSERT_TRUE(block_on(loop, service->change_queue(local_program, change)).ok());
  }
  static StartRun behind_others() {
    StartRun next;
    next.if_busy = BusyThread::enqueue;
    return next;
  }
  std::vector<RunRow> runs_of(const std::string& thread) {  // newest first
    RunPage page{.thread = ThreadId(thread)};
    return block_on(loop, service->runs(local_program, page)).value();
  }
  Value why_of(const std::string& thread, std::optional<RunId> run) {
    auto found = block_on(loop, service->why(local_program, ThreadId(thread), run));
    EXPECT_TRUE(found.ok());
    return found.ok() ? *found : Value();
  }
  Value document(const std::string& thread) { return why_of(thread, std::nullopt); }
  static std::vector<std::string> causes_in(const Value& document) {
    std::vector<std::string> causes;
    for (const Value& each : *document["chain"].as_array()) {
      causes.push_back(*each["cause"].as_string());
    }
    return causes;
  }
  std::vector<std::string> causes(const std::string& thread) { return causes_in(document(thread)); }
  std::string first_text(const std::string& thread) {
    return *document(thread)["chain"].as_array()->front()["text"].as_string();
  }
};

TEST_F(WhyService, FollowsARunFromItsQueueToItsEnd) {
  open();
  StartRun later;
  later.delay = 1min;
  enqueue("t", std::move(later));
  EXPECT_THAT(causes("t"), ElementsAre("delayed_start"));
  EXPECT_EQ(*instant_from(*(*document("t")["chain"].as_array())[0]["until"].as_string()),
            clock.now() + 1min);
  pass(2min);
  EXPECT_THAT(causes("t"), ElementsAre("next_poll"));
  work();
  pass(1s);
  EXPECT_THAT(causes("t"), ElementsAre("retry"));
  EXPECT_THAT(first_text("t"), HasSubstr("Attempt 2 of 5 of node \"try\""));
  EXPECT_THAT(first_text("t"), HasSubstr("The server is down."));
  is_down = false;
  pass(30s);
  EXPECT_THAT(causes("t"), ElementsAre("timer"));
  EXPECT_THAT(first_text("t"), HasSubstr("\"rest\""));
  pass(2h);
  EXPECT_THAT(causes("t"), ElementsAre("breakpoint"));
  resume("t");
  pass(1s);
  EXPECT_THAT(causes("t"), ElementsAre("node"));
  EXPECT_THAT(first_text("t"), HasSubstr("Node \"last\" is running"));
  pass(30s);
  EXPECT_THAT(causes("t"), ElementsAre("ended"));
}

TEST_F(WhyService, NamesEverythingThatKeepsADueRunFromAWorker) {
  is_down = false;
  places.per_user = 1;
  open(true, false);
  enqueue("first");
  enqueue("second");
  EXPECT_THAT(causes("first"), ElementsAre("no_worker"));
  pause_queue(true);
  EXPECT_THAT(causes("first"), ElementsAre("paused_queue", "no_worker"));
  open(true, true);
  EXPECT_THAT(causes("first"), ElementsAre("paused_queue"));
  work();
  pass(1min);
  EXPECT_THAT(causes("first"), ElementsAre("paused_queue")) << "a worker alone is not enough";
  pause_queue(false);
  pass(1min);
  EXPECT_THAT(causes("first"), ElementsAre("timer"));
}

TEST_F(WhyService, NamesALimitUntilAnotherRunHasEnded) {
  places.per_user = 1;
  open();
  enqueue("first");
  enqueue("second");
  EXPECT_THAT(causes("second"), ElementsAre("queue_place"));
  work();
  pass(1s);
  EXPECT_THAT(causes("first"), ElementsAre("retry")) << "it counts as running meanwhile";
  EXPECT_THAT(causes("second"), ElementsAre("limit"));
  EXPECT_THAT(first_text("second"), HasSubstr("user limit of 1 running run"));
  is_down = false;
  pass(1min);
  EXPECT_THAT(causes("second"), ElementsAre("timer"));
}

TEST_F(WhyService, ExplainsARunThatWaitsForAnEarlierOneByThat) {
  open();
  enqueue("t");
  enqueue("t", behind_others());
  std::vector<RunRow> runs = runs_of("t");
  Value found = why_of("t", runs.at(0).run);
  EXPECT_THAT(causes_in(found), ElementsAre("earlier_run", "next_poll"));
  EXPECT_EQ((*found["chain"].as_array())[1]["runId"], Value(runs.at(1).run.text()));
}

TEST_F(WhyService, NamesAProcessThatIsGone) {
  open();
  enqueue("t");
  work();
  pass(1s);
  spawned.clear();
  open();
  EXPECT_THAT(causes("t"), ElementsAre("lease"));
  is_down = false;
  work();
  pass(1min);
  EXPECT_THAT(causes("t"), ElementsAre("timer"));
}

TEST_F(WhyService, NamesTheCodeThatNoKnownProcessHas) {
  open();
  enqueue("t");
  open(false);
  EXPECT_THAT(causes("t"), ElementsAre("code_gone"));
  EXPECT_THAT(first_text("t"), HasSubstr("\"job\""));
  auto other = process();  // it might have the graph
  EXPECT_THAT(causes("t"), ElementsAre("next_poll"));
  other.reset();
  open();
  EXPECT_THAT(causes("t"), ElementsAre("next_poll"));
}

TEST_F(WhyService, ShowsARunThatNoLiveProcessCanContinueWithAStatusOfItsKind) {
  open();
  enqueue("t");
  work();
  pass(1s);
  spawned.clear();
  last = "final";
  open();
  auto stored = [&] {
    auto view = block_on(loop, service->status(local_program, ThreadId("t"), {}, {})).value();
    return run_document(view, nullptr);
  };
  Value gone = stored();
  EXPECT_EQ(gone["status"], Value("code_gone")) << to_json(gone);
  EXPECT_EQ(gone["storedStatus"], Value("running"));
  RunView decoded = run_view_from(gone).value();
  EXPECT_EQ(decoded.row.status, RunStatus::running);
  EXPECT_FALSE(decoded.code_gone.empty());
  auto listed = block_on(loop, service->thread(local_program, ThreadId("t"))).value();
  EXPECT_TRUE(listed.code_gone);
  Value thread = thread_document(listed);
  EXPECT_EQ(thread["status"], Value("code_gone"));
  EXPECT_EQ(thread["run"]["status"], Value("code_gone"));
  EXPECT_EQ(thread_from(thread).value().run->status, RunStatus::running);
  auto standing = block_on(loop, service->standing(local_program, {})).value();
  EXPECT_EQ(standing.code_gone.size(), 1u);
  EXPECT_TRUE(standing.orphaned.empty());
  auto other = process();  // it might have the graph
  EXPECT_EQ(stored()["status"], Value("running"));
  EXPECT_TRUE(block_on(loop, service->standing(local_program, {})).value().code_gone.empty());
  auto declaration = program_declaration(*kept, default_tenant(), other->session(),
                                         std::make_shared<GraphRegistry>());
  auto records = block_on(loop, std::move(declaration)).value();
  block_on(loop, save_records(*kept, default_tenant(), std::move(records))).value();
  EXPECT_EQ(stored()["status"], Value("code_gone")) << "it has declared that it has no graph";
  EXPECT_THAT(causes("t"), ::testing::Contains("code_gone"));
}

TEST_F(WhyService, NamesTheMaterialsThatTheGraphRefuses) {
  is_down = false;
  declared_model = "openai:small";
  open();
  enqueue("t");
  declared_model = "openai:large";
  open();
  EXPECT_THAT(causes("t"), ElementsAre("materials"));
  EXPECT_THAT(first_text("t"), HasSubstr("model"));
  auto resumed = block_on(loop, service->resume(local_program, ThreadId("t"), std::nullopt));
  ASSERT_FALSE(resumed.ok());
  EXPECT_THAT(resumed.error().message, HasSubstr("model"));
  declared_model = "openai:small";
  open();
  EXPECT_THAT(causes("t"), ElementsAre("next_poll"));
  work();
  pass(1min);
  HistoryPage page;
  page.thread = ThreadId("t");
  auto history = block_on(loop, service->history(local_program, std::move(page))).value();
  ASSERT_EQ(history.front().materials.size(), history.front().checkpoints.size());
  for (const Value& bill : history.front().materials) {
    EXPECT_EQ(bill["model"], Value("openai:small"));
  }
  Value document = history_document(history, 100);
  EXPECT_EQ(history_from(document).value().front().materials, history.front().materials);
}

TEST_F(WhyService, CountsTheRunsByTheirFirstCause) {
  open();
  enqueue("a");
  work();
  pass(1s);
  StartRun later;
  later.delay = 1h;
  enqueue("b", later);
  enqueue("c", later);
  auto queues = block_on(loop, service->queues(local_program, std::nullopt)).value();
  EXPECT_EQ(to_json(queues["waitCauses"]),
            R"([{"cause":"delayed_start","runs":2},{"cause":"retry","runs":1}])");
}

TEST_F(WhyService, OfAnUnknownThreadIsNotFound) {
  open();
  auto found = block_on(loop, service->why(local_program, ThreadId("no"), std::nullopt));
  ASSERT_FALSE(found.ok());
  EXPECT_EQ(found.error().code, ErrorCode::not_found);
}

TEST_F(WhyService, OfADelayedStartNamesWhatKeepsTheRunFromAWorkerThen) {
  is_down = false;
  open(true, false);
  StartRun later;
  later.delay = 1min;
  enqueue("t", std::move(later));
  pause_queue(true);
  EXPECT_THAT(causes("t"), ElementsAre("delayed_start", "paused_queue", "no_worker"));
  open();
  work();
  EXPECT_THAT(causes("t"), ElementsAre("delayed_start", "paused_queue"));
  pass(2min);
  EXPECT_THAT(causes("t"), ElementsAre("paused_queue")) << "its start time alone is not enough";
  pause_queue(false);
  pass(1min);
  EXPECT_THAT(causes("t"), ElementsAre("timer"));
}

TEST_F(WhyService, OfADelayedStartNamesTheCodeThatIsGone) {
  open();
  StartRun later;
  later.delay = 1min;
  enqueue("t", std::move(later));
  open(false);
  EXPECT_THAT(causes("t"), ElementsAre("delayed_start", "code_gone"));
}

TEST_F(WhyService, NamesEachEarlierRunOfTheThreadAndTheCausesOfTheOldest) {
  open();
  for (int i = 0; i < 3; ++i) enqueue("t", behind_others());
  std::vector<RunRow> runs = runs_of("t");
  Value found = why_of("t", runs.at(0).run);
  ASSERT_THAT(causes_in(found), ElementsAre("earlier_run", "next_poll", "earlier_run"));
  const Value::Array& chain = *std::as_const(found)["chain"].as_array();
  EXPECT_THAT(*chain[0]["text"].as_string(), HasSubstr(short_id(runs[2].run)));
  EXPECT_EQ(chain[1]["runId"], Value(runs[2].run.text()));
  EXPECT_THAT(*chain[2]["text"].as_string(), HasSubstr(short_id(runs[1].run)));
  ASSERT_TRUE(
      block_on(loop, service->cancel(local_program, ThreadId("t"), "ana", "", runs[2].run)).ok());
  EXPECT_THAT(causes_in(why_of("t", runs[0].run)), ElementsAre("earlier_run", "next_poll"));
}

TEST_F(WhyService, OfARunBehindOthersNamesOnceWhatKeepsBothFromAWorker) {
  open(true, false);
  enqueue("t");
  StartRun next = behind_others();
  next.delay = 1h;
  enqueue("t", std::move(next));
  pause_queue(true);
  EXPECT_THAT(causes_in(why_of("t", runs_of("t")[0].run)),
              ElementsAre("earlier_run", "paused_queue", "no_worker", "delayed_start"));
}

TEST_F(WhyService, NamesNoLimitThatIsReachedOnlyByTheEarlierRun) {
  places.per_user = 1;
  open();
  enqueue("t");
  enqueue("t", behind_others());
  work();
  pass(1s);
  EXPECT_THAT(causes_in(why_of("t", runs_of("t")[0].run)), ElementsAre("earlier_run", "retry"));
}

TEST_F(WhyService, CountsRunsThatTheGraphRefusesByTheirMaterials) {
  declared_model = "openai:small";
  open();
  enqueue("t");
  declared_model = "openai:large";
  open();
  auto queues = block_on(loop, service->queues(local_program, std::nullopt)).value();
  EXPECT_EQ(to_json(queues["waitCauses"]), R"([{"cause":"materials","runs":1}])");
}

}  // namespace
}  // namespace belay
