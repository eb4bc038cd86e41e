// `belay approvals`: list, show, approve and reject.

#include "belay/limits.h"
#include "cli/commands.h"
#include "cli/documents.h"
#include "cli/show.h"

namespace belay::cli {
namespace {

Decision decision_of(const CommandContext& world, ApprovalsDecide wanted) {
  Decision decision;
  decision.approved = wanted.approved;
  decision.decided_by = acting_name(world, wanted.by);
  decision.roles = std::move(wanted.roles);
  decision.comment = std::move(wanted.comment);
  decision.edited = std::move(wanted.edited);
  return decision;
}

void show_decision(CommandContext& world, const DecisionResult& answer) {
  const ApprovalRow& row = answer.approval;
  const LocalizedText& phrases = world.phrases;
  std::string_view said = phrases.same_decision;
  if (answer.kind == DecisionResult::Kind::accepted) {
    bool approved = row.status == ApprovalStatus::approved;
    said = approved ? phrases.won_approved : phrases.won_rejected;
  }
  world.output.line(format_message(said, {{"who", decider_of(phrases, row)}}));
  show_run(world, answer.view);
}

Value decision_document(const Program& program, const DecisionResult& answer) {
  return belay::decision_document(answer, program.presentation.approval_document);
}

Task<Result<std::vector<ApprovalRow>>> find_approvals(CommandContext& world, bool all) {
  ApprovalPage page;
  page.only_open = !all;
  return world.service.approvals(std::move(page));
}

}  // namespace

Task<CommandResult> list_approvals(CommandContext& world, ApprovalsList wanted) {
  BELAY_CO_TRY(std::vector<ApprovalRow> rows, co_await find_approvals(world, wanted.all));
  if (rows.empty()) world.output.line(world.phrases.no_approvals);
  Value::Array documents;
  for (const ApprovalRow& row : rows) {
    show_approval_line(world, row);
    documents.push_back(approval_document(world.program, row));
  }
  if (const auto& after = world.program.presentation.after_approvals; after && !wanted.all) {
    BELAY_CO_TRY(std::vector<ApprovalRow> every, co_await find_approvals(world, true));
    after(world, every);
  }
  world.output.document(Value::object({{"approvals", std::move(documents)}}));
  co_return ExitCode::done;
}

Task<CommandResult> show_approval(CommandContext& world, ApprovalsShow wanted) {
  Whose any;
  BELAY_CO_TRY(ApprovalRow row,
               co_await world.service.approval(std::move(wanted.id), std::move(any)));
  show_approval_in_full(world, row);
  world.output.document(approval_document(world.program, row));
  co_return ExitCode::done;
}

Task<CommandResult> decide_approval(CommandContext& world, ApprovalsDecide wanted) {
  Whose any;
  BELAY_CO_TRY(ApprovalRow row, co_await world.service.approval(wanted.id, std::move(any)));
  Decision decision = decision_of(world, std::move(wanted));
  // If a signal arrives, the unfinished runs are printed. This run is one of them only if the
  // decision continues it.
  if (row.status == ApprovalStatus::open) world.progress.begins(row.thread);
  BELAY_CO_TRY(DecisionResult answer,
               co_await world.service.decide(row.interrupt, std::move(decision)));
  world.progress.rests(row.thread);
  if (!is_made(answer)) {
    std::string look =
        ". Show it with " + world.settings.call + " state " + answer.approval.thread.text + ".";
    Error refused = error(ErrorCode::conflict, refusal_text(answer) + look);
    world.output.fail(refused, decision_document(world.program, answer));
    co_return exit_code_of(refused.code);
  }
  show_decision(world, answer);
  world.output.document(decision_document(world.program, answer));
  if (answer.kind == DecisionResult::Kind::duplicate) co_return ExitCode::done;
  co_return end_of(world, answer.view);
}

}  // namespace belay::cli
