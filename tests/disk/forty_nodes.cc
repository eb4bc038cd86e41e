#include "tests/disk/forty_nodes.h"

#include <algorithm>
#include <set>

#include "belay/check.h"
#include "store/forwarding_store.h"
#include "testing/inline_store.h"

namespace belay::disk {
namespace {

using namespace std::chrono_literals;

// More than every wait of the scenario, in its own time.
constexpr std::chrono::hours kWaitMax{24};
constexpr int kCallsMax = 100;
constexpr int kBranches = 8;

std::string numbered(const char* name, int number) { return name + std::to_string(number); }

auto note(const std::string& name) {
  return [name](const Journey&, Context&) { return append(&Journey::log, name); };
}

// Adds a chain of nodes that each append their name.
void add_chain(GraphBuilder<Journey>& graph, const char* name, int count) {
  for (int i = 0; i < count; ++i) {
    graph.node(numbered(name, i), note(numbered(name, i)));
    if (i > 0) graph.edge(numbered(name, i - 1), numbered(name, i));
  }
}

auto walk(const std::string& name, int number) {
  return [name, number](const Journey&, Context&) -> Task<Update<Journey>> {
    co_await sleep_for(std::chrono::milliseconds(number));
    co_return append(&Journey::log, name).add(&Journey::sum, number);
  };
}

void add_effects(GraphBuilder<Journey>& graph, Outside& outside) {
  auto busy = [](const Journey&, Context& context) -> Result<Update<Journey>> {
    if (context.attempt() == 1) return error(ErrorCode::unavailable, "The line is busy.");
    return append(&Journey::log, "retried");
  };
  graph.node("retried", busy).retry({.attempts = 5, .base = 10ms});
  auto pay = [&outside](const Journey&, Context& context) -> Task<Update<Journey>> {
    auto charge = [&outside, &context]() -> Task<std::string> {
      co_await sleep_for(1ms);
      outside.call("pay", context.idempotency_key("pay"));
      co_return "paid";
    };
    std::string receipt = co_await context.keyed_effect("pay", charge);
    co_return set(&Journey::paid, receipt);
  };
  graph.node("pay", pay);
  auto mail = [&outside](const Journey&, Context& context) -> Task<Update<Journey>> {
    EffectOptions options;
    options.when_uncertain = WhenUncertain::probe;
    auto send_mail = [&outside, &context]() -> Task<int> {
      co_await sleep_for(1ms);
      outside.call("mail", context.idempotency_key("mail"));
      co_return 1;
    };
    Probe<int> look = [&outside]() -> Result<std::optional<int>> {
      return outside.count("mail") > 0 ? std::optional(1) : std::nullopt;
    };
    co_await context.unkeyed_effect("mail", options, send_mail, std::move(look));
    co_return append(&Journey::log, "mailed");
  };
  graph.node("mail", mail);
  graph.node("ticket", [](const Journey& journey, Context& context) {
    context.save(Ticket{context.thread().text, journey.sum});
    context.publish("tickets", Value(journey.sum));
    context.outcome("arrived");
    return append(&Journey::log, "ticket");
  });
}

}  // namespace

void Outside::call(std::string name, std::string key) {
  calls.push_back({now(), std::move(name), std::move(key)});
}

std::size_t Outside::distinct(const std::string& name) const {
  std::set<std::string> keys;
  for (const Call& call : calls) {
    if (call.name == name) keys.insert(call.key);
  }
  return keys.size();
}

std::size_t Outside::count(const std::string& name) const {
  return static_cast<std::size_t>(std::count_if(
      calls.begin(), calls.end(), [&](const Call& call) { return call.name == name; }));
}

Outside Outside::until(std::size_t count) const {
  Outside earlier;
  for (const Call& call : calls) {
    if (call.at <= count) earlier.calls.push_back(call);
  }
  for (const Acknowledged& each : acknowledged) {
    if (each.at <= count) earlier.acknowledged.push_back(each);
  }
  return earlier;
}

// 10 nodes in a chain, 8 branches of which 4 have a second node, a join, 11 in a chain, and six at
// the end.
Graph<Journey> forty_nodes(Outside& outside) {
  GraphBuilder<Journey> graph{"forty"};
  graph.one_run_per_thread();
  add_chain(graph, "a", 10);
  graph.edge(start, "a0");
  std::vector<std::string> ends;
  for (int i = 0; i < kBranches; ++i) {
    std::string name = numbered("b", i);
    graph.node(name, walk(name, i));
    graph.edge("a9", name);
    ends.push_back(name);
    if (i % 2 == 0) continue;
    ends.back() = numbered("c", i);
    graph.node(ends.back(), note(ends.back()));
    graph.edge(name, ends.back());
  }
  graph.node("gather", note("gather"));
  graph.join(std::vector<std::string_view>(ends.begin(), ends.end()), "gather");
  add_chain(graph, "d", 11);
  graph.approval("agree", &Journey::sum, {.question = "Is the sum right?"})
      .approved("d0")
      .rejected(end)
      .decision_flag(&Journey::agreed);
  graph.edge("gather", "agree");
  add_effects(graph, outside);
  graph.edge("d10", "retried").edge("retried", "pay").edge("pay", "mail").edge("mail", "ticket");
  graph.node("last", note("last"));
  graph.edge("ticket", "last").edge("last", end);
  return std::move(graph).build().value();
}

// Records the acknowledged commits.
class Process::AcknowledgingStore final : public ForwardingStore {
 public:
  AcknowledgingStore(std::unique_ptr<Store> inner, Outside& outside)
      : ForwardingStore(*inner), owned_(std::move(inner)), outside_(outside) {}

  Task<Result<CommitOutcome>> commit(Commit commit) override {
    std::optional<CheckpointRow> checkpoint = commit.rows.checkpoint;
    auto outcome = co_await inner().commit(std::move(commit));
    if (checkpoint && outcome.ok() && *outcome == CommitOutcome::applied) {
      outside_.acknowledged.push_back({outside_.now(), checkpoint->run, checkpoint->seq});
    }
    co_return std::move(outcome);
  }

 private:
  std::unique_ptr<Store> owned_;
  Outside& outside_;
};

Result<std::unique_ptr<Process>> Process::begin(const std::string& folder, Outside& outside,
                                                Instant begins, std::uint64_t seed) {
  StoreOpener open = [&folder](Clock& clock, Random& random) {
    return open_sqlite_store(folder + "/store.db", clock, random);
  };
  return begin_on(open, outside, begins, seed);
}

Result<std::unique_ptr<Process>> Process::begin_on(const StoreOpener& open, Outside& outside,
                                                   Instant begins, std::uint64_t seed) {
  auto process = std::make_unique<Process>(outside, begins, seed);
  BELAY_TRY(std::unique_ptr<Store> store, open(process->clock_, process->random_));
  store = std::make_unique<testing::InlineStore>(std::move(store));
  process->store_ = std::make_unique<AcknowledgingStore>(std::move(store), outside);
  RuntimeParts parts{*process->store_, process->loop_, process->clock_, process->random_,
                     process->model_};
  BELAY_TRY(process->runtime_, Runtime::open(std::move(parts)));
  process->runtime_->add(process->graph_);
  return process;
}

Process::Process(Outside& outside, Instant begins, std::uint64_t seed)
    : clock_(begins),
      random_(seed),
      loop_(clock_),
      outside_(outside),
      graph_(forty_nodes(outside)) {}

Process::~Process() = default;

template <typename T>
Result<T> Process::wait(Task<Result<T>> task) {
  std::optional<Result<T>> result;
  std::function<void(Result<T>)> done = [&](Result<T> value) {
    result.emplace(std::move(value));
    loop_.stop();
  };
  Spawned running = spawn<Result<T>>(loop_, std::move(task), std::move(done));
  if (!result) loop_.run_until(clock_.now() + kWaitMax);
  if (!result) return error(ErrorCode::exhausted, "It waits without end.");
  return *std::move(result);
}

Result<RunView> Process::play(bool decides, const std::string& name) {
  ThreadId thread(name);
  for (int calls = 0; calls < kCallsMax; ++calls) {
    auto view = wait(runtime_->status(default_tenant(), thread));
    if (!view.ok() && view.error().code == ErrorCode::not_found) {
      StartOptions options;
      options.thread = thread;
      BELAY_CHECK(wait(runtime_->start(graph_, Journey{}, options)));
      continue;
    }
    if (!view.ok() || is_final(view->row.status)) return view;
    if (view->row.status == RunStatus::paused && view->row.reason == "approval" && !decides) {
      return view;
    }
    BELAY_CHECK(move_on(*view));
  }
  return error(ErrorCode::exhausted, "The run does not come to its end.");
}

Result<Done> Process::move_on(const RunView& view) {
  if (view.row.status != RunStatus::paused) {
    BELAY_CHECK(wait(runtime_->resume(default_tenant(), view.row.thread)));
  } else if (view.row.reason == "approval") {
    // A short read: the page with the approval was read as zeros.
    if (!view.approval) return error(ErrorCode::corrupt, "The approval was not found.");
    Decision decision;
    decision.approved = true;
    decision.decided_by = "ana";
    BELAY_TRY(ApprovalTerms terms, terms_of(*view.approval));
    if (terms.find("happened")) decision.choice = "happened";
    BELAY_CHECK(wait(runtime_->decide(default_tenant(), view.approval->interrupt, decision)));
  } else {
    if (view.row.due_at > clock_.now()) clock_.move(view.row.due_at - clock_.now());
    BELAY_CHECK(wait(runtime_->process_due(default_tenant())));
  }
  return Done{};
}

Result<std::string> Process::violations() {
  CheckScope scope;
  scope.graphs = {graph_.definition()};
  for (const auto& each : outside_.acknowledged)
    scope.acknowledged.emplace_back(each.run, each.seq);
  scope.collections = {std::string(Ticket::collection)};
  BELAY_TRY(CheckReport report, wait(check_store(*store_, std::move(scope))));
  std::string told;
  for (const Violation& each : report.violations) {
    told += each.rule + " " + each.subject + ": " + each.message + "\n";
  }
  return told;
}

}  // namespace belay::disk
