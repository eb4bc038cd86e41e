#include <algorithm>
#include <atomic>

#include "belay/telemetry.h"
#include "belay/value.h"
#include "store/forwarding_store.h"
#include "telemetry/failure_watch.h"
#include "telemetry/families.h"

namespace belay {
namespace {

constexpr std::size_t kMessageBytesMax = 500;

// The event of a commit of a run, and how serious it is.
struct CommitEvent {
  std::string_view event;
  LogLevel level = LogLevel::info;
};

CommitEvent event_of(CommitKind kind, RunStatus status) {
  if (status == RunStatus::failed) return {"run.failed", LogLevel::error};
  if (status == RunStatus::cancelled) return {"run.cancelled", LogLevel::warning};
  if (status == RunStatus::completed) return {"run.completed", LogLevel::info};
  switch (kind) {
    case CommitKind::input:
      return {"run.started", LogLevel::info};
    case CommitKind::fork:
      return {"run.forked", LogLevel::info};
    case CommitKind::claim:
      return {"run.claimed", LogLevel::info};
    case CommitKind::release:
      return {"run.released", LogLevel::info};
    case CommitKind::pause:
      return {"run.paused", LogLevel::info};
    case CommitKind::decision:
      return {"run.decided", LogLevel::debug};
    case CommitKind::expiry:
      return {"run.expired", LogLevel::warning};
    case CommitKind::quarantine:
      return {"run.quarantined", LogLevel::error};
    case CommitKind::consent:
      return {"run.consented", LogLevel::info};
    case CommitKind::attempt:
      return {"node.failed", LogLevel::warning};
    case CommitKind::node:
    case CommitKind::timer:
    case CommitKind::failure:
    case CommitKind::cancel:
      break;
  }
  return {"run.committed", LogLevel::debug};
}

// The entries and the counts of a commit, if it is applied. Made before it, because its rows are
// moved.
struct CommitFacts {
  std::vector<LogEntry> entries;
  std::string agent;  // empty: no run, or nothing to count
  std::string node;
  CommitKind kind = CommitKind::node;
  RunStatus status = RunStatus::running;
  std::int64_t worked_ms = 0;
  std::size_t opened = 0;
  std::optional<ApprovalStatus> decided;
  std::string decided_agent;
  bool is_import = false;
};

std::string shortened_message(const std::string& message) {
  if (message.size() <= kMessageBytesMax) return message;
  std::size_t size = kMessageBytesMax;
  // Cuts between two characters.
  while (size > 0 && (static_cast<unsigned char>(message[size]) & 0xc0) == 0x80) --size;
  return message.substr(0, size) + "...";
}

// "answer/deeper/" for the namespace "answer:ID|deeper:ID".
std::string nodes_in(std::string_view space) {
  std::string nodes;
  while (!space.empty()) {
    std::size_t end = std::min(space.find('|'), space.size());
    std::string_view part = space.substr(0, end);
    nodes += std::string(part.substr(0, part.rfind(':'))) + "/";
    space.remove_prefix(std::min(end + 1, space.size()));
  }
  return nodes;
}

class ObservedStore final : public ForwardingStore {
 public:
  ObservedStore(Store& inner, Clock& clock, Telemetry telemetry, const FailureAlert& alert)
      : ForwardingStore(inner), clock_(clock), telemetry_(telemetry), watch_(alert, telemetry) {}

  Task<Result<CommitOutcome>> commit(Commit commit) override {
    CommitFacts facts = facts_of(commit.rows, commit);
    std::optional<CommitFacts> if_expired;
    if (commit.if_expired) if_expired = facts_of(*commit.if_expired, commit);
    Instant began = clock_.now();
    auto outcome = co_await inner().commit(std::move(commit));
    Instant now = clock_.now();
    count_commit(outcome, now - began);
    bool is_expired = outcome.ok() && *outcome == CommitOutcome::expired;
    bool is_applied = outcome.ok() && *outcome == CommitOutcome::applied;
    if (is_expired && if_expired) report(std::move(*if_expired), now);
    if (is_applied) report(std::move(facts), now);
    if (!outcome.ok()) report_error(outcome.error());
    note_availability(outcome.ok() ? nullptr : &outcome.error(), false);
    co_return std::move(outcome);
  }

  // Workers poll all the time: an alert clears even if no more runs end.
  Task<Result<std::vector<RunRow>>> poll_runs(PollFilter filter) override {
    watch_.look(clock_.now());
    auto runs = co_await inner().poll_runs(std::move(filter));
    note_availability(runs.ok() ? nullptr : &runs.error(), true);
    co_return std::move(runs);
  }

  Task<Result<Done>> read(Reader reader) override {
    auto done = co_await inner().read(std::move(reader));
    note_availability(done.ok() ? nullptr : &done.error(), true);
    co_return std::move(done);
  }

 private:
  bool wants(LogLevel level) const { return telemetry_.log && telemetry_.log->wants(level); }

  CommitFacts facts_of(const CommitRows& rows, const Commit& commit) const {
    CommitFacts facts;
    facts.is_import = commit.imports;
    facts.opened = rows.opened.size();
    if (rows.decided) {
      facts.decided = rows.decided->status;
      facts.decided_agent = rows.decided->graph;
    }
    if (rows.run && rows.checkpoint) take_run(rows, facts);
    add_inner_failures(rows, facts);
    add_decision(rows, facts);
    add_messages(rows, facts);
    add_deletions(rows, facts);
    return facts;
  }

  void take_run(const CommitRows& rows, CommitFacts& facts) const {
    const RunRow& run = *rows.run;
    facts.kind = rows.checkpoint->kind;
    facts.status = run.status;
    bool is_plain = facts.kind == CommitKind::node && !is_final(run.status);
    if (is_plain && facts.opened == 0 && !wants(LogLevel::debug)) return;
    facts.agent = run.graph;
    facts.node = rows.checkpoint->node;
    facts.worked_ms = run.worked_ms;
    CommitEvent found = event_of(facts.kind, run.status);
    if (facts.is_import) found = {"run.imported", LogLevel::info};
    if (!wants(found.level)) return;
    LogEntry entry;
    entry.level = found.level;
    entry.event = found.event;
    entry.fields = {{"agent", run.graph},
                    {"thread", run.thread.text},
                    {"run", run.run.text()},
                    {"seq", std::to_string(run.seq)}};
    add_details(run, *rows.checkpoint, entry);
    add_from_events(rows, entry);
    facts.entries.push_back(std::move(entry));
  }

  // A failed attempt within a subgraph. Its commit has no row of the run, and not its error.
  void add_inner_failures(const CommitRows& rows, CommitFacts& facts) const {
    for (const CheckpointRow& inner : rows.inner_checkpoints) {
      if (inner.kind != CommitKind::attempt || !wants(LogLevel::warning)) continue;
      LogEntry entry;
      entry.level = LogLevel::warning;
      entry.event = "node.failed";
      entry.fields = {{"run", inner.run.text()},
                      {"node", nodes_in(inner.checkpoint_ns) + inner.node}};
      entry.message = "An attempt within a subgraph failed; it will be repeated.";
      facts.entries.push_back(std::move(entry));
    }
  }

  static void add_details(const RunRow& run, const CheckpointRow& checkpoint, LogEntry& entry) {
    auto add = [&entry](const char* name, std::string value) {
      if (!value.empty()) entry.fields.emplace_back(name, std::move(value));
    };
    add("node", checkpoint.node);
    if (checkpoint.kind == CommitKind::attempt) {
      add("failedAttempts", std::to_string(run.retry_count));
    }
    add("reason", run.reason);
    if (run.status == RunStatus::completed) add("outcome", run.outcome);
    if (is_final(run.status)) add("workedMs", std::to_string(run.worked_ms));
    add("code", run.error_code);
    entry.message = shortened_message(run.error);
  }

  // The error of a failed attempt and the nodes that a release abandons are in the events.
  static void add_from_events(const CommitRows& rows, LogEntry& entry) {
    CommitKind kind = rows.checkpoint->kind;
    if (kind != CommitKind::attempt && kind != CommitKind::release) return;
    for (const EventRow& event : rows.events) {
      auto body = parse_json(event.body);
      if (!body.ok()) continue;
      if (const std::string* failed = (*body)["error"].as_string()) {
        entry.message = shortened_message(*failed);
      }
      const Value::Array* nodes = (*body)["givenUp"].as_array();
      std::string abandoned;
      for (const Value& node : nodes ? *nodes : Value::Array()) {
        const std::string* name = node.as_string();
        if (name) abandoned += (abandoned.empty() ? "" : ",") + *name;
      }
      if (!abandoned.empty()) entry.fields.emplace_back("abandoned", std::move(abandoned));
    }
  }

  void add_decision(const CommitRows& rows, CommitFacts& facts) const {
    if (!rows.decided || !wants(LogLevel::info)) return;
    const ApprovalRow& decided = *rows.decided;
    LogEntry entry;
    if (decided.status == ApprovalStatus::expired) entry.level = LogLevel::warning;
    entry.event = "approval." + std::string(name_of(decided.status));
    entry.fields = {{"approval", decided.interrupt.text()}, {"run", decided.run.text()}};
    if (!decided.decided_by.empty()) entry.fields.emplace_back("by", decided.decided_by);
    facts.entries.push_back(std::move(entry));
  }

  void add_messages(const CommitRows& rows, CommitFacts& facts) const {
    if (!wants(LogLevel::warning)) return;
    for (const OutboxRow& message : rows.outbox) {
      if (message.status != OutboxStatus::given_up) continue;
      LogEntry entry;
      entry.level = LogLevel::warning;
      entry.event = "message.discarded";
      entry.fields = {{"run", message.run.text()},
                      {"topic", message.topic},
                      {"attempts", std::to_string(message.attempts)}};
      facts.entries.push_back(std::move(entry));
    }
  }

  void add_deletions(const CommitRows& rows, CommitFacts& facts) const {
    auto is_whole = [](const PruneRun& each) { return !each.before_seq; };
    auto runs = std::count_if(rows.prune.begin(), rows.prune.end(), is_whole);
    if (runs == 0 || !wants(LogLevel::info)) return;
    LogEntry entry;
    entry.event = "runs.deleted";
    entry.fields = {{"runs", std::to_string(runs)}};
    facts.entries.push_back(std::move(entry));
  }

  static std::string_view outcome_name(const Result<CommitOutcome>& outcome) {
    if (!outcome.ok()) return "error";
    switch (*outcome) {
      case CommitOutcome::applied:
        return "applied";
      case CommitOutcome::expired:
        return "expired";
      case CommitOutcome::fenced:
        return "fenced";
      case CommitOutcome::approval_closed:
        return "approval_closed";
      case CommitOutcome::exists:
        return "exists";
      case CommitOutcome::limit_reached:
        return "limit_reached";
      case CommitOutcome::thread_changed:
        return "thread_changed";
      case CommitOutcome::record_changed:
        return "record_changed";
    }
    return "";
  }

  void count_commit(const Result<CommitOutcome>& outcome, std::chrono::microseconds time) const {
    if (!telemetry_.metrics) return;
    telemetry_.metrics->observe(telemetry::kCommitSeconds, {{"outcome", outcome_name(outcome)}},
                                std::chrono::duration<double>(time).count());
  }

  void report(CommitFacts facts, Instant now) {
    if (telemetry_.log) {
      for (LogEntry& entry : facts.entries) telemetry_.log->write(std::move(entry));
    }
    if (facts.is_import) return;
    if (telemetry_.metrics) count_run(*telemetry_.metrics, facts);
    if (!facts.agent.empty() && is_final(facts.status)) count_end(facts, now);
  }

  static void count_run(Metrics& metrics, const CommitFacts& facts) {
    if (facts.decided) {
      metrics.add(telemetry::kApprovalsDecided,
                  {{"agent", facts.decided_agent}, {"decision", name_of(*facts.decided)}});
    }
    if (facts.agent.empty()) return;
    if (facts.opened > 0) {
      metrics.add(telemetry::kApprovalsOpened, {{"agent", facts.agent}},
                  static_cast<double>(facts.opened));
    }
    bool is_start = facts.kind == CommitKind::input || facts.kind == CommitKind::fork;
    if (is_start) metrics.add(telemetry::kRunsStarted, {{"agent", facts.agent}});
    if (facts.kind == CommitKind::attempt) {
      metrics.add(telemetry::kAttemptsFailed, {{"agent", facts.agent}, {"node", facts.node}});
    }
    if (!is_final(facts.status)) return;
    metrics.add(telemetry::kRunsEnded, {{"agent", facts.agent}, {"status", name_of(facts.status)}});
    metrics.observe(telemetry::kRunSeconds, {{"agent", facts.agent}},
                    static_cast<double>(facts.worked_ms) / 1e3);
  }

  // A cancelled run is neither a success nor a failure.
  void count_end(const CommitFacts& facts, Instant now) {
    if (facts.status == RunStatus::cancelled) return;
    watch_.count(facts.status == RunStatus::failed, now);
  }

  // Logs the first of several accesses that find the store unavailable, and the first after them
  // that succeeds. `reports`: the failure itself is not logged otherwise.
  void note_availability(const Error* failed, bool reports) {
    if (!failed) {
      // Read first: a write by each access would contend for the cache line.
      if (!is_unavailable_.load(std::memory_order_relaxed)) return;
      if (!is_unavailable_.exchange(false) || !wants(LogLevel::info)) return;
      LogEntry entry;
      entry.level = LogLevel::info;
      entry.event = "store.recovered";
      telemetry_.log->write(std::move(entry));
      return;
    }
    if (failed->code != ErrorCode::unavailable) return;
    bool is_first = !is_unavailable_.exchange(true);
    if (is_first && reports) report_error(*failed);
  }

  void report_error(const Error& failed) const {
    if (!wants(LogLevel::error)) return;
    LogEntry entry;
    entry.level = LogLevel::error;
    entry.event = "store.failed";
    entry.fields = {{"code", std::string(name_of(failed.code))}};
    entry.message = shortened_message(failed.message);
    telemetry_.log->write(std::move(entry));
  }

  Clock& clock_;
  const Telemetry telemetry_;
  std::atomic<bool> is_unavailable_ = false;
  telemetry::FailureWatch watch_;
};

}  // namespace

std::unique_ptr<Store> make_observed_store(Store& inner, Clock& clock, Telemetry telemetry,
                                           FailureAlert alert) {
  return std::make_unique<ObservedStore>(inner, clock, telemetry, alert);
}

}  // namespace belay
