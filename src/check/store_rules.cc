// P1, P8, I1, I4 and I12: the parts that concern the whole store.

#include <algorithm>
#include <map>
#include <set>

#include "base/in_quotes.h"
#include "check/rules.h"

namespace belay::check {
namespace {

// Numbers of runs of one graph on one day.
struct Totals {
  std::int64_t all = 0;
  std::map<RunStatus, std::int64_t> by_status;
};

// The records of a node are saved by the commit that ends its superstep, whichever task ended last.
// With Durability::exit, they are saved by the next commit of any kind.
bool may_save(CommitKind kind) {
  return kind != CommitKind::input && kind != CommitKind::claim && kind != CommitKind::fork &&
         kind != CommitKind::quarantine && kind != CommitKind::cancel &&
         kind != CommitKind::consent;
}

std::string day_of(Instant at) { return to_text(at).substr(0, 10); }

}  // namespace

namespace {

// The runs of one thread, newest first, as the store lists them.
void check_order(const std::vector<const ListedRun*>& runs, Findings& findings) {
  const ListedRun* newer = nullptr;
  const ListedRun* begun = nullptr;  // the oldest newer run that has started
  for (const ListedRun* run : runs) {
    const std::string& thread = run->thread.text;
    bool is_same = newer && newer->run == run->run;  // P8
    if (newer && !is_same && newer->ordinal <= run->ordinal) {
      findings.add(thread, "run " + newer->run.text() + " was started after run " +
                               run->run.text() + ", but does not follow it by its ordinal.");
    }
    if (newer && newer->user != run->user) findings.add(thread, "its runs are of several users.");
    if (begun && !is_final(run->status)) {
      findings.add(thread, "run " + begun->run.text() + " has started, but run " + run->run.text() +
                               " before it has not ended.");
    }
    if (run->has_started) begun = run;
    newer = run;
  }
}

}  // namespace

void p1_threads(const StoreContents& store, const CheckScope&, Findings& findings) {
  std::map<std::string_view, const ThreadRow*> threads;
  for (const ThreadRow& thread : store.threads) threads[thread.thread.text] = &thread;
  std::map<RunId, const ListedRun*> runs;
  std::map<std::string_view, std::vector<const ListedRun*>> by_thread;
  for (const ListedRun& run : store.runs) {
    runs[run.run] = &run;
    by_thread[run.thread.text].push_back(&run);
    auto thread = threads.find(run.thread.text);
    if (thread == threads.end()) {
      findings.add(run.thread.text, "a run of this thread exists, but the thread does not.");
    } else if (thread->second->graph != run.graph) {
      findings.add(run.thread.text, "its run is of the graph " + in_quotes(run.graph) +
                                        ", the thread of " + in_quotes(thread->second->graph) +
                                        ".");
    }
  }
  for (const auto& [thread, of_thread] : by_thread) check_order(of_thread, findings);
  for (const ThreadRow& thread : store.threads) {
    auto last = runs.find(thread.last_run);
    if (last == runs.end() || last->second->thread != thread.thread) {
      findings.add(thread.thread.text,
                   "its last run does not exist, or belongs to another thread.");
    }
  }
}

void p8_metrics_accuracy(const StoreContents& store, const CheckScope&, Findings& findings) {
  std::map<std::pair<std::string, std::string>, Totals> totals;
  std::set<RunId> counted;
  for (const ListedRun& run : store.runs) {
    ++totals[{run.graph, day_of(run.created_at)}].all;
    if (!counted.insert(run.run).second) {
      findings.add(run.thread.text, "its run is counted twice.");
    }
  }
  for (const ListedRun& run : store.runs_by_status) {
    ++totals[{run.graph, day_of(run.created_at)}].by_status[run.status];
  }
  for (const auto& [key, of_day] : totals) {
    const auto& [graph, day] = key;
    std::int64_t sum = 0;
    std::string parts;
    for (const auto& [status, count] : of_day.by_status) {
      sum += count;
      parts += ", " + std::to_string(count) + " " + std::string(name_of(status));
    }
    if (sum == of_day.all) continue;
    findings.add(graph + " " + day, "there are " + std::to_string(of_day.all) + " runs" + parts +
                                        ": that does not add up.");
  }
  for (const ListedRun& run : store.unreadable_runs) {
    findings.add(run.thread.text, "its run is listed, but does not exist.");
  }
}

void i1_no_run_lost(const StoreContents& store, const CheckScope& scope, Findings& findings) {
  std::set<RunId> known;
  for (const ListedRun& run : store.runs) known.insert(run.run);
  for (const auto& [run, seq] : scope.acknowledged) {
    if (known.contains(run)) continue;
    findings.add(run.text(), commit_text(seq) + " was acknowledged, but the run does not exist.");
  }
}

// The runs are from one snapshot, and every commit counts within its transaction: the limits
// therefore hold after every commit.
void i12_places(const StoreContents& store, const CheckScope& scope, Findings& findings) {
  std::map<std::pair<std::string, std::string>, std::uint64_t> at_work;
  auto count = [&](const char* what, const std::string& group, std::uint64_t limit) {
    if (limit > 0 && ++at_work[{what, group}] == limit + 1) {
      findings.add(std::string(what) + " " + in_quotes(group),
                   "more than " + std::to_string(limit) + " of its runs are running.");
    }
  };
  for (const ListedRun& run : store.runs) {
    if (run.status != RunStatus::running) continue;
    count("user", run.user.text, scope.concurrency.per_user);
    if (!run.concurrency_key.empty()) count("key", run.concurrency_key, scope.concurrency.per_key);
    count("queue", run.queue, scope.concurrency.per_queue);
    count("tenant", scope.tenant.text, scope.concurrency.per_tenant);
  }
}

void i4_records(const StoreContents& store, const CheckScope&, Findings& findings) {
  for (const SavedRecord& record : store.records) {
    if (record.is_pruned) continue;
    bool ends_nodes = record.commit && may_save(*record.commit);
    if (ends_nodes) continue;
    findings.add(record.collection + " " + in_quotes(record.key),
                 std::string(record.commit ? "it names a commit that cannot have saved it: "
                                           : "it names a commit that does not exist: ") +
                     commit_text(record.seq) + " of the run " + record.run.text() + ".");
  }
}

void i13_gone(const StoreContents& store, const CheckScope&, Findings& findings) {
  for (const Belonging& stray : store.strays) {
    findings.add(stray.run.text(), stray.what + " refers to this run, which does not exist.");
  }
}

}  // namespace belay::check
