#include "tests/postgres/commit_load.h"

#include "tests/postgres/server_process.h"

namespace belay::postgres_tests {

using conformance::Caller;

CommitLoad::CommitLoad(Store& store, int runs, int tries_max)
    : store_(store), tries_max_(tries_max) {
  for (int i = 0; i < runs; ++i) {
    Worker& worker = *workers_.emplace_back(std::make_unique<Worker>("load " + std::to_string(i)));
    worker.thread = std::thread([this, &worker] { work(worker); });
  }
}

void CommitLoad::stop() {
  is_stopped_ = true;
  for (auto& worker : workers_) {
    if (worker->thread.joinable()) worker->thread.join();
  }
}

std::string CommitLoad::send(Caller& caller, const Commit& commit) {
  std::string last;
  for (int i = 0; i < tries_max_; ++i) {
    if (i > 0) ++sent_again_;
    auto outcome = caller.try_commit(commit);
    if (outcome.ok()) {
      bool is_applied = *outcome == CommitOutcome::applied;
      return is_applied ? "" : "outcome " + std::to_string(static_cast<int>(*outcome));
    }
    last = outcome.error().message;
    bool may_be_sent_again = outcome.error().code == ErrorCode::unavailable ||
                             outcome.error().code == ErrorCode::uncertain;
    if (!may_be_sent_again) return last;
    nap(std::chrono::milliseconds(20));
  }
  return "never acknowledged: " + last;
}

void CommitLoad::work(Worker& worker) {
  Caller caller(store_);
  while (!is_stopped_) {
    bool is_first = worker.script.row.seq == 0;
    Commit commit = is_first ? worker.script.first() : worker.script.next();
    worker.fault = send(caller, commit);
    if (!worker.fault.empty()) return;
    ++acknowledged_;
  }
}

std::string CommitLoad::faults_in(Store& store) {
  std::string faults;
  Caller caller(store);
  for (const auto& worker : workers_) {
    const RunRow& run = worker->script.row;
    std::string name = run.thread.text + ": ";
    if (!worker->fault.empty()) faults += name + worker->fault + "\n";
    if (run.seq == 0 || !worker->fault.empty()) continue;
    if (caller.run(run.run) != run) faults += name + "its row is not that of its last commit\n";
    std::uint64_t wanted = run.seq;
    std::vector<EventRow> all;
    while (true) {
      EventFilter filter{default_tenant(), run.run};
      if (!all.empty()) filter.after_seq = all.back().seq, filter.after_index = all.back().index;
      auto page = caller.events(filter);
      if (page.empty()) break;
      all.insert(all.end(), page.begin(), page.end());
    }
    for (std::size_t i = 0; i < all.size(); ++i) {
      if (all[i].seq != i + 1) faults += name + "event " + std::to_string(i) + " is of another\n";
    }
    CheckpointFilter newest{default_tenant(), run.run};
    newest.limit = 100'000;
    std::size_t checkpoints = caller.checkpoints(newest).size();
    if (all.size() != wanted || checkpoints != wanted) {
      faults += name + std::to_string(wanted) + " commits were acknowledged, there are " +
                std::to_string(checkpoints) + " checkpoints and " + std::to_string(all.size()) +
                " events\n";
    }
  }
  return faults;
}

}  // namespace belay::postgres_tests
