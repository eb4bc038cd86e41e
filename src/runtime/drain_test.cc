// Long on purpose: each kind of work with each kind of interruption, with one fixture.

// Tests interruptions of running work: each kind of work with a drain, a stop, a cancel, a timeout
// and a concurrent failure, in runs that a worker claimed and in runs that a request started. Each
// run has two readers of its events, in its own process and in another one.

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "belay/check.h"
#include "tests/support/crashing_store_fixture.h"

namespace belay {
namespace {

using namespace std::chrono_literals;
using ::testing::HasSubstr;

struct Errand {
  std::string note{};
  std::vector<std::string> log{};
};

struct Receipt {
  static constexpr std::string_view collection = "receipts";
  std::string id{};
  std::string text{};
  std::string key() const { return id; }
  static auto indexed() { return std::tuple{}; }
};

// The work takes ten seconds.
constexpr auto length = 10s;

// The kind of work that is interrupted.
struct UnderWay {
  std::string name;
  bool runs = true;       // a node: a drain waits for it, a stop abandons it
  bool asks = false;      // once abandoned, the next owner asks whether it happened
  bool is_alone = false;  // its run cannot have a failing node in the same superstep
};

const std::vector<UnderWay>& kinds() {
  static const std::vector<UnderWay> all{
      {.name = "node"},
      {.name = "record"},
      {.name = "keyed"},
      {.name = "unkeyed", .asks = true},
      {.name = "model"},
      {.name = "inside"},
      {.name = "branches", .asks = true},
      {.name = "retry", .runs = false},
      {.name = "timer", .runs = false},
      {.name = "approval", .runs = false},
  };
  return all;
}

enum class End { drain, stop, cancel, timeout, failure };

std::string name_of(End end) {
  static constexpr std::string_view names[] = {"drain", "stop", "cancel", "timeout", "failure"};
  return std::string(names[static_cast<int>(end)]);
}

struct Endings : CrashingStoreFixture {
  void TestBody() override {}

  int begun = 0;     // times that the work was started
  int happened = 0;  // times that it was completed
  int after = 0;     // executions of the node after it
  std::vector<std::string> released;

  Task<Result<int>> work() {
    ++begun;
    co_await sleep_for(length);
    ++happened;
    co_return 1;
  }

  Graph<Errand> graph_of(const UnderWay& kind, bool fails_beside);

  std::unique_ptr<Runtime> process(const Graph<Errand>& graph) {
    RuntimeParts parts{store, loop, clock, random, model, [this](const ProgressEvent& event) {
                         if (event.kind == ProgressEvent::Kind::released) {
                           released.push_back(event.message);
                         }
                       }};
    auto opened = Runtime::open(std::move(parts)).value();
    opened->add(graph);
    return opened;
  }
  void pass(std::chrono::microseconds time) { loop.run_until(clock.now() + time); }
  RunView view(Runtime& runtime) {
    return block_on(loop, runtime.status(default_tenant(), ThreadId("t"))).value();
  }
  std::vector<EffectRow> effects(const RunRow& run, std::vector<EffectStatus> statuses) {
    EffectFilter filter;
    filter.tenant = default_tenant();
    filter.run = run.run;
    filter.statuses = std::move(statuses);
    std::function<Result<std::vector<EffectRow>>(Snapshot&)> reader = [filter](Snapshot& snapshot) {
      return snapshot.effects(filter);
    };
    return block_on(loop, read<std::vector<EffectRow>>(*kept, std::move(reader))).value();
  }
  std::string violations(const Graph<Errand>& graph) {
    CheckScope scope;
    scope.graphs = {graph.definition()};
    std::string found;
    for (const Violation& each : block_on(loop, check_store(*kept, scope)).value().violations) {
      found += each.rule + " " + each.subject + ": " + each.message + "\n";
    }
    return found;
  }
};

void add_work(GraphBuilder<Errand>& graph, Endings& world, const std::string& kind,
              const std::string& name) {
  Endings* at = &world;
  if (kind == "timer") {
    graph.wait(name, length);
  } else if (kind == "approval") {
    graph.approval(name, &Errand::note, {.question = "Go?"}).approved("after").rejected(end);
  } else if (kind == "retry") {
    graph
        .node(name,
              [at](const Errand&, Context& context) -> Result<Update<Errand>> {
                if (context.attempt() == 1) return error(ErrorCode::unavailable, "It is away.");
                ++at->happened;
                return append(&Errand::log, "retried");
              })
        .retry({.attempts = 2, .base = length / 2, .cap = length});
  } else if (kind == "record") {
    graph.node(name, [at](const Errand&, Context& context) -> Task<Update<Errand>> {
      Receipt receipt;
      receipt.id = "r";
      context.save(receipt);
      (void)co_await at->work();
      co_return append(&Errand::log, "record");
    });
  } else if (kind == "keyed") {
    graph.node(name, [at](const Errand&, Context& context) -> Task<Update<Errand>> {
      auto pay = [at]() { return at->work(); };
      (void)co_await context.keyed_effect("pay", pay);
      co_return append(&Errand::log, "keyed");
    });
  } else if (kind == "unkeyed") {
    graph.node(name, [at](const Errand&, Context& context) -> Task<Update<Errand>> {
      auto mail = [at]() { return at->work(); };
      EffectOptions options;
      (void)co_await context.unkeyed_effect("smtp", std::move(options), mail);
      co_return append(&Errand::log, "unkeyed");
    });
  } else if (kind == "model") {
    graph.node(name, [at](const Errand&, Context& context) -> Task<Update<Errand>> {
      ++at->begun;
      auto reply = co_await context.model().complete("What is there?");
      ++at->happened;
      co_return append(&Errand::log, reply.ok() ? *reply : "nothing");
    });
  } else {
    graph.node(name, [at](const Errand&, Context&) -> Task<Update<Errand>> {
      (void)co_await at->work();
      co_return append(&Errand::log, "node");
    });
  }
}

Graph<Errand> Endings::graph_of(const UnderWay& kind, bool fails_beside) {
  GraphBuilder<Errand> graph{kind.name};
  std::vector<std::string> works{"work"};
  if (kind.name == "inside") {
    GraphBuilder<Errand> inner{"inner"};
    add_work(inner, *this, "node", "work");
    inner.edge(start, "work").edge("work", end);
    graph.subgraph(
        "work", std::move(inner).build().value(), [](const Errand& errand) { return errand; },
        [](const Errand& errand) { return set(&Errand::note, errand.log.back()); });
  } else if (kind.name == "branches") {
    works = {"one", "two", "three"};
    add_work(graph, *this, "node", "one");
    add_work(graph, *this, "unkeyed", "two");
    add_work(graph, *this, "keyed", "three");
  } else {
    add_work(graph, *this, kind.name, "work");
  }
  graph.node("after", [this](const Errand&, Context&) {
    ++after;
    return append(&Errand::log, "after");
  });
  if (fails_beside) {
    graph.node("beside", [](const Errand&, Context&) -> Task<Result<Update<Errand>>> {
      co_await sleep_for(5s);
      co_return error(ErrorCode::invalid, "It can't be done.");
    });
    graph.edge(start, "beside").edge("beside", "after");
  }
  for (const std::string& work : works) {
    graph.edge(start, work);
    if (kind.name != "approval") graph.edge(work, "after");
  }
  graph.edge("after", end);
  return std::move(graph).build().value();
}

// A reader of the run's events that waits for more, like a stream of a server.
struct StatusReader {
  std::vector<std::string> statuses;
  bool has_ended = false;
  Spawned task;

  std::string last() const { return statuses.empty() ? "" : statuses.back(); }
};

Task<Result<Done>> read_statuses(Runtime& runtime, StatusReader& into) {
  EventOptions options;
  options.thread = ThreadId("t");
  options.kinds = {EventKind::status};
  auto reader = co_await runtime.events(std::move(options));
  if (!reader.ok()) co_return std::move(reader).error();
  while (true) {
    auto some = co_await (*reader)->next();
    if (!some.ok()) co_return std::move(some).error();
    if (some->empty()) co_return Done{};
    for (const StreamEvent& event : *some) {
      into.statuses.push_back(*event.body["status"].as_string());
    }
  }
}

void read_on(Endings& world, Runtime& runtime, StatusReader& into) {
  std::function<void(Result<Done>)> done = [&into](Result<Done> result) {
    EXPECT_TRUE(result.ok()) << result.error().message;
    into.has_ended = true;
  };
  into.task = spawn<Result<Done>>(world.loop, read_statuses(runtime, into), std::move(done));
}

class Ending : public ::testing::TestWithParam<std::tuple<std::size_t, End, bool>> {};

// One case: the work has run for three seconds when it is interrupted.
struct Played {
  Played(const UnderWay& what, End how, bool is_taken_up) : kind(what), end(how) {
    world.model.then_always([](const ModelRequest&) { return Result<std::string>("a"); });
    world.model.takes(length);
    StartOptions options;
    options.thread = ThreadId("t");
    if (end == End::timeout) options.run.timeout = 3s;
    if (is_taken_up) {
      block_on(world.loop, first->enqueue(graph, Errand{}, options, Instant())).value();
    } else {
      started = spawn<Result<RunView>>(world.loop, first->start(graph, Errand{}, options),
                                       [this](Result<RunView> view) { answer = std::move(view); });
    }
    working = spawn<Result<std::size_t>>(
        world.loop, first->run_worker(WorkerOptions{}),
        [this](const Result<std::size_t>&) { work_ended = world.clock.now(); });
    world.pass(1s);
    read_on(world, *first, here);
    read_on(world, *other, elsewhere);
    world.pass(2s);
  }

  // Expects that both readers have received this status, and whether it was the last.
  void expect_read(RunStatus status, bool has_ended) const {
    for (const StatusReader* reader : {&here, &elsewhere}) {
      SCOPED_TRACE(reader == &here ? "the reader here" : "the reader elsewhere");
      EXPECT_EQ(reader->last(), belay::name_of(status));
      EXPECT_EQ(reader->has_ended, has_ended);
    }
  }

  const UnderWay& kind;
  End end;
  Endings world;
  Graph<Errand> graph = world.graph_of(kind, end == End::failure);
  std::unique_ptr<Runtime> first = world.process(graph);
  std::unique_ptr<Runtime> other = world.process(graph);
  std::optional<Result<RunView>> answer;
  std::optional<Instant> work_ended;
  Spawned started;
  Spawned working;
  StatusReader here, elsewhere;
};

// Approves all requests of the run, and lets `by` execute it to its end.
void bring_to_its_end(Played& played, Runtime& by) {
  for (int round = 0; round < 5; ++round) {
    Spawned working = spawn<Result<std::size_t>>(played.world.loop, by.run_worker(WorkerOptions{}),
                                                 [](const Result<std::size_t>&) {});
    played.world.pass(1min);
    RunView now = played.world.view(by);
    if (is_final(now.row.status)) return;
    for (const ApprovalRow& each : now.approvals) {
      Decision decision;
      decision.approved = true;
      decision.decided_by = "ana";
      if (terms_of(each).value().find("happened")) decision.choice = "happened";
      block_on(played.world.loop, by.decide(default_tenant(), each.interrupt, decision)).value();
    }
  }
}

void drains(Played& played) {
  Endings& world = played.world;
  Instant asked = world.clock.now();
  played.first->drain();
  world.pass(1s);
  EXPECT_EQ(played.work_ended.has_value(), !played.kind.runs)
      << "it waits for nodes, and for nothing else";
  world.pass(length);
  ASSERT_TRUE(played.work_ended);
  EXPECT_LE(*played.work_ended, asked + length);
  EXPECT_EQ(world.after, 0) << "nothing new is begun";
  EXPECT_EQ(world.begun, world.happened) << "nothing is cut";
  for (const std::string& given_up : world.released) EXPECT_EQ(given_up, "");
  RunRow row = world.view(*played.other).row;
  EXPECT_TRUE(row.status == RunStatus::queued || row.status == RunStatus::paused)
      << name_of(row.status);
  EXPECT_TRUE(row.session.is_null());
  EXPECT_TRUE(world.effects(row, {EffectStatus::intended, EffectStatus::uncertain}).empty());
  played.expect_read(row.status, false);
  int happened = world.happened;
  bring_to_its_end(played, *played.other);
  EXPECT_EQ(world.view(*played.other).row.status, RunStatus::completed);
  played.expect_read(RunStatus::completed, true);
  if (played.kind.runs) {
    EXPECT_EQ(world.happened, happened) << "nothing is repeated";
  }
  EXPECT_EQ(world.after, 1);
}

void stops(Played& played) {
  Endings& world = played.world;
  played.first->stop();
  world.pass(100ms);
  ASSERT_TRUE(played.work_ended);
  EXPECT_EQ(world.happened, 0);
  RunView stopped = world.view(*played.other);
  bool waits = played.kind.name == "approval" || played.kind.name == "timer";
  EXPECT_EQ(stopped.row.status, waits ? RunStatus::paused : RunStatus::queued);
  EXPECT_TRUE(stopped.row.session.is_null());
  if (played.kind.runs) {
    ASSERT_EQ(world.released.size(), 1u);
    EXPECT_NE(world.released[0], "") << "it says what it has given up";
  }
  bring_to_its_end(played, *played.other);
  EXPECT_EQ(world.view(*played.other).row.status, RunStatus::completed);
  played.expect_read(RunStatus::completed, true);
  if (played.kind.name == "unkeyed") {
    EXPECT_EQ(world.begun, 1) << "whether it happened, a person said";
  }
}

// Expects that the run has ended, has no open approvals or effects, and that its work and its
// readers have stopped.
void is_over(Played& played, RunStatus status) {
  Endings& world = played.world;
  played.expect_read(status, true);
  RunView ended = world.view(*played.other);
  EXPECT_EQ(ended.row.status, status);
  EXPECT_TRUE(world.effects(ended.row, {EffectStatus::intended}).empty());
  EXPECT_TRUE(ended.approvals.empty());
  EXPECT_EQ(ended.uncertain.empty(), !played.kind.asks);
  for (const EffectRow& effect : ended.uncertain) EXPECT_EQ(effect.name, "smtp");
  int happened = world.happened;
  world.pass(1h);
  EXPECT_EQ(world.happened, happened) << "what it was doing goes on";
  EXPECT_EQ(world.after, 0);
  EXPECT_EQ(world.view(*played.other).row.seq, ended.row.seq);
}

TEST_P(Ending, LeavesNothingOpenAndRepeatsNothingSilently) {
  auto [number, end, is_taken_up] = GetParam();
  const UnderWay& kind = kinds()[number];
  // A run that waits for a decision or a timer does not use up its timeout.
  bool is_waiting = kind.name == "approval" || kind.name == "timer";
  if (end == End::timeout && is_waiting) GTEST_SKIP() << "it does not work while it waits";
  Played played(kind, end, is_taken_up);
  Endings& world = played.world;
  switch (end) {
    case End::drain:
      drains(played);
      break;
    case End::stop:
      stops(played);
      break;
    case End::cancel: {
      Runtime& by = number % 2 == 0 ? *played.first : *played.other;
      block_on(world.loop, by.cancel(default_tenant(), ThreadId("t"), "ana")).value();
      world.pass(2s);
      is_over(played, RunStatus::cancelled);
      std::int64_t worked = world.view(*played.other).row.worked_ms;
      EXPECT_EQ(worked, is_waiting ? 0 : 3'000) << "the time that it worked";
      break;
    }
    case End::timeout:
    case End::failure:
      world.pass(3s);
      is_over(played, RunStatus::failed);
      break;
  }
  EXPECT_EQ(world.violations(played.graph), "");
}

std::string case_name(const ::testing::TestParamInfo<Ending::ParamType>& info) {
  auto [number, end, is_taken_up] = info.param;
  return kinds()[number].name + "_" + name_of(end) + (is_taken_up ? "_worker" : "_request");
}

INSTANTIATE_TEST_SUITE_P(EachKind, Ending,
                         ::testing::Combine(::testing::Range(std::size_t{0}, kinds().size()),
                                            ::testing::Values(End::drain, End::stop, End::cancel,
                                                              End::timeout, End::failure),
                                            ::testing::Bool()),
                         case_name);

// Receivers and readers are not part of a run.
struct Others : CrashingStoreFixture {
  void TestBody() override {}

  int arrived = 0;

  Graph<Errand> publishes() {
    GraphBuilder<Errand> graph{"publishes"};
    graph.node("tell", [](const Errand&, Context& context) {
      context.publish("mail", Value("hello"));
      return append(&Errand::log, "told");
    });
    graph.edge(start, "tell").edge("tell", end);
    return std::move(graph).build().value();
  }
  Receiver takes() {
    return [this](OutboxMessage) -> Task<Result<Done>> {
      co_await sleep_for(length);
      ++arrived;
      co_return Done{};
    };
  }
  void pass(std::chrono::microseconds time) { loop.run_until(clock.now() + time); }
};

TEST_F(Others, AReceiverAtWorkIsWaitedForByADrainAndGivenUpByAStop) {
  for (bool stops : {false, true}) {
    SCOPED_TRACE(stops ? "stop" : "drain");
    Others world;
    auto graph = world.publishes();
    auto first = world.CrashingStoreFixture::process(graph);
    first->deliver("mail", world.takes());
    bool has_ended = false;
    Spawned working =
        spawn<Result<std::size_t>>(world.loop, first->run_worker(WorkerOptions{}),
                                   [&has_ended](const Result<std::size_t>&) { has_ended = true; });
    block_on(world.loop, first->start(graph, Errand{}, StartOptions{})).value();
    world.pass(3s);
    stops ? first->stop() : first->drain();
    world.pass(1s);
    EXPECT_EQ(has_ended, stops);
    world.pass(length);
    EXPECT_TRUE(has_ended);
    EXPECT_EQ(world.arrived, stops ? 0 : 1);
    working.reset();
    first.reset();
    auto second = world.CrashingStoreFixture::process(graph);
    second->deliver("mail", world.takes());
    Spawned again = spawn<Result<std::size_t>>(world.loop, second->run_worker(WorkerOptions{}),
                                               [](const Result<std::size_t>&) {});
    world.pass(5min);
    EXPECT_EQ(world.arrived, 1) << "it arrives once in either case";
  }
}

}  // namespace
}  // namespace belay
