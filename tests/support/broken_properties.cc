#include <algorithm>

#include "tests/support/broken_stores.h"

namespace belay::check {
namespace {

using namespace std::chrono_literals;

// Returns the n-th commit of this kind and node.
CheckpointRow& commit_of(RunContents& run, CommitKind kind, const std::string& node,
                         int which = 1) {
  for (CheckpointRow& each : run.checkpoints) {
    if (each.kind == kind && each.node == node && --which == 0) return each;
  }
  BELAY_ASSERT(which == 0);
  return run.checkpoints.front();
}

void replace(std::string& text, const std::string& what, const std::string& by) {
  std::size_t at = text.find(what);
  BELAY_ASSERT(at != text.npos);
  text.replace(at, what.size(), by);
}

void checkpoint_older_than_its_run(StoredRows& rows, CheckScope&) {
  RunContents& run = rows.run("completed");
  run.checkpoints[1].created_at -= 1s;
  for (EventRow& event : run.events) {
    if (event.seq == 2) event.created_at -= 1s;
  }
}

void run_without_its_thread(StoredRows& rows, CheckScope&) {
  std::erase_if(rows.threads, [](const ThreadRow& row) { return row.thread.text == "completed"; });
}

void thread_without_its_run(StoredRows& rows, CheckScope&) {
  for (ThreadRow& thread : rows.threads) {
    if (thread.thread.text == "completed") thread.last_run = rows.run("failed").row.run;
  }
}

void node_that_no_graph_has(StoredRows& rows, CheckScope&) {
  rows.run("failed").checkpoints.back().node = "dream";
}

void retry_count_that_decreases(StoredRows& rows, CheckScope&) {
  RunContents& run = rows.run("retried");
  commit_of(run, CommitKind::attempt, "write", 2).retry_count = 0;
}

void validation_attempts_that_decrease(StoredRows& rows, CheckScope&) {
  RunContents& run = rows.run("validated_again");
  write_value(run, commit_of(run, CommitKind::node, "validate", 3).seq, "validationAttempts", "1");
  chain_again(run);
}

void completed_elsewhere_than_at_the_end(StoredRows& rows, CheckScope&) {
  rows.run("completed").row.node = "save";
}

void completed_without_an_outcome(StoredRows& rows, CheckScope&) {
  rows.run("completed").row.outcome.clear();
}

void failed_without_an_error(StoredRows& rows, CheckScope&) {
  rows.run("failed").row.error.clear();
}

void requires_approval_after_the_decision(StoredRows& rows, CheckScope&) {
  RunContents& run = rows.run("approved");
  write_value(run, commit_of(run, CommitKind::node, "save").seq, "requiresApproval", "true");
  chain_again(run);
}

void requires_approval_before_its_request(StoredRows& rows, CheckScope&) {
  RunContents& run = rows.run("approved");
  write_value(run, commit_of(run, CommitKind::node, "validate").seq, "requiresApproval", "true");
  chain_again(run);
}

void asks_without_requiring_approval(StoredRows& rows, CheckScope&) {
  RunContents& run = rows.run("paused");
  write_value(run, run.row.seq, "requiresApproval", "false");
  chain_again(run);
}

void rejected_and_yet_saved(StoredRows& rows, CheckScope&) {
  rows.run("rejected").row.outcome = "saved";
}

void one_attempt_too_many(StoredRows& rows, CheckScope&) {
  RunContents& run = rows.run("retried");
  CheckpointRow& second = commit_of(run, CommitKind::attempt, "write", 2);
  replace(second.next_tasks, "\"attempt\":3", "\"attempt\":4");
  chain_again(run);
}

void validation_without_feedback(StoredRows& rows, CheckScope&) {
  RunContents& run = rows.run("validated_again");
  write_value(run, commit_of(run, CommitKind::node, "validate", 2).seq, "analysisResult",
              R"({"recommendations":["Rest."]})");
  chain_again(run);
}

void decision_that_changes_more_than_it_says(StoredRows& rows, CheckScope&) {
  RunContents& run = rows.run("approved");
  write_value(run, commit_of(run, CommitKind::decision, "review").seq, "draft",
              "\"Another plan.\"");
  chain_again(run);
}

void edit_that_is_not_taken(StoredRows& rows, CheckScope&) {
  RunContents& run = rows.run("edited");
  write_value(run, commit_of(run, CommitKind::decision, "review").seq, "draft", "\"A good plan.\"");
  chain_again(run);
}

void run_missing_in_a_list(StoredRows& rows, CheckScope&) {
  rows.missing_by_status.insert(rows.run("completed").row.run);
}

void run_listed_twice(StoredRows& rows, CheckScope&) {
  rows.runs.push_back(rows.run("failed"));
  rows.runs.back().effects.clear();  // another rule checks its model calls
}

void value_that_its_graph_cannot_read(StoredRows& rows, CheckScope&) {
  RunContents& run = rows.run("completed");
  write_value(run, commit_of(run, CommitKind::node, "write").seq, "rounds", "\"many\"");
  chain_again(run);
}

void task_that_cannot_be_read(StoredRows& rows, CheckScope&) {
  RunContents& run = rows.run("retried_by_another");
  CheckpointRow& attempt = commit_of(run, CommitKind::attempt, "write");
  replace(attempt.next_tasks, "\"due\":\"2", "\"due\":\"x");
  CheckpointRow& claim = commit_of(run, CommitKind::claim, "write");
  replace(claim.next_tasks, "\"due\":\"2", "\"due\":\"x");
  chain_again(run);
}

void step_where_no_edge_leads(StoredRows& rows, CheckScope&) {
  RunContents& run = rows.run("completed");
  replace(commit_of(run, CommitKind::node, "analyze").next_tasks, "\"write\"", "\"save\"");
  run.effects.clear();  // their task is no longer scheduled
  chain_again(run);
}

void take_over_that_changes_the_state(StoredRows& rows, CheckScope&) {
  RunContents& run = rows.run("resumed");
  write_value(run, commit_of(run, CommitKind::claim, "write").seq, "topic", "\"another\"");
  chain_again(run);
}

void superstep_left_out(StoredRows& rows, CheckScope&) {
  RunContents& run = rows.run("completed");
  run.checkpoints.back().superstep += 1;
}

void failures_of_several_that_nobody_saw(StoredRows& rows, CheckScope&) {
  RunContents& run = rows.run("wide_retried");
  for (CheckpointRow& each : run.checkpoints) {
    if (each.superstep > 2) each.retry_count += 3;
  }
  run.row.retry_count += 3;
}

void one_attempt_too_many_of_several(StoredRows& rows, CheckScope&) {
  for (TaskRow& each : rows.run("wide_retried").tasks) {
    auto text = json_in_envelope(each.envelope);
    std::string parts(*text);
    if (parts.find("\"attempt\":2") == parts.npos) continue;
    replace(parts, "\"attempt\":2", "\"attempt\":4");
    each.envelope = json_envelope(parts);
    return;
  }
  BELAY_ASSERT(false);
}

void edit_among_others_that_is_not_taken(StoredRows& rows, CheckScope&) {
  RunContents& run = rows.run("wide_edited");
  for (ValueRow& each : run.values) {
    if (each.channel == "draft") each.envelope = json_envelope("\"A worse plan.\"");
  }
  run.approvals.front().payload = json_envelope("\"A worse plan.\"");
  run.approvals.front().payload_hash = sha256("\"A worse plan.\"");
  chain_again(run);
}

void task_of_several_that_cannot_be_read(StoredRows& rows, CheckScope&) {
  TaskRow& task = rows.run("wide_lost").tasks[0];
  BELAY_ASSERT(task.status == TaskStatus::done);
  task.envelope = json_envelope(R"({"retries":0,"due":"soon"})");
}

void tasks_chosen_by_no_commit(StoredRows& rows, CheckScope&) {
  RunContents& run = rows.run("wide_approved");
  for (CheckpointRow& each : run.checkpoints) {
    if (each.kind != CommitKind::pause || each.state_seq == each.seq) continue;
    each.next_tasks = R"([{"as_of":77}])";
    chain_again(run);
    return;
  }
  BELAY_ASSERT(false);
}

void join_that_has_seen_too_little(StoredRows& rows, CheckScope&) {
  RunContents& run = rows.run("wide_completed");
  for (CheckpointRow& each : run.checkpoints) {
    std::size_t at = each.next_tasks.find(",\"look\"");
    if (at != std::string::npos) each.next_tasks.erase(at, 7);
  }
  chain_again(run);
}

void edge_left_out(StoredRows& rows, CheckScope&) {
  RunContents& run = rows.run("wide_completed");
  for (CheckpointRow& each : run.checkpoints) {
    if (each.superstep == 2) replace(each.next_tasks, ",{\"node\":\"publish\"}", "");
    if (each.superstep == 3 && each.kind == CommitKind::node) replace(each.node, ",publish", "");
  }
  std::erase_if(run.tasks,
                [](const TaskRow& each) { return each.superstep == 2 && each.position == 3; });
  chain_again(run);
}

}  // namespace

std::vector<BrokenStore> broken_properties() {
  return {
      {"P1", "ACheckpointOlderThanItsRun", checkpoint_older_than_its_run},
      {"P1", "ARunWithoutItsThread", run_without_its_thread},
      {"P1", "AThreadWithoutItsRun", thread_without_its_run},
      {"P1", "ANodeThatNoGraphHas", node_that_no_graph_has},
      {"P2", "ARetryCountThatDecreases", retry_count_that_decreases},
      {"P2", "ValidationAttemptsThatDecrease", validation_attempts_that_decrease},
      {"P3", "CompletedElsewhereThanAtTheEnd", completed_elsewhere_than_at_the_end},
      {"P3", "CompletedWithoutAnOutcome", completed_without_an_outcome},
      {"P3", "FailedWithoutAnError", failed_without_an_error},
      {"P4", "RequiresApprovalAfterTheDecision", requires_approval_after_the_decision},
      {"P4", "RequiresApprovalBeforeItsRequest", requires_approval_before_its_request},
      {"P4", "AsksWithoutRequiringApproval", asks_without_requiring_approval},
      {"P4", "RejectedAndYetSaved", rejected_and_yet_saved},
      {"P5", "OneAttemptTooMany", one_attempt_too_many},
      {"P6", "AValidationWithoutFeedback", validation_without_feedback},
      {"P7", "ADecisionThatChangesMoreThanItSays", decision_that_changes_more_than_it_says},
      {"P7", "AnEditThatIsNotTaken", edit_that_is_not_taken},
      {"P8", "ARunMissingInAList", run_missing_in_a_list},
      {"P8", "ARunListedTwice", run_listed_twice},
      {"P9", "AValueThatItsGraphCannotRead", value_that_its_graph_cannot_read},
      {"P9", "ATaskThatCannotBeRead", task_that_cannot_be_read},
      {"P10", "AStepWhereNoEdgeLeads", step_where_no_edge_leads},
      {"P10", "ATakeOverThatChangesTheState", take_over_that_changes_the_state},
      {"P10", "ASuperstepLeftOut", superstep_left_out},
      {"P2", "FailuresOfSeveralThatNobodySaw", failures_of_several_that_nobody_saw},
      {"P5", "OneAttemptTooManyOfSeveral", one_attempt_too_many_of_several},
      {"P7", "AnEditAmongOthersThatIsNotTaken", edit_among_others_that_is_not_taken},
      {"P9", "ATaskOfSeveralThatCannotBeRead", task_of_several_that_cannot_be_read},
      {"P9", "TasksChosenByNoCommit", tasks_chosen_by_no_commit},
      {"P10", "AJoinThatHasSeenTooLittle", join_that_has_seen_too_little},
      {"P10", "AnEdgeLeftOut", edge_left_out},
  };
}

}  // namespace belay::check
