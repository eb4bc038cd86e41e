#include "langgraph/resume_decisions.h"

#include <algorithm>

#include "belay/approval.h"
#include "engine/decision.h"
#include "langgraph/records.h"
#include "runtime/decision_event.h"
#include "service/json_encode.h"

namespace belay::langgraph {
namespace {

using server::Call;

// `forbidden` if the caller has no role for one of several decisions: none of them is made then.
Result<Done> check_roles(const Call& call, const std::vector<PlannedDecision>& planned,
                         const std::vector<ApprovalRow>& open) {
  for (const ApprovalRow& row : open) {
    bool is_planned = std::any_of(
        planned.begin(), planned.end(),
        [&row](const PlannedDecision& each) { return each.interrupt == row.interrupt; });
    if (!is_planned || engine::holds_a_role(row, call.who.roles)) continue;
    return error(ErrorCode::forbidden, "Interrupt " + row.interrupt.text() +
                                           " requires one of the roles " + row.roles +
                                           ". Nothing was decided.");
  }
  return Done{};
}

const ApprovalRow* row_of_decision(const PlannedDecision& planned,
                                   const std::vector<ApprovalRow>& rows) {
  auto found = std::find_if(rows.begin(), rows.end(), [&planned](const ApprovalRow& row) {
    return row.interrupt == planned.interrupt;
  });
  return found == rows.end() ? nullptr : &*found;
}

// Decisions, as far as they were made.
struct MadeDecisions {
  std::size_t count = 0;
  std::vector<std::string> votes;  // the interrupts that wait for more of them
  std::uint64_t seq = 0;           // of the run, after the last one
  Result<Done> end = Done{};       // the error of the one that was not made
};

Task<MadeDecisions> decide_all(AgentServer& served, Call& call,
                               std::vector<PlannedDecision> planned) {
  MadeDecisions all;
  for (PlannedDecision& each : planned) {
    server::Patience patience;
    auto made = co_await server::decided(served.world, call.service, call.who, each.interrupt,
                                         std::move(each.decision), patience);
    if (made.ok() && !is_made(*made)) made = error(ErrorCode::conflict, refusal_text(*made) + ".");
    if (!made.ok()) {
      all.end = std::move(made).error();
      co_return std::move(all);
    }
    ++all.count;
    all.seq = made->view.row.seq;
    bool is_vote = made->approval.status == ApprovalStatus::open;
    if (is_vote) all.votes.push_back(each.interrupt.text());
  }
  co_return std::move(all);
}

// Whether the record shows only after another write that all decisions were made: the run can
// continue without them.
bool can_stop_between(const std::vector<PlannedDecision>& planned,
                      const std::vector<ApprovalRow>& rows, const RunRow& run) {
  auto needs_several = [](const ApprovalRow& row) {
    auto terms = terms_of(row);
    return terms.ok() && terms->needs > 1;
  };
  return planned.size() > 1 || run.status != RunStatus::paused ||
         std::any_of(rows.begin(), rows.end(), needs_several);
}

// Saves what the decisions have left open.
Task<Result<Done>> note_decisions(const Call& call, RunRecord& record, const MadeDecisions& made,
                                  UserId user) {
  bool was_partial = record.is_partial;
  record.left_open = made.votes;
  if (!made.end.ok()) {
    auto first = record.answered.begin() + static_cast<std::ptrdiff_t>(made.count);
    record.left_open.insert(record.left_open.end(), first, record.answered.end());
  }
  record.is_partial = !made.end.ok();
  // A vote commits nothing to the run: it waits at the commit at which the request has found it,
  // which becomes the first one of this run of the protocol.
  bool waits_there = made.end.ok() && static_cast<std::int64_t>(made.seq) == record.after;
  if (waits_there) --record.after;
  bool is_same = !was_partial && !record.is_partial && record.left_open.empty() && !waits_there;
  if (is_same) co_return Done{};
  std::vector<RecordWrite> writes;
  BELAY_CO_CHECK(add_write(writes, record, user));
  co_return co_await call.service.save_records(call.who, std::move(writes));
}

}  // namespace

Error no_interrupt() {
  return error(ErrorCode::conflict, "The resume matches no pending interrupt of the thread.");
}

RunRecord continuing_record(AgentServer& served, const WantedRun& wanted, const RunRow& row) {
  RunRecord record = record_of_wanted(served, wanted, row);
  record.id = wanted.continuing_id;
  record.after = static_cast<std::int64_t>(row.seq);
  record.created_at = served.world.parts.clock.now();
  return record;
}

Task<Result<RunRecord>> saved_record(const Call& call, RunRecord record, UserId user) {
  std::string id = record.id;
  RunRecord saved = record;
  UserId owner = user;
  BELAY_CO_CHECK(co_await save_run(call, std::move(record), std::move(owner)));
  auto records = records_of(call.service, call.who, std::move(user));
  BELAY_CO_TRY(auto found, co_await records->get<RunRecord>(std::move(id)));
  if (found) co_return *std::move(found);
  co_return std::move(saved);
}

Task<Done> withdraw_record(const Call& call, const RunRecord& record, UserId user, Error failed) {
  bool is_refused = failed.code != ErrorCode::unavailable && failed.code != ErrorCode::uncertain;
  if (!is_refused) co_return Done{};
  std::vector<RecordWrite> writes;
  writes.push_back(record_erasure(RunRecord::collection, user, record.id));
  (void)co_await call.service.save_records(call.who, std::move(writes));
  co_return Done{};
}

Result<Done> check_decider(const Call& call, const WantedRun& wanted) {
  if (call.who.permission < Permission::decide) {
    return error(ErrorCode::forbidden, "This API key lacks the permission decide.");
  }
  if (!wanted.body.input.is_null()) {
    return error(ErrorCode::invalid, "A run has either an \"input\" or a \"command.resume\".");
  }
  if (!wanted.thread || !wanted.thread->has_run()) return no_interrupt();
  return Done{};
}

Result<Done> check_decisions(const Call& call, const std::vector<PlannedDecision>& planned,
                             const std::vector<ApprovalRow>& rows) {
  BELAY_CHECK(check_roles(call, planned, rows));
  for (const PlannedDecision& each : planned) {
    const ApprovalRow* row = row_of_decision(each, rows);
    if (!row) return no_interrupt();
    engine::Decided event = first_decision(*row, each.decision);
    BELAY_CHECK(engine::check_decision(event, call.who.roles));
    BELAY_CHECK(engine::resolve_choice(event));
  }
  return Done{};
}

Task<Result<std::vector<ApprovalRow>>> approvals_named(const Call& call,
                                                       std::vector<std::string> ids) {
  std::vector<ApprovalRow> rows;
  for (std::string& id : ids) {
    Whose any;
    BELAY_CO_TRY(ApprovalRow row,
                 co_await call.service.approval(call.who, std::move(id), std::move(any)));
    rows.push_back(std::move(row));
  }
  co_return std::move(rows);
}

Task<Result<RunRecord>> decide_with_record(AgentServer& served, Call& call, const WantedRun& wanted,
                                           RunRecord record, const RunRow& run,
                                           std::vector<PlannedDecision> planned,
                                           const std::vector<ApprovalRow>& rows) {
  UserId user = wanted.thread->user;
  if (wanted.unbegun) {
    record = *wanted.unbegun;
  } else {
    for (const PlannedDecision& each : planned) record.answered.push_back(each.interrupt.text());
    record.is_partial = can_stop_between(planned, rows, run);
    BELAY_CO_TRY(record, co_await saved_record(call, std::move(record), user));
  }
  MadeDecisions made = co_await decide_all(served, call, std::move(planned));
  if (made.count == 0 && !made.end.ok()) {
    (void)co_await withdraw_record(call, record, user, made.end.error());
    co_return std::move(made.end).error();
  }
  auto noted = co_await note_decisions(call, record, made, user);
  if (!made.end.ok()) co_return std::move(made.end).error();
  if (!noted.ok()) co_return std::move(noted).error();
  co_return std::move(record);
}

}  // namespace belay::langgraph
