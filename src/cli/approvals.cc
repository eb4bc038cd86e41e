// belay approvals: list, show, approve and reject.

#include "belay/limits.h"
#include "cli/documents.h"
#include "cli/show.h"
#include "cli/verbs.h"

namespace belay::cli {
namespace {

Decision decision_of(const World& world, ApprovalsDecide wanted) {
  Decision decision;
  decision.approved = wanted.approved;
  decision.decided_by = acting_name(world, wanted.by);
  decision.roles = std::move(wanted.roles);
  decision.comment = std::move(wanted.comment);
  decision.edited = std::move(wanted.edited);
  return decision;
}

void show_decision(World& world, const DecisionAnswer& answer) {
  const ApprovalRow& row = answer.approval;
  const Phrases& phrases = world.phrases;
  std::string_view said = phrases.same_decision;
  if (answer.kind == DecisionAnswer::Kind::won) {
    bool approved = row.status == ApprovalStatus::approved;
    said = approved ? phrases.won_approved : phrases.won_rejected;
  }
  world.output.line(filled(said, {{"who", decider_of(phrases, row)}}));
  show_run(world, answer.view);
}

Value decision_document(const Program& program, const DecisionAnswer& answer) {
  return belay::decision_document(answer, program.presentation.approval_document);
}

Task<Result<std::vector<ApprovalRow>>> find_approvals(World& world, bool all) {
  ApprovalPage page;
  page.only_open = !all;
  return world.service.approvals(std::move(page));
}

}  // namespace

Task<Answered> list_approvals(World& world, ApprovalsList wanted) {
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

Task<Answered> show_approval(World& world, ApprovalsShow wanted) {
  Whose any;
  BELAY_CO_TRY(ApprovalRow row,
               co_await world.service.approval(std::move(wanted.id), std::move(any)));
  show_approval_in_full(world, row);
  world.output.document(approval_document(world.program, row));
  co_return ExitCode::done;
}

Task<Answered> decide_approval(World& world, ApprovalsDecide wanted) {
  Whose any;
  BELAY_CO_TRY(ApprovalRow row, co_await world.service.approval(wanted.id, std::move(any)));
  Decision decision = decision_of(world, std::move(wanted));
  // Only a run that this decision moves is one that a signal could leave in its middle.
  if (row.status == ApprovalStatus::open) world.progress.begins(row.thread);
  BELAY_CO_TRY(DecisionAnswer answer,
               co_await world.service.decide(row.interrupt, std::move(decision)));
  world.progress.rests(row.thread);
  if (!is_made(answer)) {
    std::string look =
        "; look at it with " + world.settings.call + " state " + answer.approval.thread.text + ".";
    Error refused = error(ErrorCode::conflict, refusal_text(answer) + look);
    world.output.fail(refused, decision_document(world.program, answer));
    co_return exit_code_of(refused.code);
  }
  show_decision(world, answer);
  world.output.document(decision_document(world.program, answer));
  if (answer.kind == DecisionAnswer::Kind::same) co_return ExitCode::done;
  co_return end_of(world, answer.view);
}

}  // namespace belay::cli
