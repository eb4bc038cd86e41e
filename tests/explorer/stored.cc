#include "tests/explorer/stored.h"

#include <algorithm>

#include "belay/check.h"
#include "store/memory/memory_snapshot.h"
#include "tests/conformance/store_suite.h"
#include "tests/explorer/call.h"

namespace belay::explorer {
namespace {

constexpr std::size_t every = 1'000;

void read_rows(Stored& stored) {
  store::MemorySnapshot view(stored.tables);
  RunFilter runs;
  runs.tenant = default_tenant();
  auto rows = view.runs(runs).value();
  if (rows.empty()) return;
  stored.runs.assign(rows.rbegin(), rows.rend());
  auto current = std::find_if(stored.runs.begin(), stored.runs.end(),
                              [](const RunRow& run) { return !is_final(run.status); });
  stored.run = current == stored.runs.end() ? stored.runs.back() : *current;
  for (const RunRow& run : stored.runs) {
    CheckpointFilter checkpoints{default_tenant(), run.run};
    checkpoints.limit = every;
    auto of_run = view.checkpoints(checkpoints).value();
    stored.checkpoints.insert(stored.checkpoints.end(), of_run.rbegin(), of_run.rend());
  }
  for (int session = 0; session < sessions_max; ++session) {
    bool is_named =
        std::any_of(stored.checkpoints.begin(), stored.checkpoints.end(),
                    [&](const auto& row) { return row.session == session_id(session); });
    if (is_named) stored.sessions.push_back(session);
  }
  ApprovalFilter approvals;
  approvals.tenant = default_tenant();
  stored.approvals = view.approvals(approvals).value();
  RecordQuery sent;
  sent.tenant = default_tenant();
  sent.collection = "notes";
  sent.user = stored.run->user;
  stored.sent = view.records(sent).value().size();
  ValueFilter values;
  values.tenant = default_tenant();
  values.run = stored.runs.front().run;
  values.at_seq = every;
  values.every_version = true;
  std::vector<ValueRow> written = view.values(values).value();
  for (const ValueRow& value : written) {
    if (value.channel != "log") continue;
    stored.entries.emplace_back(json_in_envelope(value.envelope).value());
  }
}

bool is_there_twice(std::vector<std::string> names, std::string& which) {
  std::sort(names.begin(), names.end());
  auto twice = std::adjacent_find(names.begin(), names.end());
  if (twice == names.end()) return false;
  which = *twice;
  return true;
}

std::vector<std::string> nodes_ended(const Stored& stored, const RunId& run) {
  std::vector<std::string> nodes;
  for (const CheckpointRow& row : stored.checkpoints) {
    if (row.run != run) continue;
    bool ends = row.kind == CommitKind::node || row.kind == CommitKind::decision ||
                row.kind == CommitKind::expiry;
    if (!ends) continue;
    std::size_t begin = 0;
    while (begin <= row.node.size()) {
      std::size_t comma = std::min(row.node.find(',', begin), row.node.size());
      nodes.push_back(row.node.substr(begin, comma - begin));
      begin = comma + 1;
    }
  }
  return nodes;
}

// The graphs have no cycle: each node must be committed once, and only approved text may be sent.
void judge_nodes(Stored& stored) {
  std::string which;
  for (const RunRow& run : stored.runs) {
    if (is_there_twice(nodes_ended(stored, run.run), which)) {
      stored.wrong.push_back("The node \"" + which + "\" was committed twice.");
    }
    if (run.status == RunStatus::failed) {
      stored.wrong.push_back("The run failed: " + run.error);
    }
  }
  if (stored.runs.size() > 2) stored.wrong.push_back("Two keys have named three runs.");
  if (is_there_twice(stored.entries, which)) {
    stored.wrong.push_back("The log has " + which + " twice.");
  }
  if (stored.approvals.size() > 1) stored.wrong.push_back("One node asked twice.");
  bool approved =
      !stored.approvals.empty() && stored.approvals[0].status == ApprovalStatus::approved;
  if (stored.sent > 0 && !approved) stored.wrong.push_back("It was sent without an approval.");
  if (!stored.run || !is_final(stored.run->status)) return;
  bool completed = stored.run->status == RunStatus::completed && !stored.approvals.empty();
  if (completed && (stored.sent > 0) != approved) {
    stored.wrong.push_back("The run has completed, and what was decided was not done.");
  }
}

}  // namespace

const CheckpointRow* Stored::checkpoint(const CheckpointId& id) const {
  for (const CheckpointRow& row : checkpoints) {
    if (row.id == id) return &row;
  }
  return nullptr;
}

const RunRow* Stored::run_of(const RunId& wanted) const {
  auto found =
      std::find_if(runs.begin(), runs.end(), [&](const RunRow& row) { return row.run == wanted; });
  return found == runs.end() ? nullptr : &*found;
}

bool Stored::has_ended(std::size_t runs_wanted) const {
  return runs.size() >= runs_wanted && std::all_of(runs.begin(), runs.end(), [](const RunRow& row) {
           return is_final(row.status);
         });
}

bool Stored::names(int session) const {
  return std::find(sessions.begin(), sessions.end(), session) != sessions.end();
}

// The contents under check, as a read-only store.
class StoredContents::View final : public Store {
 public:
  Task<Result<CommitOutcome>> commit(Commit) override {
    co_return error(ErrorCode::invalid, "It can only be read.");
  }
  Task<Result<Done>> read(Reader reader) override {
    store::MemorySnapshot snapshot(shown->tables);
    co_return reader(snapshot);
  }
  Result<SessionId> open_session() override { return SessionId(); }
  void close_session(const SessionId&) override {}
  Result<bool> is_alive(const SessionId&) override { return false; }

  const Stored* shown = nullptr;
  conformance::Caller caller{*this};
};

StoredContents::StoredContents(std::shared_ptr<const GraphDefinition> graph)
    : graph_(std::move(graph)), view_(std::make_unique<View>()) {
  keep(store::Tables());
}

StoredContents::~StoredContents() = default;

const Stored& StoredContents::keep(store::Tables tables) {
  Stored& stored = contents_.emplace_back(std::move(tables));
  view_->shown = &stored;
  auto [known, is_new] =
      by_text_.try_emplace(sha256(view_->caller.rows(default_tenant())), contents_.size() - 1);
  if (!is_new) {
    contents_.pop_back();
    return contents_[known->second];
  }
  stored.number = known->second;
  read_rows(stored);
  judge_nodes(stored);
  CheckScope scope;
  scope.graphs = {graph_};
  scope.collections = {"notes"};
  auto report = block_on(view_->caller.loop(), check_store(*view_, std::move(scope)));
  if (!report.ok()) {
    stored.wrong.push_back("The store can't be read: " + report.error().message);
    return stored;
  }
  for (const Violation& each : report->violations) {
    stored.wrong.push_back(each.rule + ": " + each.message);
  }
  return stored;
}

namespace {

void judge_history(const Stored& before, const Stored& after, std::vector<std::string>& wrong) {
  for (const CheckpointRow& was : before.checkpoints) {
    const CheckpointRow* is = after.checkpoint(was.id);
    if (!is || !(*is == was)) {
      wrong.push_back("I1: A commit that was there is gone, or was changed.");
    }
  }
  if (after.checkpoints.size() > before.checkpoints.size() + 1) {
    wrong.push_back("I2: One commit made two.");
  }
  if (before.number == after.number) return;
  for (const RunRow& was : before.runs) {
    const RunRow* is = after.run_of(was.run);
    if (!is) {
      wrong.push_back("I1: A run is gone.");
      continue;
    }
    if (is->epoch < was.epoch) {
      wrong.push_back("I3: The epoch fell from " + std::to_string(was.epoch) + " to " +
                      std::to_string(is->epoch) + ".");
    }
    if (is_final(was.status) && is->seq != was.seq) {
      wrong.push_back("P3: A commit came after the end.");
    }
  }
}

void judge_approvals(const Stored& before, const Stored& after, Instant now,
                     std::vector<std::string>& wrong) {
  for (const ApprovalRow& was : before.approvals) {
    auto is = std::find_if(after.approvals.begin(), after.approvals.end(),
                           [&](const ApprovalRow& row) { return row.interrupt == was.interrupt; });
    if (is == after.approvals.end()) {
      wrong.push_back("I5: An approval is gone.");
      continue;
    }
    if (*is == was) continue;
    if (was.status != ApprovalStatus::open) wrong.push_back("I5: It was decided a second time.");
    bool says_yes_or_no =
        is->status == ApprovalStatus::approved || is->status == ApprovalStatus::rejected;
    bool has_passed = was.expires_at <= now;
    if (says_yes_or_no && has_passed) wrong.push_back("I5: It was decided after its expiry.");
    if (is->status == ApprovalStatus::expired && !has_passed) {
      wrong.push_back("I5: It expired before its time.");
    }
  }
}

}  // namespace

std::vector<std::string> judge_commit(const Stored& before, const Stored& after,
                                      const Commit& commit, const Result<CommitOutcome>& outcome,
                                      Instant now) {
  std::vector<std::string> wrong;
  if (!outcome.ok()) {
    wrong.push_back("The store refused a commit: " + outcome.error().message);
    return wrong;
  }
  judge_history(before, after, wrong);
  judge_approvals(before, after, now, wrong);
  bool wrote = *outcome == CommitOutcome::applied || *outcome == CommitOutcome::expired;
  if (!wrote && before.number != after.number) wrong.push_back("It was refused, and written.");
  const std::optional<CheckpointRow>& made =
      *outcome == CommitOutcome::expired ? commit.if_expired->checkpoint : commit.rows.checkpoint;
  if (!made) return wrong;
  bool is_there = after.checkpoint(made->id) != nullptr;
  if (wrote && !is_there) wrong.push_back("I1: It was acknowledged, and is not there.");
  if (!wrote && is_there) wrong.push_back("It is there, and was not acknowledged when sent again.");
  return wrong;
}

}  // namespace belay::explorer
