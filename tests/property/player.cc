#include "tests/property/player.h"

#include <algorithm>
#include <ostream>

#include "engine/next_task.h"

namespace belay::property {
namespace {

using namespace std::chrono_literals;

constexpr int kCallsMax = 400;

// Returns the task whose end a commit contains.
TaskId task_of(const CheckpointRow& checkpoint) {
  return engine::task_id(checkpoint.run, "", checkpoint.superstep - 1, checkpoint.node,
                         std::nullopt);
}

std::string next_node(const CheckpointRow& checkpoint) {
  auto next = engine::next_tasks_from(checkpoint.next_tasks);
  return next.ok() && !next->nodes.empty() ? next->nodes.front() : "-";
}

}  // namespace

void FailingStore::fail_at(const Crash& crash) {
  left_ = crash.after;
  way_ = crash.way;
}

Task<Result<CommitOutcome>> FailingStore::commit(Commit commit) {
  bool fails = left_ && (*left_)-- == 0;
  if (fails) left_.reset();
  if (fails && way_ == Crash::refuses) {
    co_return error(ErrorCode::unavailable, "The disk is full.");
  }
  if (!fails || way_ != Crash::loses_the_commit) {
    std::optional<CheckpointRow> checkpoint = commit.rows.checkpoint;
    CommitRows rows;
    if (when_acknowledged) rows = commit.rows;
    auto outcome = co_await inner().commit(std::move(commit));
    bool is_applied = outcome.ok() && *outcome == CommitOutcome::applied;
    if (!fails && is_applied && when_acknowledged) when_acknowledged(rows);
    bool is_written = outcome.ok() && *outcome == CommitOutcome::applied && checkpoint;
    if (is_written && checkpoint->kind == CommitKind::node) ++ended[task_of(*checkpoint)];
    if (!fails && is_written) acknowledged.emplace_back(checkpoint->run, checkpoint->seq);
    if (!fails) co_return std::move(outcome);
    if (way_ == Crash::is_uncertain) {
      co_return error(ErrorCode::uncertain, "The answer was lost.");
    }
  }
  has_died_ = true;
  if (when_it_dies) when_it_dies();
  Completion<Done> never;
  co_await never;
  co_return CommitOutcome::fenced;
}

std::string graph_name(const std::string& thread) { return "graph of " + thread; }

Player::Player(std::uint64_t seed) : random(seed) {
  store.when_it_dies = [this] { loop.stop(); };
  reopen();
}

void Player::reopen() {
  runtime.reset();
  store.revive();
  RuntimeParts parts{store, loop, clock, random, model};
  parts.observer = [this](const ProgressEvent& event) { watch(event); };
  runtime = Runtime::open(std::move(parts)).value();
  for (const Graph<Trail>& graph : graphs_) runtime->add(graph);
}

// Checks that no node starts whose end is durable.
void Player::watch(const ProgressEvent& event) {
  if (event.kind != ProgressEvent::Kind::node_started) return;
  RunFilter filter;
  filter.tenant = default_tenant();
  filter.run = event.run;
  auto found = std::make_shared<std::optional<CheckpointRow>>();
  Store::Reader reader = [event, found](Snapshot& view) -> Result<Done> {
    CheckpointFilter newest;
    newest.tenant = default_tenant();
    newest.run = event.run;
    newest.limit = 1;
    BELAY_TRY(auto rows, view.checkpoints(newest));
    if (!rows.empty()) *found = rows.front();
    return Done{};
  };
  // The memory store completes the read immediately.
  Spawned reading = spawn<Result<Done>>(loop, memory->read(reader), [](const Result<Done>&) {});
  if (!*found || next_node(**found) != event.node || event.seq != (*found)->seq) {
    faults.push_back("the node " + event.node + " began after commit " + std::to_string(event.seq) +
                     ", where it is not what comes next");
  }
}

Task<Result<RunView>> Player::begin(const Scenario& scenario, const std::string& thread) {
  std::string name = graph_name(thread);
  auto known = std::find_if(graphs_.begin(), graphs_.end(),
                            [&](const Graph<Trail>& each) { return each.name() == name; });
  if (known == graphs_.end()) {
    known = graphs_.insert(graphs_.end(), graph_of(scenario, name));
    runtime->add(*known);
  }
  StartOptions options;
  options.thread = ThreadId(thread);
  options.run.require_approval = scenario.require_approval;
  options.run.timeout = 24h * 365;
  Trail trail;
  trail.draft = "begun";
  trail.analysisResult.recommendations = {"first"};
  return runtime->start(*known, std::move(trail), std::move(options));
}

Decision Player::decision(int verdict) const {
  Decision decision;
  decision.approved = verdict != reject;
  decision.decided_by = "ana";
  decision.comment = "verdict " + std::to_string(verdict);
  if (verdict == edit) decision.edited = Value("edited");
  return decision;
}

void Player::decide(const RunView& view, int verdict) {
  if (verdict == cancel) {
    (void)try_wait(runtime->cancel(default_tenant(), view.row.thread, "ana"));
    return;
  }
  if (verdict == late || verdict == expire) clock.move(25h);
  if (verdict == expire) {
    (void)try_wait(runtime->process_due(default_tenant()));
    return;
  }
  auto answer =
      try_wait(runtime->decide(default_tenant(), view.approval->interrupt, decision(verdict)));
  if (answer && answer->ok()) note_end(Result<RunView>((*answer)->view));
}

void Player::note_end(const std::optional<Result<RunView>>& answer) {
  if (!answer || !answer->ok() || !is_final((*answer)->row.status)) return;
  const RunView& shown = **answer;
  RunView stored = status(shown.row.thread.text);
  if (shown.row == stored.row && shown.state == stored.state) return;
  faults.push_back("the run on " + shown.row.thread.text + " was shown as " + to_json(shown.state) +
                   ", and is stored as " + to_json(stored.state));
}

bool Player::move_on(const Scenario& scenario, const std::string& thread, std::size_t& decided) {
  if (store.has_died()) reopen();
  auto known = wait(runtime->status(default_tenant(), ThreadId(thread)));
  if (!known.ok()) {
    BELAY_ASSERT(known.error().code == ErrorCode::not_found);
    note_end(try_wait(begin(scenario, thread)));
    return true;
  }
  if (is_final(known->row.status)) return false;
  if (known->row.status != RunStatus::paused) {
    note_end(try_wait(runtime->resume(default_tenant(), ThreadId(thread))));
    return true;
  }
  auto asked = approvals(*known);
  decided = static_cast<std::size_t>(
      std::count_if(asked.begin(), asked.end(),
                    [](const ApprovalRow& each) { return each.status != ApprovalStatus::open; }));
  decide(*known, decided < scenario.verdicts.size() ? scenario.verdicts[decided] : approve);
  return true;
}

RunView Player::play(const Scenario& scenario, std::vector<Crash> crashes,
                     const std::string& thread) {
  std::reverse(crashes.begin(), crashes.end());
  std::size_t decided = 0;
  for (int call = 0; call < kCallsMax; ++call) {
    if (!crashes.empty() && !store.is_armed()) {
      store.fail_at(crashes.back());
      crashes.pop_back();
    }
    if (!move_on(scenario, thread, decided)) return status(thread);
  }
  faults.push_back("the run on " + thread + " does not come to its end");
  return status(thread);
}

RunView Player::play_until_asked(const Scenario& scenario, const std::string& thread) {
  return wait(begin(scenario, thread)).value();
}

RunView Player::status(const std::string& thread) {
  return wait(runtime->status(default_tenant(), ThreadId(thread))).value();
}

std::vector<CheckpointRow> Player::checkpoints(const RunView& view) {
  std::function<Result<std::vector<CheckpointRow>>(Snapshot&)> reader =
      [run = view.row.run](Snapshot& snapshot) {
        CheckpointFilter filter;
        filter.tenant = default_tenant();
        filter.run = run;
        filter.limit = 1'000;
        return snapshot.checkpoints(filter);
      };
  auto rows = wait(read<std::vector<CheckpointRow>>(*memory, std::move(reader))).value();
  std::reverse(rows.begin(), rows.end());
  return rows;
}

std::vector<ApprovalRow> Player::approvals(const RunView& view) {
  std::function<Result<std::vector<ApprovalRow>>(Snapshot&)> reader =
      [run = view.row.run](Snapshot& snapshot) {
        ApprovalFilter filter;
        filter.tenant = default_tenant();
        filter.run = run;
        filter.limit = 1'000;
        return snapshot.approvals(filter);
      };
  auto rows = wait(read<std::vector<ApprovalRow>>(*memory, std::move(reader))).value();
  std::reverse(rows.begin(), rows.end());
  return rows;
}

std::vector<EventRow> Player::events(const RunView& view) {
  std::function<Result<std::vector<EventRow>>(Snapshot&)> reader =
      [run = view.row.run](Snapshot& snapshot) {
        EventFilter filter;
        filter.tenant = default_tenant();
        filter.run = run;
        return snapshot.events(filter);
      };
  return wait(read<std::vector<EventRow>>(*memory, std::move(reader))).value();
}

std::vector<StoredRecord> Player::footprints() {
  std::function<Result<std::vector<StoredRecord>>(Snapshot&)> reader = [](Snapshot& snapshot) {
    RecordQuery query;
    query.tenant = default_tenant();
    query.collection = Footprint::collection;
    query.user = UserId("local");
    return snapshot.records(query);
  };
  return wait(read<std::vector<StoredRecord>>(*memory, std::move(reader))).value();
}

Outcome Player::outcome(const RunView& view) {
  Outcome told;
  told.status = name_of(view.row.status);
  told.outcome = view.row.outcome;
  told.error = view.row.error;
  told.node = view.row.node;
  told.retry_count = view.row.retry_count;
  told.state = to_json(view.state);
  for (const CheckpointRow& each : checkpoints(view)) {
    if (each.kind == CommitKind::claim) continue;
    told.commits.push_back(std::string(name_of(each.kind)) + " " + each.node + " -> " +
                           next_node(each));
  }
  for (const ApprovalRow& each : approvals(view)) {
    told.approvals.push_back(std::string(name_of(each.status)) + " " + each.node + " " +
                             to_hex(each.payload_hash) + " " + to_hex(each.edited_hash) + " " +
                             each.decided_by + " " + each.comment);
  }
  std::multiset<std::string> records;
  for (const StoredRecord& each : footprints()) {
    if (each.run != view.row.run) continue;
    auto json = json_in_envelope(each.envelope);
    records.insert((*parse_json(*json))["draft"].as_string()->c_str());
  }
  told.records.assign(records.begin(), records.end());
  for (const EventRow& each : events(view)) {
    if (each.type == "custom") told.events.push_back(each.body);
  }
  return told;
}

std::string Player::violations() { return violations(""); }

std::string Player::violations(std::string_view rule) {
  CheckScope scope;
  for (const Graph<Trail>& graph : graphs_) scope.graphs.push_back(graph.definition());
  scope.acknowledged = store.acknowledged;
  scope.collections = {std::string(Footprint::collection)};
  CheckReport report = wait(check_store(*memory, std::move(scope))).value();
  std::string told;
  for (const std::string& fault : faults) told += fault + "\n";
  for (const Violation& each : report.violations) {
    if (!rule.empty() && each.rule != rule) continue;
    told += each.rule + " " + each.subject + ": " + each.message + "\n";
  }
  for (const auto& [graph, runs] : report.runs_without_graph) told += "not known: " + graph + "\n";
  return told;
}

std::ostream& operator<<(std::ostream& out, const Outcome& outcome) {
  out << outcome.status << " at " << outcome.node << ", \"" << outcome.outcome << "\" \""
      << outcome.error << "\", retried " << outcome.retry_count << "\n  " << outcome.state;
  for (const auto* list :
       {&outcome.commits, &outcome.approvals, &outcome.records, &outcome.events}) {
    out << "\n ";
    for (const std::string& each : *list) out << " [" << each << "]";
  }
  return out;
}

}  // namespace belay::property
