#include "tests/crash/store_dump.h"

#include <algorithm>

#include "agents/wellbeing/records.h"
#include "agents/wellbeing/wellbeing.h"
#include "belay/check.h"
#include "tests/crash/store_files.h"

namespace belay::crash {
namespace {

constexpr std::size_t kRowsMax = 1000;

// Removes times, which differ between runs.
Value without_times(const Value& value) {
  if (const Value::Array* items = value.as_array()) {
    Value::Array kept;
    for (const Value& item : *items) kept.push_back(without_times(item));
    return kept;
  }
  const Value::Object* members = value.as_object();
  if (!members) return value;
  Value::Object kept;
  for (const auto& [name, member] : *members) {
    if (name != "createdAt") kept.insert_or_assign(name, without_times(member));
  }
  return kept;
}

Result<std::string> text_in(const std::string& envelope) {
  if (envelope.empty()) return std::string("-");
  BELAY_TRY(std::string_view json, json_in_envelope(envelope));
  BELAY_TRY(Value value, parse_json(json));
  return to_json(without_times(value));
}

std::string name_text(std::string_view name) { return std::string(name); }

class Look {
 public:
  explicit Look(Snapshot& view) : view_(view) {}

  Result<Sight> whole_store() {
    ThreadFilter filter;
    filter.tenant = default_tenant();
    filter.limit = kRowsMax;
    BELAY_TRY(std::vector<ThreadRow> threads, view_.threads(filter));
    std::sort(threads.begin(), threads.end(),
              [](const auto& a, const auto& b) { return a.thread < b.thread; });
    for (const ThreadRow& thread : threads) BELAY_CHECK(runs_of(thread));
    BELAY_CHECK(records());
    return std::move(sight_);
  }

 private:
  void add(const std::string& line) { sight_.outcome += line + "\n"; }

  Result<Done> runs_of(const ThreadRow& thread) {
    RunFilter filter;
    filter.tenant = thread.tenant;
    filter.thread = thread.thread;
    filter.limit = kRowsMax;
    BELAY_TRY(std::vector<RunRow> runs, view_.runs(filter));
    for (const RunRow& run : runs) {
      add("run " + run.thread.text + " of " + run.graph + " for " + run.user.text + ": " +
          name_text(name_of(run.status)) + " [" + run.outcome + "][" + run.reason + "][" +
          run.error + "] at " + run.node + ", " + std::to_string(run.retry_count) + " failed");
      BELAY_CHECK(commits_of(run));
      BELAY_CHECK(channels_of(run));
      BELAY_CHECK(approvals_of(run));
    }
    return Done{};
  }

  Result<Done> commits_of(const RunRow& run) {
    CheckpointFilter filter;
    filter.tenant = run.tenant;
    filter.run = run.run;
    filter.limit = kRowsMax;
    BELAY_TRY(std::vector<CheckpointRow> rows, view_.checkpoints(filter));
    std::reverse(rows.begin(), rows.end());
    for (const CheckpointRow& row : rows) {
      sight_.commits.emplace(std::pair(row.run, row.seq), row);
      if (row.kind == CommitKind::attempt) ++sight_.failed_attempts;
      if (row.kind == CommitKind::node) ++sight_.finished[run.thread.text + " " + row.node];
      if (row.kind == CommitKind::claim) continue;
      add("  " + name_text(name_of(row.kind)) + " " + row.node + ", superstep " +
          std::to_string(row.superstep) + ": " + name_text(name_of(row.status)));
    }
    return Done{};
  }

  Result<Done> channels_of(const RunRow& run) {
    ValueFilter filter;
    filter.tenant = run.tenant;
    filter.run = run.run;
    filter.at_seq = run.seq;
    BELAY_TRY(std::vector<ValueRow> rows, view_.values(filter));
    std::sort(rows.begin(), rows.end(),
              [](const auto& a, const auto& b) { return a.channel < b.channel; });
    for (const ValueRow& row : rows) {
      BELAY_TRY(std::string text, text_in(row.envelope));
      add("  " + row.channel + " = " + text);
    }
    return Done{};
  }

  Result<Done> approvals_of(const RunRow& run) {
    ApprovalFilter filter;
    filter.tenant = run.tenant;
    filter.run = run.run;
    filter.limit = kRowsMax;
    BELAY_TRY(std::vector<ApprovalRow> rows, view_.approvals(filter));
    for (const ApprovalRow& row : rows) {
      BELAY_TRY(std::string payload, text_in(row.payload));
      BELAY_TRY(std::string edited, text_in(row.edited));
      add("  approval at " + row.node + ": " + name_text(name_of(row.status)) + " by " +
          row.decided_by + " (" + row.comment + "), " + row.question + " " + payload + " " +
          edited);
    }
    return Done{};
  }

  Result<Done> records() {
    for (std::string_view collection :
         {wellbeing::Note::collection, wellbeing::DailySummary::collection,
          wellbeing::Routine::collection}) {
      RecordQuery query;
      query.tenant = default_tenant();
      query.collection = collection;
      query.user = UserId("local");
      query.limit = kRowsMax;
      BELAY_TRY(std::vector<StoredRecord> rows, view_.records(query));
      if (collection == wellbeing::Note::collection) sight_.notes = rows.size();
      for (const StoredRecord& row : rows) {
        BELAY_TRY(std::string text, text_in(row.envelope));
        add(row.collection + " " + row.key + " = " + text);
      }
    }
    return Done{};
  }

  Snapshot& view_;
  Sight sight_;
};

// An open store with the event loop on which its results are awaited.
class Opened {
 public:
  static Result<std::unique_ptr<Opened>> open(const std::string& folder) {
    auto opened = std::make_unique<Opened>();
    BELAY_TRY(opened->store_,
              open_sqlite_store(store_in(folder), *opened->clock_, *opened->random_));
    return opened;
  }
  Store& store() { return *store_; }
  EventLoop& loop() { return *loop_; }

 private:
  std::unique_ptr<Clock> clock_ = system_clock();
  std::unique_ptr<Random> random_ = system_random();
  std::unique_ptr<EventLoop> loop_ = make_event_loop();
  std::unique_ptr<Store> store_;
};

Result<CheckReport> report_on(const std::string& folder, Commits acknowledged) {
  CheckScope scope;
  BELAY_TRY(scope.graphs, wellbeing::wellbeing_graphs({}));
  scope.acknowledged = std::move(acknowledged);
  scope.collections = {std::string(wellbeing::DailySummary::collection),
                       std::string(wellbeing::Routine::collection)};
  BELAY_TRY(std::unique_ptr<Opened> opened, Opened::open(folder));
  return block_on(opened->loop(), check_store(opened->store(), std::move(scope)));
}

// Returns the first line in which the outcomes differ.
std::string difference(const std::string& wanted, const std::string& found) {
  auto place = std::mismatch(wanted.begin(), wanted.end(), found.begin(), found.end()).first;
  std::size_t line = wanted.substr(0, static_cast<std::size_t>(place - wanted.begin())).rfind('\n');
  line = line == wanted.npos ? 0 : line + 1;
  return "another outcome:\n  wanted: " + wanted.substr(line, 400) +
         "\n  found:  " + found.substr(std::min(line, found.size()), 400);
}

}  // namespace

Result<Sight> look_at(const std::string& folder) {
  BELAY_TRY(std::unique_ptr<Opened> opened, Opened::open(folder));
  std::function<Result<Sight>(Snapshot&)> reader = [](Snapshot& view) {
    return Look(view).whole_store();
  };
  return block_on(opened->loop(), read<Sight>(opened->store(), std::move(reader)));
}

std::vector<std::string> losses(const Sight& before, const Sight& now) {
  std::vector<std::string> found;
  for (const auto& [commit, row] : before.commits) {
    auto same = now.commits.find(commit);
    std::string name = "commit " + std::to_string(commit.second) + " of " + commit.first.text();
    if (same == now.commits.end()) {
      found.push_back(name + " is lost");
    } else if (same->second != row) {
      found.push_back(name + " is another one now");
    }
  }
  if (now.notes < before.notes) found.emplace_back("notes are lost");
  return found;
}

std::vector<std::string> judge(const std::string& folder, const Sight& seen, const Commits& told,
                               const Sight& wanted) {
  auto sight = look_at(folder);
  if (!sight.ok()) return {"the store can't be read: " + sight.error().message};
  std::vector<std::string> faults = losses(seen, *sight);
  if (sight->outcome != wanted.outcome) {
    faults.push_back(difference(wanted.outcome, sight->outcome));
  }
  Commits acknowledged = told;
  for (const auto& [commit, row] : seen.commits) acknowledged.push_back(commit);
  auto report = report_on(folder, std::move(acknowledged));
  if (!report.ok()) return {"the store can't be checked: " + report.error().message};
  for (const Violation& each : report->violations) {
    faults.push_back(each.rule + " " + each.subject + ": " + each.message);
  }
  for (const auto& [graph, runs] : report->runs_without_graph) {
    faults.push_back(std::to_string(runs) + " runs of " + graph + " could not be checked whole");
  }
  for (std::string& each : integrity_faults(folder)) faults.push_back(std::move(each));
  return faults;
}

}  // namespace belay::crash
