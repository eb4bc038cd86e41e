// Long on purpose: all readers of rows, with one fixture.

// Tests rows beyond a full page: no reader that recovers, decides, claims, counts or delivers may
// treat one page as all rows.

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "belay/check.h"
#include "belay/limits.h"
#include "graph/call_record.h"
#include "store/forwarding_snapshot.h"
#include "tests/support/crashing_store_fixture.h"

namespace belay {
namespace {

using namespace std::chrono_literals;
using ::testing::HasSubstr;
using ::testing::IsEmpty;

struct Batch {
  std::vector<std::string> done{};
  int sent = 0;
};

// More rows than any single read requests.
constexpr std::size_t many_rows = 100'001;

struct Pages : CrashingStoreFixture {
  void TestBody() override {}

  int mails = 0;
  std::vector<std::unique_ptr<Runtime>> dead;

  // Waits for an hour, then sends one mail.
  Graph<Batch> mail_graph() {
    GraphBuilder<Batch> graph{"mails"};
    graph.node("wait", [](const Batch&, Context&) -> Task<Update<Batch>> {
      co_await sleep_for(1h);
      co_return append(&Batch::done, "wait");
    });
    graph.node("mail", [this](const Batch&, Context& context) -> Task<Update<Batch>> {
      auto send = [this]() -> Task<Result<int>> {
        ++mails;
        co_await sleep_for(1h);
        co_return 1;
      };
      EffectOptions options;
      auto sent = co_await context.unkeyed_effect("smtp", std::move(options), send);
      co_return add(&Batch::sent, sent.value_or(0));
    });
    graph.edge(start, "wait").edge("wait", "mail").edge("mail", end);
    return std::move(graph).build().value();
  }

  static StartOptions named(const std::string& thread) {
    StartOptions options;
    options.thread = ThreadId(thread);
    options.run.timeout = 1000h;
    return options;
  }
  // Starts a run in its own process, which lives until it is killed.
  template <typename State>
  Spawned begin(Runtime& runtime, const Graph<State>& graph, StartOptions options) {
    return spawn<Result<RunView>>(loop, runtime.start(graph, State{}, std::move(options)),
                                  [](const Result<RunView>&) {});
  }
  void pass(std::chrono::microseconds time) { loop.run_until(clock.now() + time); }
  RunView view(Runtime& runtime, const std::string& thread) {
    return block_on(loop, runtime.status(default_tenant(), ThreadId(thread))).value();
  }

  // Adds journal rows as if earlier tasks of the run had written them.
  void fill_journal(const RunRow& row, const std::function<void(EffectRow&, std::size_t)>& make) {
    Commit commit;
    commit.tenant = row.tenant;
    commit.run_guard = RunGuard{row.epoch, row.seq, row.run};
    for (std::size_t i = 0; i < many_rows; ++i) {
      EffectRow effect;
      effect.run = row.run;
      effect.task = TaskId(derived_uuid("task " + std::to_string(i)));
      effect.name = "pay";
      effect.node = "wait";
      effect.status = EffectStatus::done;
      effect.envelope = json_envelope("1");
      effect.created_at = effect.updated_at = clock.now();
      make(effect, i);
      commit.rows.effects.push_back(std::move(effect));
    }
    ASSERT_EQ(block_on(loop, kept->commit(std::move(commit))).value(), CommitOutcome::applied);
  }
};

TEST_F(Pages, AnEffectBehindManyOthersIsAskedAboutAndNotRepeatedSilently) {
  for (bool has_budget : {false, true}) {
    SCOPED_TRACE(has_budget);
    Pages world;
    auto graph = world.mail_graph();
    StartOptions options = named("t");
    if (has_budget) options.run.budget.tokens = 1'000'000;
    if (!has_budget) options.run.durability = Durability::exit;
    auto first = world.process(graph);
    Spawned run = world.begin(*first, graph, options);
    world.pass(1s);
    world.fill_journal(world.view(*first, "t").row, [](EffectRow&, std::size_t) {});
    world.pass(90min);
    ASSERT_EQ(world.mails, 1) << "it is being sent";
    run.reset();
    first.reset();
    auto second = world.process(graph);
    auto view = block_on(world.loop, second->resume(default_tenant(), ThreadId("t"))).value();
    EXPECT_EQ(view.row.status, RunStatus::paused);
    ASSERT_EQ(view.approvals.size(), 1u);
    EXPECT_THAT(view.approvals[0].question, HasSubstr("smtp"));
    EXPECT_EQ(world.mails, 1);
  }
}

TEST_F(Pages, ABudgetCountsEachCallHoweverManyThereAre) {
  auto graph = mail_graph();
  StartOptions options = named("t");
  options.run.budget.tokens = 2'000'000;
  auto first = process(graph);
  Spawned run = begin(*first, graph, options);
  pass(1s);
  CallRecord record;
  record.cost = Cost{7, 0};
  std::string envelope = envelope_of(record).value();
  fill_journal(view(*first, "t").row, [&](EffectRow& effect, std::size_t) {
    effect.name = "cost/1/call/1";
    effect.envelope = envelope;
  });
  auto shown = view(*first, "t");
  ASSERT_TRUE(shown.spending);
  EXPECT_EQ(shown.spending->spent.tokens, static_cast<std::int64_t>(7 * many_rows));
}

// A run with more open approvals than fit in a page.
struct ManyQuestions : Pages {
  static constexpr int count = static_cast<int>(limits::page_rows_max) + 100;

  Graph<Batch> asking_graph() {
    GraphBuilder<Batch> graph{"asking"};
    graph
        .node("split",
              [](const Batch&, Context&) {
                auto update = unchanged<Batch>();
                for (int i = 0; i < count; ++i) update = std::move(update).send("ask", i);
                return update;
              })
        .destinations({"ask"});
    graph.node("ask", [](const Batch&, Context& context) {
      InterruptRequest question;
      question.name = "go on";
      question.text = "Go on?";
      question.payload = Value(context.input<int>());
      question.expires = context.input<int>() == 0 ? 1h : 100h;
      auto answer = context.interrupt(std::move(question));
      return append(&Batch::done, answer.approved ? "yes" : "no");
    });
    graph.edge(start, "split").edge("ask", end);
    return std::move(graph).build().value();
  }
  // The oldest approval is the last.
  std::vector<ApprovalRow> open_approvals() {
    std::function<Result<std::vector<ApprovalRow>>(Snapshot&)> reader = [](Snapshot& view) {
      ApprovalFilter filter;
      filter.tenant = default_tenant();
      filter.only_open = true;
      filter.limit = 10 * limits::page_rows_max;
      return view.approvals(filter);
    };
    return block_on(loop, read<std::vector<ApprovalRow>>(*kept, std::move(reader))).value();
  }
  std::string violations(const Graph<Batch>& graph) {
    CheckScope scope;
    scope.graphs = {graph.definition()};
    std::string found;
    for (const Violation& each : block_on(loop, check_store(*kept, scope)).value().violations) {
      found += each.rule + " " + each.message + "\n";
    }
    return found;
  }
};

TEST_F(ManyQuestions, EachIsDecidedTheOldestToo) {
  auto graph = asking_graph();
  auto runtime = process(graph);
  block_on(loop, runtime->start(graph, Batch{}, named("t"))).value();
  auto open = open_approvals();
  ASSERT_EQ(open.size(), static_cast<std::size_t>(count));
  for (const ApprovalRow* one : {&open.back(), &open[open.size() / 2], &open.front()}) {
    Decision decision;
    decision.approved = true;
    decision.decided_by = "ana";
    auto answer = block_on(loop, runtime->decide(default_tenant(), one->interrupt, decision));
    EXPECT_EQ(answer.value().kind, DecisionResult::Kind::accepted);
  }
  EXPECT_EQ(open_approvals().size(), static_cast<std::size_t>(count - 3));
  EXPECT_EQ(violations(graph), "");
}

TEST_F(ManyQuestions, TheOldestExpiresAtItsTimeWhetherACommandOrAWorkerLooks) {
  for (bool has_worker : {false, true}) {
    SCOPED_TRACE(has_worker);
    ManyQuestions world;
    auto graph = world.asking_graph();
    auto runtime = world.process(graph);
    block_on(world.loop, runtime->start(graph, Batch{}, named("t"))).value();
    world.pass(2h);
    if (has_worker) {
      Spawned working = spawn<Result<std::size_t>>(world.loop, runtime->run_worker(WorkerOptions{}),
                                                   [](const Result<std::size_t>&) {});
      world.pass(10s);
    } else {
      block_on(world.loop, runtime->process_due(default_tenant())).value().total();
    }
    EXPECT_EQ(world.open_approvals().size(), static_cast<std::size_t>(count - 1));
    RunRow row = world.view(*runtime, "t").row;
    EXPECT_EQ(row.status, RunStatus::paused);
    EXPECT_GT(row.due_at, world.clock.now()) << "it waits for those that are left";
    EXPECT_EQ(world.violations(graph), "");
  }
}

// Counts the reads of tasks: each load of a run has at least one.
class TaskReadsStore final : public ForwardingStore {
 public:
  explicit TaskReadsStore(Store& inner) : ForwardingStore(inner) {}
  Task<Result<Done>> read(Reader reader) override {
    Reader counted = [this, reader = std::move(reader)](Snapshot& view) {
      Counting counting(view, reads);
      return reader(counting);
    };
    return inner().read(std::move(counted));
  }

  std::size_t reads = 0;

 private:
  class Counting final : public ForwardingSnapshot {
   public:
    Counting(Snapshot& inner, std::size_t& reads) : ForwardingSnapshot(inner), reads_(reads) {}
    Result<std::vector<TaskRow>> tasks(const TaskFilter& filter) override {
      ++reads_;
      return inner().tasks(filter);
    }

   private:
    std::size_t& reads_;
  };
};

// Quadratic before: the run was loaded, committed and paused again for each approval.
TEST_F(ManyQuestions, ThatAreOverdueTogetherAreExpiredWithFewLoadsOfTheirRun) {
  for (bool has_worker : {false, true}) {
    SCOPED_TRACE(has_worker);
    ManyQuestions world;
    TaskReadsStore counting(*world.kept);
    auto graph = world.asking_graph();
    RuntimeParts parts{counting, world.loop, world.clock, world.random, world.model};
    auto runtime = Runtime::open(std::move(parts)).value();
    runtime->add(graph);
    block_on(world.loop, runtime->start(graph, Batch{}, named("t"))).value();
    world.pass(101h);
    counting.reads = 0;
    if (has_worker) {
      Spawned working = spawn<Result<std::size_t>>(world.loop, runtime->run_worker(WorkerOptions{}),
                                                   [](const Result<std::size_t>&) {});
      world.pass(60s);
    } else {
      auto expired = block_on(world.loop, runtime->process_due(default_tenant())).value().total();
      EXPECT_EQ(expired, static_cast<std::size_t>(count));
    }
    EXPECT_LE(counting.reads, 40u) << count << " approvals";
    RunRow row = world.view(*runtime, "t").row;
    EXPECT_EQ(row.status, RunStatus::completed) << row.error;
    EXPECT_THAT(world.open_approvals(), IsEmpty());
    EXPECT_EQ(world.violations(graph), "");
  }
}

struct Trip {
  int stops = 0;
};

// Two graphs; a program might have only one of them.
struct Strangers : Pages {
  Graph<Trip> waiting_graph(const std::string& name) {
    GraphBuilder<Trip> graph{name};
    graph.wait("rest", 1h);
    graph.node("go", [](const Trip&, Context&) { return add(&Trip::stops, 1); });
    graph.edge(start, "rest").edge("rest", "go").edge("go", end);
    return std::move(graph).build().value();
  }
  Graph<Trip> asking_graph(const std::string& name) {
    GraphBuilder<Trip> graph{name};
    graph.approval("review", &Trip::stops, {.question = "Go?", .expires = 1h})
        .approved("go")
        .rejected(end);
    graph.node("go", [](const Trip&, Context&) { return add(&Trip::stops, 1); });
    graph.edge(start, "review").edge("go", end);
    return std::move(graph).build().value();
  }
  void begin_many(const Graph<Trip>& graph) {
    auto runtime = process(graph);
    for (std::size_t i = 0; i <= limits::page_rows_max; ++i) {
      auto options = named(graph.name() + std::to_string(i));
      block_on(loop, runtime->start(graph, Trip{}, options)).value();
    }
  }
};

TEST_F(Strangers, TimersOfGraphsThatAreNotKnownAreNotInTheWayOfOthers) {
  begin_many(waiting_graph("stranger"));
  auto known = waiting_graph("known");
  auto runtime = process(known);
  block_on(loop, runtime->start(known, Trip{}, named("t"))).value();
  pass(2h);
  EXPECT_EQ(block_on(loop, runtime->process_due(default_tenant())).value().total(), 1u);
  EXPECT_EQ(view(*runtime, "t").row.status, RunStatus::completed);
}

TEST_F(Strangers, ApprovalsOfGraphsThatAreNotKnownAreNotInTheWayOfOthers) {
  auto known = asking_graph("known");
  auto runtime = process(known);
  block_on(loop, runtime->start(known, Trip{}, named("t"))).value();
  begin_many(asking_graph("stranger"));
  pass(2h);
  EXPECT_EQ(block_on(loop, runtime->process_due(default_tenant())).value().total(), 1u);
  EXPECT_EQ(view(*runtime, "t").row.outcome, "expired");
}

// The dead process had 120 runs of one user, of which this process may execute one at a time, and
// before them one run of another user.
TEST_F(Pages, RunsOfADeadProcessAreTakenUpThoughManyOthersHaveNoPlace) {
  auto graph = mail_graph();
  auto first = process(graph);
  std::vector<Spawned> runs;
  StartOptions bob = named("of bob");
  bob.user = UserId("bob");
  runs.push_back(begin(*first, graph, bob));
  for (int i = 0; i < 120; ++i) {
    StartOptions ana = named("of ana " + std::to_string(i));
    ana.user = UserId("ana");
    runs.push_back(begin(*first, graph, ana));
  }
  pass(1min);
  runs.clear();
  first.reset();
  RuntimeParts parts{store, loop, clock, random, model};
  parts.process_limits.per_user = 1;
  auto second = Runtime::open(std::move(parts)).value();
  second->add(graph);
  Spawned working = spawn<Result<std::size_t>>(loop, second->run_worker(WorkerOptions{}),
                                               [](const Result<std::size_t>&) {});
  pass(10s);
  RunRow row = view(*second, "of bob").row;
  EXPECT_EQ(row.status, RunStatus::running);
  EXPECT_EQ(row.session, second->session());
}

// Counts the searches of the outbox, and the rows that reads of it return.
class CountingStore final : public ForwardingStore {
 public:
  explicit CountingStore(Store& inner) : ForwardingStore(inner) {}
  Task<Result<Done>> read(Reader reader) override {
    Reader counted = [this, reader = std::move(reader)](Snapshot& view) {
      Counting counting(view, *this);
      return reader(counting);
    };
    return inner().read(std::move(counted));
  }

  std::size_t searches = 0;  // over all runs
  std::size_t rows = 0;

 private:
  class Counting final : public ForwardingSnapshot {
   public:
    Counting(Snapshot& inner, CountingStore& counts) : ForwardingSnapshot(inner), counts_(counts) {}
    Result<std::vector<OutboxRow>> outbox(const OutboxFilter& filter) override {
      BELAY_TRY(auto found, inner().outbox(filter));
      if (!filter.run) ++counts_.searches;
      counts_.rows += found.size();
      return found;
    }

   private:
    CountingStore& counts_;
  };
};

struct ManyMessages : Pages {
  CountingStore counting{*kept};
  std::vector<std::string> arrived;

  static Graph<Batch> publishing_graph(std::size_t count, const std::string& topic) {
    GraphBuilder<Batch> graph{topic};
    graph.node("publish", [count, topic](const Batch&, Context& context) {
      for (std::size_t i = 0; i < count; ++i) context.publish(topic, Value(topic));
      return append(&Batch::done, topic);
    });
    graph.edge(start, "publish").edge("publish", end);
    return std::move(graph).build().value();
  }
  std::unique_ptr<Runtime> counted() {
    return Runtime::open(RuntimeParts{counting, loop, clock, random, model}).value();
  }
  Receiver takes() {
    return [this](OutboxMessage message) -> Task<Result<Done>> {
      arrived.push_back(message.topic);
      co_return Done{};
    };
  }
  Spawned work(Runtime& runtime) {
    return spawn<Result<std::size_t>>(loop, runtime.run_worker(WorkerOptions{}),
                                      [](const Result<std::size_t>&) {});
  }
};

TEST_F(ManyMessages, OfOneRunAreReadAboutOnceEach) {
  constexpr std::size_t count = 3'000;
  auto graph = publishing_graph(count, "mail");
  auto runtime = counted();
  runtime->add(graph);
  block_on(loop, runtime->start(graph, Batch{}, named("t"))).value();
  runtime->deliver("mail", takes());
  counting.rows = 0;
  Spawned working = work(*runtime);
  pass(1min);
  EXPECT_EQ(arrived.size(), count);
  EXPECT_LE(counting.rows, 2 * count);
}

TEST_F(ManyMessages, AreSearchedForOncePerPollHoweverManyRunsEnd) {
  auto graph = publishing_graph(0, "none");
  auto runtime = counted();
  runtime->add(graph);
  runtime->deliver("mail", takes());
  for (int i = 0; i < 200; ++i) {
    block_on(loop, runtime->enqueue(graph, Batch{}, named("t" + std::to_string(i)), Instant()))
        .value();
  }
  counting.searches = 0;
  Spawned working = work(*runtime);
  pass(1s);
  EXPECT_EQ(view(*runtime, "t0").row.status, RunStatus::completed);
  EXPECT_EQ(view(*runtime, "t199").row.status, RunStatus::completed);
  EXPECT_LE(counting.searches, 1 + 1s / WorkerOptions{}.poll_interval);
}

TEST_F(ManyMessages, WithoutAReceiverAreNotInTheWayOfOthers) {
  auto silent = publishing_graph(many_rows, "silent");
  auto mail = publishing_graph(1, "mail");
  auto runtime = counted();
  runtime->add(silent);
  runtime->add(mail);
  block_on(loop, runtime->start(silent, Batch{}, named("silent"))).value();
  pass(1s);
  block_on(loop, runtime->start(mail, Batch{}, named("mail"))).value();
  runtime.reset();
  auto other = counted();
  other->deliver("mail", takes());
  Spawned working = work(*other);
  pass(1s);
  EXPECT_EQ(arrived, std::vector<std::string>{"mail"});
}

TEST_F(ManyMessages, OfOneRunDoNotHoldThoseOfAnotherUp) {
  auto many = publishing_graph(5'000, "many");
  auto mail = publishing_graph(1, "mail");
  auto runtime = counted();
  runtime->add(many);
  runtime->add(mail);
  block_on(loop, runtime->start(many, Batch{}, named("many"))).value();
  block_on(loop, runtime->start(mail, Batch{}, named("mail"))).value();
  for (const char* topic : {"many", "mail"}) runtime->deliver(topic, takes());
  Spawned working = work(*runtime);
  pass(5min);
  ASSERT_EQ(arrived.size(), 5'001u);
  auto at = std::find(arrived.begin(), arrived.end(), "mail") - arrived.begin();
  EXPECT_LE(at, 10);
}

}  // namespace
}  // namespace belay
