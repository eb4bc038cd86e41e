// Long on purpose: the graph of a scenario, and its execution with crashes.

#include "tests/property/wide_player.h"

#include <algorithm>
#include <ostream>
#include <stdexcept>

#include "engine/next_task.h"
#include "events/event_rows.h"
#include "events/run_events.h"

namespace belay::property {
namespace {

using namespace std::chrono_literals;

constexpr int kWideCallsMax = 600;
// Longer than every wait of a scenario, in the time of its clock.
constexpr std::chrono::hours kWaitMax{24};

struct Page {
  std::string text;
  std::vector<std::string> lines = {};
};

std::uint64_t mixed(std::uint64_t seed, const std::string& what) {
  Digest digest = sha256(std::to_string(seed) + " " + what);
  std::uint64_t bits = 0;
  for (std::size_t i = 0; i < 8; ++i) bits = bits << 8 | digest[i];
  return bits;
}

std::string name_of_node(std::size_t layer, std::size_t index) {
  return "n" + std::to_string(layer) + "x" + std::to_string(index);
}
std::string name_of_hub(std::size_t layer) { return "hub" + std::to_string(layer); }

// Returns an update with each write operation; its contents depend only on the name.
Update<Wide> said_by(const std::string& name) {
  std::int64_t size = static_cast<std::int64_t>(mixed(3, name) % 100);
  return append(&Wide::log, name)
      .add(&Wide::sum, size)
      .merge(&Wide::marks, "last " + std::to_string(size % 3), size)
      .reduce(&Wide::most, size);
}

Task<Result<Update<Wide>>> said_late(std::string name, int failures, std::chrono::milliseconds time,
                                     int attempt) {
  co_await sleep_for(time);
  if (attempt <= failures) co_return error(ErrorCode::unavailable, "It is away.");
  co_return said_by(name);
}

Graph<Page> page_graph(bool asks) {
  GraphBuilder<Page> graph{"page"};
  graph.node("read",
             [](const Page& page, Context&) { return append(&Page::lines, "read " + page.text); });
  graph.node("turn", [](const Page&, Context&) { return append(&Page::lines, "turned"); });
  graph.approval("keep", &Page::text, {.question = "Keep it?"})
      .when([asks](const Page&) { return asks; })
      .approved("turn")
      .rejected(end);
  graph.edge(start, "read").edge("read", "keep").edge("turn", end);
  return std::move(graph).build().value();
}

// With Durability::exit, a subgraph's first commit is written before a commit has scheduled its
// task. After a crash it conflicts with the new start of the task. Until that is fixed, these
// scenarios have no subgraphs.
WideScenario without_unsound(WideScenario scenario) {
  if (scenario.durability != static_cast<int>(Durability::exit)) return scenario;
  for (auto& layer : scenario.layers) {
    for (int& kind : layer) {
      bool is_inside = kind == WideScenario::inside || kind == WideScenario::asks_inside;
      if (is_inside) kind = WideScenario::work;
    }
  }
  return scenario;
}

// Builds the graph of a scenario, node by node.
class WideGraph {
 public:
  using Begins = std::function<void(Context&)>;

 private:
  // Returns the node's text: its name, or a longer one if its code is changed.
  std::string words(const std::string& name) {
    changes_.push_back({name, WideChange::update});
    bool is_other = change_.what == WideChange::update && change_.node == name;
    return is_other ? name + " otherwise" : name;
  }
  bool goes_elsewhere(const std::string& name) {
    changes_.push_back({name, WideChange::route});
    return change_.what == WideChange::route && change_.node == name;
  }
  auto plain(const std::string& name) {
    return [begins = begins_, name, said = words(name)](const Wide&, Context& context) {
      begins(context);
      context.emit("said", Value(name));
      return said_by(said);
    };
  }
  auto late(const std::string& name, int failures) {
    return [begins = begins_, speed = speed_, name, failures, said = words(name)](
               const Wide&, Context& context) {
      begins(context);
      auto time = std::chrono::milliseconds(mixed(speed, name) % 5'000);
      return said_late(said, failures, time, context.attempt());
    };
  }

 public:
  // Lists the possible changes of the nodes in `changes`; the graph contains the one in `change`.
  WideGraph(const WideScenario& scenario, std::uint64_t speed, Begins begins,
            std::vector<WideChange>& changes, WideChange change)
      : scenario_(scenario),
        speed_(speed),
        begins_(std::move(begins)),
        changes_(changes),
        change_(std::move(change)) {}

  Graph<Wide> build() && {
    std::size_t count = scenario_.layers.size();
    graph_.one_run_per_thread();
    graph_.edge(start, name_of_hub(0));
    for (std::size_t layer = 0; layer <= count; ++layer) {
      std::string hub = name_of_hub(layer);
      auto setting = graph_.node(hub, plain(hub));
      if (scenario_.stops && mixed(scenario_.seed, hub) % 3 == 0) setting.interrupt_before();
      if (scenario_.stops && mixed(scenario_.seed, hub) % 4 == 1) setting.interrupt_after();
      if (layer < count) add_layer(layer, hub);
    }
    graph_.edge(name_of_hub(count), end);
    graph_.reducer(&Wide::most, [](std::int64_t so_far, const std::int64_t& operand) {
      return std::max(so_far, operand);
    });
    return std::move(graph_).build().value();
  }

 private:
  void add_layer(std::size_t layer, const std::string& hub) {
    std::vector<std::string> joined;
    for (std::size_t i = 0; i < scenario_.layers[layer].size(); ++i) {
      std::string name = name_of_node(layer, i);
      joined.push_back(add(scenario_.layers[layer][i], name, i == 0));
      graph_.edge(hub, name);
    }
    std::vector<std::string_view> from(joined.begin(), joined.end());
    graph_.join(from, name_of_hub(layer + 1));
  }

  // Adds a node, and returns the node whose end the next layer waits for. Only one approval of a
  // superstep may set a channel.
  std::string add(int kind, const std::string& name, bool is_first) {
    switch (kind) {
      case WideScenario::slow:
        graph_.node(name, late(name, 0));
        return name;
      case WideScenario::flaky:
        graph_.node(name, late(name, static_cast<int>(mixed(scenario_.seed, name) % 3)))
            .retry({.attempts = 3, .base = 100ms});
        return name;
      case WideScenario::approve:
        return add_approval(name, is_first);
      case WideScenario::wait:
        graph_.wait(name, std::chrono::minutes(1 + mixed(scenario_.seed, name) % 90));
        return name;
      case WideScenario::inside:
      case WideScenario::asks_inside:
        add_subgraph(name, kind == WideScenario::asks_inside);
        return name;
      case WideScenario::question:
        add_question(name);
        return name;
      case WideScenario::sends:
        add_sends(name);
        return name;
      case WideScenario::chain:
        graph_.node(name, plain(name));
        graph_.node(name + "then", late(name + "then", 0));
        graph_.edge(name, name + "then");
        return name + "then";
      case WideScenario::save:
        add_save(name);
        return name;
      case WideScenario::chooses:
        return add_choice(name);
      default:
        graph_.node(name, plain(name));
        return name;
    }
  }

  std::string add_approval(const std::string& name, bool answers) {
    std::string last = name + "after";
    auto asked = graph_.approval(name, &Wide::draft, {.question = "Is this right?"});
    asked.approved(last).rejected(last);
    if (answers) asked.decision_flag(&Wide::approved);
    graph_.node(last, [begins = begins_, said = words(last)](const Wide& wide, Context& context) {
      begins(context);
      return append(&Wide::log, said + " " + wide.draft);
    });
    return last;
  }

  void add_subgraph(const std::string& name, bool asks) {
    graph_.subgraph(
        name, page_graph(asks),
        [name](const Wide& wide) { return Page{name + " " + std::to_string(wide.sum)}; },
        [name](const Page& page) {
          return append(&Wide::log,
                        name + " " + page.text + " " + std::to_string(page.lines.size()));
        });
  }

  void add_question(const std::string& name) {
    graph_.node(name, [begins = begins_, name, said = words(name)](const Wide&, Context& context) {
      begins(context);
      InterruptRequest question;
      question.name = name;
      question.text = "Go on?";
      question.payload = Value(name);
      bool approved = context.interrupt(std::move(question)).approved;
      return append(&Wide::log, said + (approved ? " yes" : " no"));
    });
  }

  void add_sends(const std::string& name) {
    std::string part = name + "part";
    int count = goes_elsewhere(name) ? 2 : 3;
    auto split = [begins = begins_, part, count](const Wide&, Context& context) {
      begins(context);
      auto update = unchanged<Wide>();
      for (int each = 0; each < count; ++each) {
        update = std::move(update).send(part, part + std::to_string(each));
      }
      return update;
    };
    graph_.node(name, split).destinations({part});
    graph_.node(part, [begins = begins_, said = words(part)](const Wide&, Context& context) {
      begins(context);
      return said_by(context.input<std::string>() + said);
    });
    graph_.edge(part, end);
  }

  void add_save(const std::string& name) {
    graph_.node(name, [begins = begins_, name, said = words(name)](const Wide&, Context& context) {
      begins(context);
      context.save(Footprint{context.task().text(), name});
      context.publish("saved", Value(name));
      return append(&Wide::log, said);
    });
  }

  // Adds a branch with two targets, which meet again.
  std::string add_choice(const std::string& name) {
    std::string last = name + "met";
    std::string left = name + "left";
    std::string right = name + "right";
    bool goes_left = (mixed(scenario_.seed, name) % 2 == 0) != goes_elsewhere(name);
    graph_
        .node(name,
              [begins = begins_, said = words(name), way = goes_left ? left : right](
                  const Wide&, Context& context) {
                begins(context);
                return append(&Wide::log, said).go_to(way);
              })
        .destinations({left, right});
    graph_.node(left, plain(left));
    graph_.node(right, plain(right));
    graph_.node(last, plain(last));
    graph_.edge(left, last).edge(right, last);
    return last;
  }

  const WideScenario& scenario_;
  std::uint64_t speed_;
  Begins begins_;
  std::vector<WideChange>& changes_;
  WideChange change_;
  GraphBuilder<Wide> graph_{"wide"};
};

}  // namespace

WidePlayer::WidePlayer(const WideScenario& scenario, std::uint64_t speed)
    : scenario_(without_unsound(scenario)), graph_(graph_of(scenario_, speed)) {
  store.when_it_dies = [this] { loop.stop(); };
  store.when_acknowledged = [this](const CommitRows& rows) { note(rows); };
  reopen();
}

Graph<Wide> WidePlayer::graph_of(const WideScenario& scenario, std::uint64_t speed,
                                 const WideChange& change) {
  WideGraph::Begins begins = [watch = watch_](Context& context) {
    if (!watch->done.contains(context.task())) return;
    watch->faults.push_back("the node " + std::string(context.node()) + " ran after its end");
  };
  changes.clear();
  return WideGraph(scenario, speed, std::move(begins), changes, change).build();
}

void WidePlayer::reopen() {
  runtime.reset();
  store.revive();
  runtime = Runtime::open(RuntimeParts{store, loop, clock, random, model}).value();
  runtime->add(graph_);
}

void WidePlayer::note(const CommitRows& rows) {
  ++commits;
  for (const TaskRow& row : rows.tasks) {
    if (row.status == TaskStatus::done) watch_->done.insert(row.task);
  }
  if (rows.checkpoint) note_superstep(*rows.checkpoint);
  for (const CheckpointRow& each : rows.inner_checkpoints) note_superstep(each);
  if (when_committed) when_committed();
}

std::optional<Divergence> WidePlayer::divergence(const WideChange& change) {
  // The nodes that a replay calls must not count as executions of the run.
  Watch so_far = *watch_;
  watch_->done.clear();
  auto other = Runtime::open(RuntimeParts{store, loop, clock, random, model}).value();
  other->add(graph_of(scenario_, 1, change));
  ReplayOptions options;
  options.thread = ThreadId("t");
  auto report = try_wait(other->replay(options)).value();
  *watch_ = std::move(so_far);
  if (report.ok()) return std::move(report->divergence);
  Divergence refused;
  refused.what = report.error().message;
  return refused;
}

std::vector<CheckpointRow> WidePlayer::commits_of_run() {
  std::vector<CheckpointRow> found;
  RunId run = try_wait(runtime->status(default_tenant(), ThreadId("t"))).value().value().row.run;
  Store::Reader read = [run, &found](Snapshot& view) -> Result<Done> {
    RunOf of;
    of.tenant = default_tenant();
    of.run = run;
    BELAY_TRY(found, checkpoints_after(view, of, "", 0, 1'000));
    return Done{};
  };
  // The memory store completes the read immediately.
  Spawned reading = spawn<Result<Done>>(loop, memory->read(read), [](const Result<Done>&) {});
  return found;
}

std::vector<std::string> WidePlayer::events(std::optional<EventId> after) {
  std::vector<std::string> texts;
  Store::Reader read = [this, after, &texts](Snapshot& view) -> Result<Done> {
    GraphRegistry graphs;
    graphs.add(graph_.definition());
    EventOptions options;
    options.thread = ThreadId("t");
    options.after = after;
    BELAY_TRY(EventCursor place, first_place(view, graphs, options));
    for (bool more = true; more;) {
      BELAY_TRY(EventPage page, next_page(view, std::move(place)));
      for (const StreamEvent& event : page.events) {
        texts.push_back(to_json(to_value(event)));
        last_event = event.id;
      }
      more = page.is_behind;
      place = std::move(page.place);
    }
    return Done{};
  };
  // The memory store completes the read immediately.
  std::function<void(Result<Done>)> done = [this](const Result<Done>& came_to) {
    if (!came_to.ok()) watch_->faults.push_back("no events: " + came_to.error().message);
  };
  Spawned reading = spawn<Result<Done>>(loop, memory->read(std::move(read)), std::move(done));
  return texts;
}

void WidePlayer::note_superstep(const CheckpointRow& checkpoint) {
  auto& [superstep, tasks] = chosen_[checkpoint.checkpoint_ns];
  if (checkpoint.superstep > superstep) {
    watch_->done.insert(tasks.begin(), tasks.end());
    tasks.clear();
    superstep = checkpoint.superstep;
  }
  auto next = engine::next_tasks_from(checkpoint.next_tasks).value();
  if (next.as_of) return;
  tasks.clear();
  for (std::size_t i = 0; i < next.nodes.size(); ++i) {
    tasks.push_back(engine::task_id(checkpoint.run, checkpoint.checkpoint_ns, next.superstep,
                                    next.nodes[i],
                                    next.nodes.size() > 1 ? std::optional(i) : std::nullopt));
  }
}

template <typename T>
std::optional<T> WidePlayer::try_wait(Task<T> task, bool early) {
  std::optional<T> result;
  std::function<void(T)> done = [&](T value) {
    result.emplace(std::move(value));
    loop.stop();
  };
  Spawned running = spawn<T>(loop, std::move(task), std::move(done));
  if (early && !result && !store.has_died()) {
    loop.run_until(clock.now() + 1s);
    if (!result && !store.has_died()) {
      for (const ApprovalRow& each : open_approvals()) {
        if (result || store.has_died()) break;
        decide(each);
      }
    }
  }
  if (!result && !store.has_died()) loop.run_until(clock.now() + kWaitMax);
  if (!result && !store.has_died()) throw std::runtime_error("It waits without end: " + rows());
  return result;
}

std::vector<ApprovalRow> WidePlayer::open_approvals() {
  std::vector<ApprovalRow> found;
  Store::Reader reader = [&found](Snapshot& view) -> Result<Done> {
    ApprovalFilter filter;
    filter.tenant = default_tenant();
    filter.only_open = true;
    BELAY_TRY(found, view.approvals(filter));
    return Done{};
  };
  // The memory store completes the read immediately.
  Spawned reading = spawn<Result<Done>>(loop, memory->read(reader), [](const Result<Done>&) {});
  return found;
}

void WidePlayer::decide(const ApprovalRow& approval) {
  Decision decision;
  decision.decided_by = "ana";
  decision.approved = mixed(scenario_.seed, "verdict " + approval.node) % 3 != 0;
  bool is_first = approval.node.ends_with("x0");
  if (decision.approved && is_first && mixed(scenario_.seed, "edit " + approval.node) % 2 == 0) {
    if (json_in_envelope(approval.payload).value().starts_with("\"")) {
      decision.edited = Value("edited at " + approval.node);
    }
  }
  auto answer = try_wait(runtime->decide(default_tenant(), approval.interrupt, decision));
  bool went_wrong = answer && !answer->ok() && answer->error().code != ErrorCode::unavailable &&
                    answer->error().code != ErrorCode::uncertain;
  if (went_wrong) watch_->faults.push_back("can't decide: " + answer->error().message);
}

bool WidePlayer::move_on() {
  if (store.has_died()) reopen();
  ThreadId thread("t");
  auto known = try_wait(runtime->status(default_tenant(), thread));
  if (!known) return true;
  if (!known->ok()) {
    StartOptions options;
    options.thread = thread;
    options.run.timeout = 24h * 365;
    options.run.durability = static_cast<Durability>(scenario_.durability);
    options.run.parallel = scenario_.parallel;
    note_end(try_wait(runtime->start(graph_, Wide{}, options), scenario_.decides_early));
    return true;
  }
  const RunRow& row = (*known)->row;
  if (is_final(row.status)) return false;
  if (row.status == RunStatus::paused && row.reason == "approval") {
    auto open = open_approvals();
    if (open.empty()) {
      watch_->faults.push_back("it is paused for an approval, and none is open");
      return false;
    }
    decide(open[mixed(scenario_.seed, std::to_string(row.seq)) % open.size()]);
    return true;
  }
  if (row.status == RunStatus::paused && row.reason == "timer") {
    if (row.due_at > clock.now()) clock.move(row.due_at - clock.now());
    (void)try_wait(runtime->process_due(default_tenant()), scenario_.decides_early);
    return true;
  }
  note_end(try_wait(runtime->resume(default_tenant(), thread), scenario_.decides_early));
  return true;
}

void WidePlayer::note_end(const std::optional<Result<RunView>>& answer) {
  if (answer && answer->ok() && is_final((*answer)->row.status)) shown_end_ = **answer;
}

RunView WidePlayer::play(std::vector<Crash> crashes) {
  std::reverse(crashes.begin(), crashes.end());
  int calls = 0;
  for (; calls < kWideCallsMax; ++calls) {
    if (!crashes.empty() && !store.is_armed()) {
      store.fail_at(crashes.back());
      crashes.pop_back();
    }
    if (!move_on()) break;
  }
  if (calls == kWideCallsMax)
    watch_->faults.push_back("the run does not come to its end: " + rows());
  RunView end = try_wait(runtime->status(default_tenant(), ThreadId("t"))).value().value();
  bool is_same = !shown_end_ || (shown_end_->row == end.row && shown_end_->state == end.state &&
                                 shown_end_->approvals == end.approvals && !shown_end_->spending);
  if (!is_same) {
    watch_->faults.push_back("the run was shown as " + to_json(shown_end_->state) +
                             ", and is stored as " + to_json(end.state) + ": " + rows());
  }
  return end;
}

std::string WidePlayer::violations() {
  CheckScope scope;
  scope.graphs = {graph_.definition()};
  scope.acknowledged = store.acknowledged;
  scope.collections = {std::string(Footprint::collection)};
  CheckReport report = try_wait(check_store(*memory, std::move(scope))).value().value();
  std::string told;
  for (const std::string& fault : watch_->faults) told += fault + "\n";
  for (const Violation& each : report.violations) {
    told += each.rule + " " + each.subject + ": " + each.message + "\n";
  }
  return told;
}

std::string WidePlayer::rows() {
  std::string text;
  Store::Reader reader = [&text](Snapshot& view) -> Result<Done> {
    RunFilter runs;
    runs.tenant = default_tenant();
    BELAY_TRY(auto found, view.runs(runs));
    CheckpointFilter checkpoints;
    checkpoints.tenant = default_tenant();
    checkpoints.run = found.front().run;
    checkpoints.limit = 1'000;
    BELAY_TRY(auto chain, view.checkpoints(checkpoints));
    for (const CheckpointRow& each : chain) {
      text += each.id.text() + " " + each.next_tasks + " " + to_hex(each.chain_hash) + "\n";
    }
    ValueFilter values;
    values.tenant = default_tenant();
    values.run = found.front().run;
    values.at_seq = 1'000'000;
    values.every_version = true;
    BELAY_TRY(auto versions, view.values(values));
    for (const ValueRow& each : versions) {
      text += each.checkpoint_ns + " " + each.channel + " " + std::to_string(each.seq) + " " +
              std::to_string(each.index) + " " + each.envelope + "\n";
    }
    return Done{};
  };
  Spawned reading = spawn<Result<Done>>(loop, memory->read(reader), [](const Result<Done>&) {});
  return text;
}

rc::Gen<WideScenario> any_wide_scenario() {
  using Kind = WideScenario::Kind;
  auto kind = rc::gen::element<int>(Kind::work, Kind::slow, Kind::flaky, Kind::approve, Kind::wait,
                                    Kind::inside, Kind::asks_inside, Kind::question, Kind::sends,
                                    Kind::chain, Kind::save, Kind::chooses);
  auto layer = rc::gen::mapcat(rc::gen::inRange(2, 5), [kind](int count) {
    return rc::gen::container<std::vector<int>>(static_cast<std::size_t>(count), kind);
  });
  auto layers = rc::gen::mapcat(rc::gen::inRange(1, 4), [layer](int count) {
    return rc::gen::container<std::vector<std::vector<int>>>(static_cast<std::size_t>(count),
                                                             layer);
  });
  return rc::gen::build<WideScenario>(
      rc::gen::set(&WideScenario::layers, layers),
      rc::gen::set(&WideScenario::durability, rc::gen::weightedElement<int>({{3, 0}, {1, 1}})),
      rc::gen::set(&WideScenario::parallel, rc::gen::element(1, 2, 8)),
      rc::gen::set(&WideScenario::stops, rc::gen::weightedElement<bool>({{3, false}, {1, true}})),
      rc::gen::set(&WideScenario::decides_early, rc::gen::arbitrary<bool>()),
      rc::gen::set(&WideScenario::seed, rc::gen::inRange<std::uint64_t>(0, 1'000'000)));
}

std::ostream& operator<<(std::ostream& out, const WideScenario& scenario) {
  static constexpr const char* kinds[] = {"work",  "slow",   "flaky",       "approve",
                                          "wait",  "inside", "asks inside", "question",
                                          "sends", "chain",  "save",        "chooses"};
  out << "seed " << scenario.seed << ", durability " << scenario.durability << ", parallel "
      << scenario.parallel << (scenario.stops ? ", stops" : "")
      << (scenario.decides_early ? ", decides early" : "");
  for (const auto& layer : scenario.layers) {
    out << " [";
    for (int each : layer) out << " " << kinds[each];
    out << " ]";
  }
  return out;
}

std::ostream& operator<<(std::ostream& out, const WideChange& change) {
  return out << (change.what == WideChange::route ? "route" : "update") << " of " << change.node;
}

}  // namespace belay::property
