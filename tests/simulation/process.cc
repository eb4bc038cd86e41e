#include "tests/simulation/process.h"

#include "langgraph/agent_server.h"
#include "langgraph/run_records.h"
#include "scheduler/scheduler.h"
#include "service/local_service.h"
#include "store/enum_names.h"
#include "store/forwarding_store.h"
#include "store/sqlite/sqlite_store.h"

namespace belay::simulation {
namespace {

using namespace std::chrono_literals;

std::string outcome_text(const Result<CommitOutcome>& outcome) {
  if (!outcome.ok()) return std::string(name_of(outcome.error().code));
  switch (*outcome) {
    case CommitOutcome::applied:
      return "applied";
    case CommitOutcome::expired:
      return "expired";
    case CommitOutcome::fenced:
      return "fenced";
    case CommitOutcome::approval_closed:
      return "approval closed";
    case CommitOutcome::limit_reached:
      return "no place";
    case CommitOutcome::record_changed:
      return "record changed";
    case CommitOutcome::thread_changed:
      return "thread changed";
    case CommitOutcome::exists:
      break;
  }
  return "exists";
}

}  // namespace

// Logs each commit, and records the acknowledged commits and done effects.
class Process::SeenStore final : public ForwardingStore {
 public:
  SeenStore(Machine& machine, ProcessId process, std::unique_ptr<Store> inner)
      : ForwardingStore(*inner), machine_(machine), process_(process), owned_(std::move(inner)) {}

  Task<Result<CommitOutcome>> commit(Commit commit) override {
    // Copies the rows that are checked later, because the commit itself is moved into the store.
    CommitRows rows = seen_of(commit.rows);
    CommitRows if_expired;
    if (commit.if_expired) if_expired = seen_of(*commit.if_expired);
    std::string thread = thread_of(commit);
    RunObservations::Stay stay;
    if (!thread.empty()) stay = machine_.sightings.enter(process_, thread, RunState::committing);
    std::string what = "commits " + told(commit, thread);
    if (machine_.loses_run_records) {
      std::erase_if(commit.rows.records, [](const RecordPut& put) {
        return put.collection == langgraph::RunRecord::collection;
      });
    }
    bool is_claim = rows.checkpoint && rows.checkpoint->kind == CommitKind::claim;
    if (is_claim && machine_.claims_take.count() > 0) co_await sleep_for(machine_.claims_take);
    auto outcome = co_await inner().commit(std::move(commit));
    machine_.log.tell(process_, what + ": " + outcome_text(outcome));
    stay.reset();
    if (outcome.ok() && *outcome == CommitOutcome::applied) acknowledge(rows);
    if (outcome.ok() && *outcome == CommitOutcome::expired) acknowledge(if_expired);
    co_return std::move(outcome);
  }

 private:
  static CommitRows seen_of(const CommitRows& rows) {
    CommitRows seen;
    seen.run = rows.run;
    seen.checkpoint = rows.checkpoint;
    for (const EffectRow& effect : rows.effects) {
      if (effect.status == EffectStatus::done) seen.effects.push_back(effect);
    }
    return seen;
  }

  std::string thread_of(const Commit& commit) {
    if (commit.rows.run) {
      machine_.threads[commit.rows.run->run] = commit.rows.run->thread.text;
      return commit.rows.run->thread.text;
    }
    if (!commit.run_guard) return "";
    auto known = machine_.threads.find(commit.run_guard->pending_for);
    return known == machine_.threads.end() ? "" : known->second;
  }

  static std::string told(const Commit& commit, const std::string& thread) {
    const CommitRows& rows = commit.rows;
    if (rows.checkpoint) {
      return thread + " " + std::to_string(rows.checkpoint->seq) + " epoch " +
             std::to_string(rows.checkpoint->epoch) + " " +
             std::string(belay::store::enum_name(rows.checkpoint->kind)) + " " +
             rows.checkpoint->node;
    }
    if (!rows.effects.empty()) {
      return thread + " effect " + rows.effects.front().name + " " +
             std::string(belay::store::enum_name(rows.effects.front().status));
    }
    if (rows.decided) return "a decision";
    if (commit.message_guard) return "a message's attempt";
    if (!rows.records.empty()) {
      const RecordPut& first = rows.records.front();
      return thread + " record of " + first.collection +
             (first.expected_version ? " after " + std::to_string(*first.expected_version) : "");
    }
    return thread + " in the midst";
  }

  void acknowledge(const CommitRows& rows) {
    if (rows.checkpoint) {
      machine_.acknowledged.emplace_back(rows.checkpoint->run, rows.checkpoint->seq);
    }
    if (rows.run) machine_.sightings.committed(process_, *rows.run);
    machine_.done_effects.insert(machine_.done_effects.end(), rows.effects.begin(),
                                 rows.effects.end());
  }

  Machine& machine_;
  ProcessId process_;
  std::unique_ptr<Store> owned_;
};

Process::Process(Machine& machine, ProcessId id, std::uint64_t seed)
    : machine_(machine),
      id_(id),
      seed_(seed),
      clock_(machine.agenda),
      random_(seed),
      executor_(machine.agenda, id),
      model_(machine.outside, id) {}

Process::~Process() {
  // Coroutines in progress must be destroyed before the runtime and the store that they use.
  tasks_.clear();
  api_.reset();
  service_.reset();
  runtime_.reset();
  store_.reset();
  machine_.agenda.forget(id_);
}

Store& Process::store() { return *store_; }

Result<Done> Process::open() {
  machine_.disk.opens_for(id_);
  sqlite::SqliteStoreOptions options;
  options.run_later = [this](std::function<void()> work) {
    machine_.agenda.after(id_, machine_.disk_time(), std::move(work));
  };
  options.at_commit = [this](std::uint64_t, bool after) {
    if (after && loses_reply_) machine_.disk.kill(id_);
  };
  BELAY_TRY(auto inner,
            sqlite::open_sqlite_store(machine_.store_path, clock_, random_, std::move(options)));
  store_ = std::make_unique<SeenStore>(machine_, id_, std::move(inner));
  RuntimeParts parts{*store_, executor_, clock_, random_, model_};
  parts.observer = [this](const ProgressEvent& event) {
    bool is_cut = event.kind == ProgressEvent::Kind::released && !event.message.empty();
    if (is_cut && !is_stopped_) {
      machine_.trouble("A drain gave up " + event.message + " of " + event.thread.text + ".");
    }
    if (event.kind != ProgressEvent::Kind::node_started) return;
    machine_.log.tell(id_, "begins " + event.node + " of " + event.thread.text + ", attempt " +
                               std::to_string(event.attempt));
  };
  BELAY_TRY(runtime_, Runtime::open(std::move(parts)));
  std::vector<std::shared_ptr<const GraphDefinition>> graphs;
  for (const Workload& workload : workloads()) {
    if (workload.only_if_planned && !machine_.has_service) continue;
    graphs.push_back(workload.graph(machine_.outside, id_));
    runtime_->add(graphs.back());
  }
  if (!machine_.has_service) return Done{};
  LocalServiceParts service_parts{*store_, *store_,           *runtime_, executor_, clock_,
                                  random_, std::move(graphs), {},        {}};
  service_ = make_local_service(std::move(service_parts));
  if (!machine_.has_agent_server) return Done{};
  server::Api::OwnRoutes own = [](server::ApiContext& world) {
    return langgraph::agent_server_routes(world, {});
  };
  server::ApiParts api_parts{*service_, executor_, clock_, random_};
  api_ = std::make_unique<server::Api>(std::move(api_parts), server::ApiOptions(), own);
  return Done{};
}

Task<Result<Done>> Process::schedule() {
  while (true) {
    scheduler::SchedulerParts parts{*store_, *service_, clock_, zones_, default_tenant()};
    auto started = co_await scheduler::process_due_schedules(std::move(parts));
    if (!started.ok()) machine_.log.tell(id_, "cannot decide ticks: " + started.error().message);
    co_await sleep_for(scheduler::poll_interval);
  }
}

void Process::stop() {
  is_stopped_ = true;
  runtime_->stop();
}

void Process::work() {
  DeliveryOptions delivery;
  delivery.timeout = 10s;
  delivery.retry = {.attempts = 1'000, .base = 500ms, .cap = 20s};
  Receiver receiver = [this](OutboxMessage message) {
    return machine_.outside.take_message(id_, std::move(message.id));
  };
  runtime_->deliver("shipped", std::move(receiver), delivery);
  if (machine_.has_service) begin<Done>(schedule(), [](Result<Done>) {});
  WorkerOptions options;
  options.runs_max = 8;
  options.poll_interval = 700ms;
  options.retry_delay_max = 5s;
  begin<std::size_t>(runtime_->run_worker(options), [this](Result<std::size_t> worked) {
    machine_.log.tell(
        id_, worked.ok() ? "has ended its work" : "can't go on: " + worked.error().message);
    is_over_ = true;
  });
}

void Process::tidy() {
  tasks_.remove_if([](const Begun& begun) { return begun.is_over; });
}

}  // namespace belay::simulation
