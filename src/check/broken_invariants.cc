#include <algorithm>

#include "check/broken_stores.h"

namespace belay::check {
namespace {

using namespace std::chrono_literals;

void acknowledge_all(StoredRows& rows, CheckScope& scope) {
  for (const RunContents& run : rows.runs) {
    for (std::uint64_t seq = 1; seq <= run.row.seq; ++seq) {
      scope.acknowledged.emplace_back(run.row.run, seq);
    }
  }
}

void acknowledged_commit_lost(StoredRows& rows, CheckScope& scope) {
  acknowledge_all(rows, scope);
  lose_newest_commit(rows.run("paused"));
}

void acknowledged_run_lost(StoredRows& rows, CheckScope& scope) {
  acknowledge_all(rows, scope);
  RunId lost = rows.run("failed").row.run;
  std::erase_if(rows.runs, [&](const RunContents& run) { return run.row.run == lost; });
  std::erase_if(rows.threads, [&](const ThreadRow& row) { return row.last_run == lost; });
}

void stored_bytes_changed(StoredRows& rows, CheckScope&) {
  RunContents& run = rows.run("completed");
  std::uint64_t seq = 3;  // of the node that writes
  write_value(run, seq, "draft", "\"A worse plan.\"");
}

void input_changed(StoredRows& rows, CheckScope&) {
  rows.run("failed").row.input = json_envelope(R"({"topic":"calmer"})");
}

void next_tasks_changed(StoredRows& rows, CheckScope&) {
  std::string& tasks = rows.run("exhausted").checkpoints[2].next_tasks;
  std::size_t at = tasks.find("\"error\"");
  BELAY_ASSERT(at != tasks.npos);
  tasks.insert(at, "\"more\":1,");
}

void another_parent(StoredRows& rows, CheckScope&) {
  RunContents& run = rows.run("completed");
  run.checkpoints[3].parent = run.checkpoints[1].id;
}

void row_ahead_of_its_commits(StoredRows& rows, CheckScope&) { ++rows.run("completed").row.seq; }

void row_of_another_time(StoredRows& rows, CheckScope&) {
  rows.run("completed").row.updated_at += 1s;
}

void epoch_that_decreases(StoredRows& rows, CheckScope&) {
  RunContents& run = rows.run("resumed");
  for (CheckpointRow& each : run.checkpoints) {
    if (each.kind == CommitKind::node) each.epoch = 1;
  }
  run.row.epoch = run.checkpoints.back().epoch;
  chain_again(run);
}

void owner_changed_in_the_same_epoch(StoredRows& rows, CheckScope&) {
  RunContents& run = rows.run("resumed");
  for (CheckpointRow& each : run.checkpoints) each.epoch = 1;
  run.row.epoch = 1;
  // The commit that ends the run names no session, so this is seen by the epoch and by the owner.
  chain_again(run);
}

void two_owners_of_an_epoch(StoredRows& rows, CheckScope&) {
  rows.run("completed").checkpoints[2].session = rows.run("resumed").checkpoints[3].session;
}

void record_of_no_commit(StoredRows& rows, CheckScope&) { rows.records.front().seq = 99; }

void record_of_no_run(StoredRows& rows, CheckScope&) {
  rows.records.front().run = RunId(derived_uuid("nobody"));
}

void record_of_another_kind_of_commit(StoredRows& rows, CheckScope&) {
  rows.records.front().seq = 1;
}

void decided_after_its_expiry(StoredRows& rows, CheckScope&) {
  ApprovalRow& approval = rows.run("approved").approvals.front();
  approval.decided_at = approval.expires_at;
}

void shown_is_not_what_was_hashed(StoredRows& rows, CheckScope&) {
  rows.run("approved").approvals.front().payload = json_envelope("\"Another plan.\"");
}

void shown_is_not_the_state(StoredRows& rows, CheckScope&) {
  ApprovalRow& approval = rows.run("paused").approvals.front();
  approval.payload = json_envelope("\"Another plan.\"");
  approval.payload_hash = sha256("\"Another plan.\"");
}

void edited_is_not_what_was_hashed(StoredRows& rows, CheckScope&) {
  rows.run("edited").approvals.front().edited_hash = sha256("\"Another plan.\"");
}

void decided_by_nobody(StoredRows& rows, CheckScope&) {
  RunContents& run = rows.run("approved");
  run.approvals.front().decided_by.clear();
}

void decided_by_another_than_was_told(StoredRows& rows, CheckScope&) {
  rows.run("rejected").approvals.front().decided_by = "ben";
}

void more_people_may_decide(StoredRows& rows, CheckScope&) {
  rows.run("approved").approvals.front().roles = "";
}

void open_though_decided(StoredRows& rows, CheckScope&) {
  ApprovalRow& approval = rows.run("approved").approvals.front();
  approval.status = ApprovalStatus::open;
  approval.decided_by.clear();
  approval.decided_at = Instant();
}

void approval_lost(StoredRows& rows, CheckScope&) { rows.run("paused").approvals.clear(); }

void approval_that_nothing_asks_for(StoredRows& rows, CheckScope&) {
  ApprovalRow more = rows.run("cancelled").approvals.front();
  more.interrupt = InterruptId(derived_uuid("more"));
  rows.run("cancelled").approvals.push_back(more);
}

void event_lost(StoredRows& rows, CheckScope&) {
  RunContents& run = rows.run("completed");
  std::erase_if(run.events, [](const EventRow& event) { return event.seq == 3; });
}

void gap_between_events(StoredRows& rows, CheckScope&) {
  for (EventRow& event : rows.run("completed").events) {
    if (event.index == 1) event.index = 2;
  }
}

void event_of_no_commit(StoredRows& rows, CheckScope&) {
  RunContents& run = rows.run("completed");
  EventRow more = run.events.back();
  ++more.seq;
  run.events.push_back(more);
}

void event_that_tells_another_story(StoredRows& rows, CheckScope&) {
  rows.run("failed").events.back().body = R"({"status":"completed"})";
}

}  // namespace

std::vector<BrokenStore> broken_invariants() {
  return {
      {"I1", "AnAcknowledgedCommitLost", acknowledged_commit_lost},
      {"I1", "AnAcknowledgedRunLost", acknowledged_run_lost},
      {"I2", "StoredBytesChanged", stored_bytes_changed},
      {"I2", "AnInputChanged", input_changed},
      {"I2", "NextTasksChanged", next_tasks_changed},
      {"I2", "AnotherParent", another_parent},
      {"I2", "ARowAheadOfItsCommits", row_ahead_of_its_commits},
      {"I2", "ARowOfAnotherTime", row_of_another_time},
      {"I3", "AnEpochThatDecreases", epoch_that_decreases},
      {"I3", "AnOwnerChangedInTheSameEpoch", owner_changed_in_the_same_epoch},
      {"I3", "TwoOwnersOfAnEpoch", two_owners_of_an_epoch},
      {"I4", "ARecordOfNoCommit", record_of_no_commit},
      {"I4", "ARecordOfNoRun", record_of_no_run},
      {"I4", "ARecordOfAnotherKindOfCommit", record_of_another_kind_of_commit},
      {"I5", "DecidedAfterItsExpiry", decided_after_its_expiry},
      {"I5", "ShownIsNotWhatWasHashed", shown_is_not_what_was_hashed},
      {"I5", "ShownIsNotTheState", shown_is_not_the_state},
      {"I5", "EditedIsNotWhatWasHashed", edited_is_not_what_was_hashed},
      {"I5", "DecidedByNobody", decided_by_nobody},
      {"I5", "DecidedByAnotherThanWasTold", decided_by_another_than_was_told},
      {"I5", "MorePeopleMayDecide", more_people_may_decide},
      {"I5", "OpenThoughDecided", open_though_decided},
      {"I5", "AnApprovalLost", approval_lost},
      {"I5", "AnApprovalThatNothingAsksFor", approval_that_nothing_asks_for},
      {"I7", "AnEventLost", event_lost},
      {"I7", "AGapBetweenEvents", gap_between_events},
      {"I7", "AnEventOfNoCommit", event_of_no_commit},
      {"I7", "AnEventThatTellsAnotherStory", event_that_tells_another_story},
  };
}

}  // namespace belay::check
