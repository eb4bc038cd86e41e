#include "belay/check.h"

#include <array>
#include <set>

#include "check/read_store.h"
#include "check/replay.h"
#include "check/rules.h"

namespace belay {
namespace {

using check::Findings;
using check::RunContents;
using check::StoreContents;

struct Rule {
  CheckRule told;
  void (*of_run)(const RunContents&, const CheckScope&, Findings&) = nullptr;
  void (*of_store)(const StoreContents&, const CheckScope&, Findings&) = nullptr;
};

const Rule kRules[] = {
    {{"P1",
      "Checkpoint consistency: every run belongs to its thread, no checkpoint is older than its "
      "run or its parent, and each names nodes of its graph (with its graph)."},
     check::p1_checkpoint_consistency,
     check::p1_threads},
    {{"P2",
      "State monotonicity: retryCount grows with each failed attempt and never decreases, nor does "
      "validationAttempts."},
     check::p2_state_monotonicity},
    {{"P3",
      "Terminal state: a completed run is at \"end\" with an outcome, a failed one has its error, "
      "and nothing is committed after the end."},
     check::p3_terminal_state},
    {{"P4",
      "Approval flow: requiresApproval is true exactly while a decision is awaited, and approved "
      "and the outcome match the decision."},
     check::p4_approval_flow},
    {{"P5",
      "Retry bound: the attempts of a task, also in a superstep of several, are counted one by one "
      "and never exceed the maximum (with its graph)."},
     check::p5_retry_bound},
    {{"P6",
      "Validation feedback: each repeated validation has added a recommendation to those of the "
      "beginning."},
     check::p6_validation_feedback},
    {{"P7",
      "Idempotent resume: the same decision, applied again to the state that was shown, results in "
      "the state that was committed (with its graph)."},
     check::p7_idempotent_resume},
    {{"P8",
      "Metrics accuracy: each run is counted once, and for each graph and day the runs of all "
      "statuses add up to the number of runs."},
     nullptr,
     check::p8_metrics_accuracy},
    {{"P9",
      "Checkpoint recoverability: every checkpoint loads, and has next tasks exactly while the run "
      "has not ended (with its graph)."},
     check::p9_recoverability},
    {{"P10",
      "Valid transitions: a superstep schedules exactly the tasks that edges, branches, joins, "
      "approvals and the updates of its nodes permit, and ends the run only if no tasks are left; "
      "commits within it change neither its tasks nor the state (with its graph)."},
     check::p10_valid_transitions},
    {{"I1", "No acknowledged commit is lost."},
     check::i1_nothing_acknowledged_lost,
     check::i1_no_run_lost},
    {{"I2",
      "A run, and each task of a subgraph, has exactly one checkpoint per commit, each the child "
      "of the previous one; the chain hash matches the stored bytes, and the run matches its "
      "newest checkpoint."},
     check::i2_one_unbroken_chain},
    {{"I3",
      "Epochs never decrease and grow with every change of owner; all commits of an epoch are of "
      "one session."},
     check::i3_one_owner_at_a_time},
    {{"I4",
      "A record that a run saved names an existing commit that ended nodes; an effect belongs to a "
      "task of its run, an unkeyed one was intended first, and a recorded result never changes. A "
      "run that has ended has no `intended` effect. A task has at least the effects that it had "
      "when it ended."},
     check::i4_effects,
     check::i4_records},
    {{"I5",
      "An approval is decided at most once, before its expiry, for exactly the payload that was "
      "shown, and the run's commits match it; it is open exactly while the run waits for it, or "
      "decided while another task of the run is running. A fork that starts after an approval "
      "starts with the state of that commit."},
     check::i5_approvals},
    {{"I7",
      "A commit's events are numbered without a gap and belong to that commit; its own event "
      "exists if it contains more than its checkpoint."},
     check::i7_events},
    {{"I12",
      "A user, a concurrency key, a queue and the tenant have at most as many running runs as the "
      "limit of that scope permits."},
     nullptr,
     check::i12_places},
    {{"I13", "Deletion is complete: no row refers to a run that does not exist."},
     nullptr,
     check::i13_gone},
    {{"I15",
      "Pending writes belong to the current superstep: values only one step above the state, by "
      "completed tasks, and every task was scheduled by a commit."},
     check::i15_pending},
    {{"I16",
      "Every message belongs to a commit of its run, is numbered without a gap, and counts its "
      "attempts. An approval has an expiry message exactly if it has expired and names one."},
     check::i16_outbox},
};

void check_run(const RunContents& run, const CheckScope& scope, CheckReport& report) {
  if (!run.graph) ++report.runs_without_graph[run.row.graph];
  ++report.runs;
  for (const check::SpaceContents* checkpoint_ns : check::spaces_of(run)) {
    report.checkpoints += checkpoint_ns->checkpoints.size();
  }
  report.approvals += run.approvals.size();
  for (const Rule& rule : kRules) {
    Findings findings(rule.told.id, report.violations);
    if (rule.of_run) rule.of_run(run, scope, findings);
  }
}

Task<Result<std::optional<RunContents>>> run_of(Store& store, const CheckScope& scope, RunId run) {
  std::function<Result<std::optional<RunContents>>(Snapshot&)> reader =
      [&scope, run](Snapshot& view) { return check::read_run(view, scope, run); };
  co_return co_await read<std::optional<RunContents>>(store, std::move(reader));
}

// Adds the records of the scope's collections.
Task<Result<std::size_t>> add_records(Store& store, const CheckScope& scope,
                                      StoreContents& contents) {
  using Saved = std::vector<check::SavedRecord>;
  std::size_t count = 0;
  for (const std::string& collection : scope.collections) {
    auto total = std::make_shared<std::size_t>(0);
    std::function<Result<Saved>(Snapshot&)> reader = [tenant = scope.tenant, collection,
                                                      total](Snapshot& view) -> Result<Saved> {
      Saved saved;
      BELAY_TRY(*total, check::read_records(view, tenant, collection, saved));
      return saved;
    };
    auto saved = co_await read<Saved>(store, std::move(reader));
    if (!saved.ok()) co_return std::move(saved).error();
    std::move(saved->begin(), saved->end(), std::back_inserter(contents.records));
    count += *total;
  }
  co_return count;
}

}  // namespace

const std::vector<CheckRule>& check_rules() {
  static const std::vector<CheckRule> rules = [] {
    std::vector<CheckRule> told;
    for (const Rule& rule : kRules) told.push_back(rule.told);
    return told;
  }();
  return rules;
}

Task<Result<CheckReport>> check_store(Store& store, CheckScope scope) {
  CheckReport report;
  std::function<Result<StoreContents>(Snapshot&)> lists = [tenant = scope.tenant](Snapshot& view) {
    return check::read_lists(view, tenant);
  };
  auto contents = co_await read<StoreContents>(store, std::move(lists));
  if (!contents.ok()) co_return std::move(contents).error();
  for (const check::ListedRun& listed : contents->runs) {
    auto run = co_await run_of(store, scope, listed.run);
    if (!run.ok()) co_return std::move(run).error();
    if (*run) {
      check_run(**run, scope, report);
    } else {
      contents->unreadable_runs.push_back(listed);
    }
  }
  auto records = co_await add_records(store, scope, *contents);
  if (!records.ok()) co_return std::move(records).error();
  report.records = *records;
  for (const Rule& rule : kRules) {
    Findings findings(rule.told.id, report.violations);
    if (rule.of_store) rule.of_store(*contents, scope, findings);
  }
  co_return std::move(report);
}

namespace check {
namespace {

constexpr std::size_t kFindingsMax = 10;

}  // namespace

void Findings::add(std::string subject, std::string message) {
  last_subject_ = subject;
  if (++count_ >= kFindingsMax) return;
  violations_.push_back({std::string(rule_), std::move(subject), std::move(message)});
}

Findings::~Findings() {
  if (count_ < kFindingsMax) return;
  violations_.push_back({std::string(rule_), std::move(last_subject_),
                         std::to_string(count_ - kFindingsMax + 1) + " more like these."});
}

std::string commit_text(std::uint64_t seq) { return "commit " + std::to_string(seq); }

std::string commit_text(const CheckpointRow& checkpoint) {
  std::string text = commit_text(checkpoint.seq);
  return checkpoint.checkpoint_ns.empty() ? text
                                          : text + " of the subgraph " + checkpoint.checkpoint_ns;
}

}  // namespace check
}  // namespace belay
