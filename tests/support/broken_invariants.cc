// Long on purpose: a function for each way to violate a rule.

#include <algorithm>

#include "belay/detail/expiry_envelope.h"
#include "engine/next_task.h"
#include "tests/support/broken_stores.h"

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
  // The commit that ends the run has no session; the epoch and the owner show the violation.
  chain_again(run);
}

void first_commit_of_a_later_epoch(StoredRows& rows, CheckScope&) {
  RunContents& run = rows.run("completed");
  for (CheckpointRow& each : run.checkpoints) ++each.epoch;
  ++run.row.epoch;
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

void decided_for_another_than_was_told(StoredRows& rows, CheckScope&) {
  rows.run("rejected").approvals.front().on_behalf_of = "ben";
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

void begin_with(RunContents& run, const std::string& channel, Value value) {
  auto text = json_in_envelope(run.row.input);
  Value input = parse_json(*text).value();
  input.as_object()->insert_or_assign(channel, std::move(value));
  run.row.input = json_envelope(to_json(input));
  chain_again(run);
}

// Forks with edits once did this: a plan that was never shown, after the approval of another one.
void saved_what_nobody_approved(StoredRows& rows, CheckScope&) {
  begin_with(rows.run("forked"), "draft", Value("Nobody saw this."));
}

// The same for a fork of a fork, and for a channel that the approval did not show.
void edited_behind_an_approval_of_old(StoredRows& rows, CheckScope&) {
  begin_with(rows.run("forked_again"), "topic", Value("another"));
}

// Removes the event of a commit, although it contains more than the checkpoint.
void event_lost(StoredRows& rows, CheckScope&) {
  RunContents& run = rows.run("cancelled");
  std::erase_if(run.events, [&](const EventRow& event) { return event.seq == run.row.seq; });
}

void gap_between_events(StoredRows& rows, CheckScope&) {
  for (EventRow& event : rows.run("completed").events) {
    if (event.index == 1) event.index = 2;
  }
}

void event_of_no_commit(StoredRows& rows, CheckScope&) {
  RunContents& run = rows.run("completed");
  EventRow more = run.events.back();
  more.seq = run.row.seq + 1;
  run.events.push_back(more);
}

void event_that_tells_another_story(StoredRows& rows, CheckScope&) {
  rows.run("failed").events.back().body = R"({"status":"completed"})";
}

// Returns the namespace of the run's only subgraph task.
SpaceContents& inside(RunContents& run) {
  BELAY_ASSERT(run.inner.size() == 1);
  return run.inner.begin()->second;
}

void bytes_of_a_subgraph_changed(StoredRows& rows, CheckScope&) {
  inside(rows.run("wide_completed")).values.back().envelope = json_envelope(R"(["worse"])");
}

void operands_in_another_order(StoredRows& rows, CheckScope&) {
  std::vector<ValueRow> notes;
  for (ValueRow& each : rows.run("wide_completed").values) {
    if (each.kind != WriteOp::append) continue;
    if (!notes.empty() && notes.back().seq == each.seq) {
      std::swap(notes.back().envelope, each.envelope);
      for (ValueRow& other : rows.run("wide_completed").values) {
        bool is_it = other.channel == notes.back().channel && other.seq == notes.back().seq &&
                     other.index == notes.back().index;
        if (is_it) other.envelope = notes.back().envelope;
      }
      return;
    }
    notes.push_back(each);
  }
  BELAY_ASSERT(false);
}

void paused_without_a_reason(StoredRows& rows, CheckScope&) {
  rows.run("paused").row.reason.clear();
}

void paused_for_no_known_reason(StoredRows& rows, CheckScope&) {
  rows.run("paused").row.reason = "apProval";
}

void subgraph_of_a_later_epoch(StoredRows& rows, CheckScope&) {
  RunContents& run = rows.run("wide_completed");
  inside(run).checkpoints.back().epoch = 99;
  chain_again(run);
}

void subgraph_of_another_owner(StoredRows& rows, CheckScope&) {
  inside(rows.run("wide_completed")).checkpoints.back().session =
      rows.run("resumed").checkpoints[3].session;
}

// Returns a completed effect of node "write".
EffectRow effect_of(RunContents& run) {
  EffectRow effect;
  effect.run = run.row.run;
  effect.task = engine::task_id(run.row.run, "", 2, "write", std::nullopt);
  effect.name = "mail";
  effect.node = "write";
  effect.status = EffectStatus::done;
  effect.envelope = json_envelope("1");
  effect.created_at = effect.updated_at = run.row.updated_at;
  return effect;
}

void effect_of_no_task(StoredRows& rows, CheckScope&) {
  EffectRow effect = effect_of(rows.run("completed"));
  effect.task = TaskId(derived_uuid("nobody"));
  rows.run("completed").effects.push_back(effect);
}

void effect_of_another_node(StoredRows& rows, CheckScope&) {
  EffectRow effect = effect_of(rows.run("completed"));
  effect.node = "save";
  rows.run("completed").effects.push_back(effect);
}

void effect_done_without_a_result(StoredRows& rows, CheckScope&) {
  EffectRow effect = effect_of(rows.run("completed"));
  effect.envelope.clear();
  rows.run("completed").effects.push_back(effect);
}

void effect_whose_result_is_damaged(StoredRows& rows, CheckScope&) {
  EffectRow effect = effect_of(rows.run("completed"));
  effect.envelope = json_envelope("{\"receipt\":");
  rows.run("completed").effects.push_back(effect);
}

void effect_journaled_twice(StoredRows& rows, CheckScope&) {
  RunContents& run = rows.run("completed");
  run.effects = {effect_of(run), effect_of(run)};
}

void effect_without_a_key_never_intended(StoredRows& rows, CheckScope&) {
  EffectRow effect = effect_of(rows.run("completed"));
  effect.effect_class = EffectClass::unkeyed;
  effect.attempt = 0;
  rows.run("completed").effects.push_back(effect);
}

void effect_intended_though_its_run_has_ended(StoredRows& rows, CheckScope&) {
  EffectRow effect = effect_of(rows.run("completed"));
  effect.effect_class = EffectClass::unkeyed;
  effect.status = EffectStatus::intended;
  effect.envelope.clear();
  rows.run("completed").effects.push_back(effect);
}

// The commit that ended "write" states nine effects; the journal has fewer.
void journal_cut(StoredRows& rows, CheckScope&) {
  RunContents& run = rows.run("completed");
  EventRow event;
  event.run = run.row.run;
  event.seq = 3;
  event.type = "node";
  event.body = R"({"effects":9,"status":"running"})";
  event.created_at = run.checkpoints[2].created_at;
  std::erase_if(run.events, [](const EventRow& row) { return row.seq == 3 && row.index == 0; });
  auto later = std::find_if(run.events.begin(), run.events.end(),
                            [](const EventRow& row) { return row.seq >= 3; });
  run.events.insert(later, event);
}

void effect_whose_result_changed(StoredRows& rows, CheckScope& scope) {
  EffectRow effect = effect_of(rows.run("completed"));
  scope.done_effects.push_back(effect);
  effect.envelope = json_envelope("2");
  rows.run("completed").effects.push_back(effect);
}

void effect_forgotten(StoredRows& rows, CheckScope& scope) {
  scope.done_effects.push_back(effect_of(rows.run("completed")));
}

void approval_among_others_lost(StoredRows& rows, CheckScope&) {
  rows.run("wide_asked").approvals.clear();
}

void approval_in_a_subgraph_lost(StoredRows& rows, CheckScope&) {
  rows.run("wide_inside").approvals.clear();
}

void decision_that_a_paused_run_sleeps_through(StoredRows& rows, CheckScope&) {
  ApprovalRow& approval = rows.run("wide_asked").approvals.front();
  approval.status = ApprovalStatus::approved;
  approval.decided_by = "ana";
  approval.decided_at = approval.created_at + 1s;
}

void approval_among_others_not_the_state(StoredRows& rows, CheckScope&) {
  ApprovalRow& approval = rows.run("wide_asked").approvals.front();
  approval.payload = json_envelope("\"Another plan.\"");
  approval.payload_hash = sha256("\"Another plan.\"");
}

void decision_told_that_nobody_made(StoredRows& rows, CheckScope&) {
  rows.run("wide_approved").approvals.front().decided_by = "ben";
}

void approval_of_a_deleted_run(StoredRows& rows, CheckScope&) {
  ApprovalRow left = rows.run("cancelled").approvals.front();
  left.run = RunId(derived_uuid("nobody"));
  rows.strays.push_back(left);
}

void effect_of_a_deleted_run(StoredRows& rows, CheckScope&) {
  EffectRow left;
  left.run = RunId(derived_uuid("nobody"));
  left.name = "mail";
  rows.stray_effects.push_back(left);
}

void message_of_a_deleted_run(StoredRows& rows, CheckScope&) {
  OutboxRow left;
  left.run = RunId(derived_uuid("nobody"));
  left.topic = "mail";
  rows.stray_messages.push_back(left);
}

void value_of_a_task_that_works(StoredRows& rows, CheckScope&) {
  RunContents& run = rows.run("wide_lost");
  ValueRow more = run.values.back();
  BELAY_ASSERT(more.seq == run.checkpoints.back().state_seq + 1);
  more.channel = "topic";
  more.index = 0;  // of the task that waits for the model
  more.envelope = json_envelope("\"another\"");
  more.kind = WriteOp::set;
  run.values.push_back(more);
}

void task_that_no_commit_chose(StoredRows& rows, CheckScope&) {
  RunContents& run = rows.run("wide_completed");
  TaskRow more = run.tasks.back();
  more.superstep += 7;
  more.task = TaskId(derived_uuid("nobody"));
  run.tasks.push_back(more);
}

// Applies `share` to the first running runs, so that they share a concurrency scope.
void share_a_place(StoredRows& rows, void (*share)(RunRow&)) {
  std::size_t shared = 0;
  for (RunContents& run : rows.runs) {
    if (run.row.status != RunStatus::running) continue;
    share(run.row);
    ++shared;
  }
  BELAY_ASSERT(shared > 1);
}

void two_runs_of_a_key_at_work(StoredRows& rows, CheckScope& scope) {
  scope.concurrency.per_key = 1;
  share_a_place(rows, [](RunRow& row) { row.concurrency_key = "repository"; });
}

void two_runs_of_a_user_at_work(StoredRows& rows, CheckScope& scope) {
  scope.concurrency.per_user = 1;
  share_a_place(rows, [](RunRow&) {});
}

void two_runs_of_a_queue_at_work(StoredRows& rows, CheckScope& scope) {
  scope.concurrency.per_queue = 1;
  share_a_place(rows, [](RunRow& row) { row.queue = "slow"; });
}

OutboxRow& message_of(RunContents& run) {
  BELAY_ASSERT(run.outbox.size() == 1);
  return run.outbox.front();
}

void message_of_no_commit(StoredRows& rows, CheckScope&) {
  message_of(rows.run("wide_completed")).seq = 99;
}

void message_lost_between_others(StoredRows& rows, CheckScope&) {
  message_of(rows.run("wide_completed")).index = 1;
}

void message_there_twice(StoredRows& rows, CheckScope&) {
  RunContents& run = rows.run("wide_completed");
  run.outbox.push_back(message_of(run));
}

void message_delivered_without_a_try(StoredRows& rows, CheckScope&) {
  message_of(rows.run("wide_completed")).status = OutboxStatus::delivered;
}

// The message of an expiry, of the open approval of "paused", which does not name one.
OutboxRow& add_expiry_message(StoredRows& rows) {
  RunContents& run = rows.run("paused");
  const ApprovalRow& approval = run.approvals.front();
  OutboxRow row;
  row.run = run.row.run;
  row.seq = approval.seq;
  row.index = detail::expiry_message_index(approval.interrupt);
  row.topic = "late";
  row.envelope = json_envelope("null");
  run.outbox.push_back(std::move(row));
  return run.outbox.back();
}

void expiry_message_of_an_open_approval(StoredRows& rows, CheckScope&) { add_expiry_message(rows); }

void expiry_message_of_no_approval(StoredRows& rows, CheckScope&) {
  ++add_expiry_message(rows).index;
}

void expiry_message_there_twice(StoredRows& rows, CheckScope&) {
  add_expiry_message(rows);
  add_expiry_message(rows);
}

void expiry_message_delivered_without_a_try(StoredRows& rows, CheckScope&) {
  add_expiry_message(rows).status = OutboxStatus::delivered;
}

std::vector<BrokenStore> broken_messages() {
  return {
      {"I16", "AMessageOfNoCommit", message_of_no_commit},
      {"I16", "AMessageLostBetweenOthers", message_lost_between_others},
      {"I16", "AMessageThereTwice", message_there_twice},
      {"I16", "AMessageDeliveredWithoutATry", message_delivered_without_a_try},
      {"I16", "AnExpiryMessageOfAnOpenApproval", expiry_message_of_an_open_approval},
      {"I16", "AnExpiryMessageOfNoApproval", expiry_message_of_no_approval},
      {"I16", "AnExpiryMessageThereTwice", expiry_message_there_twice},
      {"I16", "AnExpiryMessageDeliveredWithoutATry", expiry_message_delivered_without_a_try},
  };
}

}  // namespace

std::vector<BrokenStore> broken_invariants() {
  std::vector<BrokenStore> all = {
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
      {"I3", "TheFirstCommitOfALaterEpoch", first_commit_of_a_later_epoch},
      {"I3", "TwoOwnersOfAnEpoch", two_owners_of_an_epoch},
      {"I4", "ARecordOfNoCommit", record_of_no_commit},
      {"I4", "ARecordOfNoRun", record_of_no_run},
      {"I4", "ARecordOfAnotherKindOfCommit", record_of_another_kind_of_commit},
      {"I5", "DecidedAfterItsExpiry", decided_after_its_expiry, "P7"},
      {"I5", "ShownIsNotWhatWasHashed", shown_is_not_what_was_hashed},
      {"I5", "ShownIsNotTheState", shown_is_not_the_state},
      {"I5", "EditedIsNotWhatWasHashed", edited_is_not_what_was_hashed},
      {"I5", "DecidedByNobody", decided_by_nobody, "P7"},
      {"I5", "DecidedByAnotherThanWasTold", decided_by_another_than_was_told},
      {"I5", "DecidedForAnotherThanWasTold", decided_for_another_than_was_told},
      {"I5", "MorePeopleMayDecide", more_people_may_decide},
      {"I5", "OpenThoughDecided", open_though_decided},
      {"I5", "AnApprovalLost", approval_lost},
      {"I5", "AnApprovalThatNothingAsksFor", approval_that_nothing_asks_for},
      {"I5", "SavedWhatNobodyApproved", saved_what_nobody_approved},
      {"I5", "EditedBehindAnApprovalOfOld", edited_behind_an_approval_of_old},
      {"I7", "AnEventLost", event_lost},
      {"I7", "AGapBetweenEvents", gap_between_events},
      {"I7", "AnEventOfNoCommit", event_of_no_commit},
      {"I7", "AnEventThatTellsAnotherStory", event_that_tells_another_story},
      {"I2", "BytesOfASubgraphChanged", bytes_of_a_subgraph_changed},
      {"I2", "OperandsInAnotherOrder", operands_in_another_order},
      {"I2", "PausedWithoutAReason", paused_without_a_reason},
      {"I2", "PausedForNoKnownReason", paused_for_no_known_reason},
      {"I3", "ASubgraphOfALaterEpoch", subgraph_of_a_later_epoch},
      {"I3", "ASubgraphOfAnotherOwner", subgraph_of_another_owner},
      {"I4", "AnEffectOfNoTask", effect_of_no_task},
      {"I4", "AnEffectOfAnotherNode", effect_of_another_node},
      {"I4", "AnEffectDoneWithoutAResult", effect_done_without_a_result},
      {"I4", "AnEffectWhoseResultIsDamaged", effect_whose_result_is_damaged},
      {"I4", "AnEffectJournaledTwice", effect_journaled_twice},
      {"I4", "AnEffectWithoutAKeyNeverIntended", effect_without_a_key_never_intended},
      {"I4", "AnEffectIntendedThoughItsRunHasEnded", effect_intended_though_its_run_has_ended},
      {"I4", "AJournalThatWasCut", journal_cut},
      {"I4", "AnEffectWhoseResultChanged", effect_whose_result_changed},
      {"I4", "AnEffectForgotten", effect_forgotten},
      {"I5", "AnApprovalAmongOthersLost", approval_among_others_lost},
      {"I5", "AnApprovalInASubgraphLost", approval_in_a_subgraph_lost},
      {"I5", "ADecisionThatAPausedRunSleepsThrough", decision_that_a_paused_run_sleeps_through},
      {"I5", "AnApprovalAmongOthersNotTheState", approval_among_others_not_the_state},
      {"I5", "ADecisionToldThatNobodyMade", decision_told_that_nobody_made},
      {"I12", "TwoRunsOfAKeyAtWork", two_runs_of_a_key_at_work},
      {"I12", "TwoRunsOfAUserAtWork", two_runs_of_a_user_at_work},
      {"I12", "TwoRunsOfAQueueAtWork", two_runs_of_a_queue_at_work},
      {"I13", "AnApprovalOfADeletedRun", approval_of_a_deleted_run},
      {"I13", "AnEffectOfADeletedRun", effect_of_a_deleted_run},
      {"I13", "AMessageOfADeletedRun", message_of_a_deleted_run},
      {"I15", "AValueOfATaskThatWorks", value_of_a_task_that_works},
      {"I15", "ATaskThatNoCommitChose", task_that_no_commit_chose},
  };
  for (const BrokenStore& each : broken_messages()) all.push_back(each);
  return all;
}

}  // namespace belay::check
