#include "langgraph/resumes.h"

#include <algorithm>

#include "conversation/interrupt_id.h"
#include "engine/decision.h"
#include "langgraph/records.h"
#include "langgraph/run_segment.h"
#include "service/json_encode.h"

namespace belay::langgraph {
namespace {

using server::Call;

// The time in which a run from a checkpoint reaches its interrupt.
constexpr std::chrono::seconds kInterruptTime{60};

// A run of the protocol that continues a run of the service.
RunRecord continuing_record(AgentServer& served, const WantedRun& wanted, const RunRow& row) {
  RunRecord record = record_of_wanted(served, wanted, row);
  record.id = wanted.continuing_id;
  record.after = static_cast<std::int64_t>(row.seq);
  record.created_at = served.world.parts.clock.now();
  return record;
}

Error no_interrupt() {
  return error(ErrorCode::conflict, "The resume matches no pending interrupt of the thread.");
}

// Saves the record; returns the first one, if the same request has saved it.
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

// Erases the record of a run that was refused. After other errors, it might exist.
Task<Done> withdraw_record(const Call& call, const RunRecord& record, UserId user, Error failed) {
  bool is_refused = failed.code != ErrorCode::unavailable && failed.code != ErrorCode::uncertain;
  if (!is_refused) co_return Done{};
  std::vector<RecordWrite> writes;
  writes.push_back(record_erasure(RunRecord::collection, user, record.id));
  (void)co_await call.service.save_records(call.who, std::move(writes));
  co_return Done{};
}

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

// Makes the decisions in their order.
Task<Result<Done>> decide_all(AgentServer& served, Call& call,
                              std::vector<PlannedDecision> planned) {
  for (PlannedDecision& each : planned) {
    server::Patience patience;
    BELAY_CO_TRY(DecisionResult made,
                 co_await server::decided(served.world, call.service, call.who, each.interrupt,
                                          std::move(each.decision), patience));
    if (!is_made(made)) co_return error(ErrorCode::conflict, refusal_text(made) + ".");
  }
  co_return Done{};
}

// Saves the record, unless the same request has saved it before, and makes the decisions.
Task<Result<RunRecord>> decide_with_record(AgentServer& served, Call& call, const WantedRun& wanted,
                                           RunRecord record, std::vector<PlannedDecision> planned) {
  UserId user = wanted.thread->user;
  if (wanted.unbegun) {
    record = *wanted.unbegun;
  } else {
    for (const PlannedDecision& each : planned) record.answered.push_back(each.interrupt.text());
    BELAY_CO_TRY(record, co_await saved_record(call, std::move(record), user));
  }
  bool decides_one = planned.size() == 1;
  auto made = co_await decide_all(served, call, std::move(planned));
  if (made.ok()) co_return std::move(record);
  // After the first of several, the run has continued.
  if (decides_one) (void)co_await withdraw_record(call, record, user, made.error());
  co_return std::move(made).error();
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

Task<Result<Done>> read_to_pause(RunSegment& segment) {
  std::vector<EventKind> none;
  BELAY_CO_CHECK(co_await segment.open(std::move(none)));
  while (segment.end() == SegmentEnd::none) BELAY_CO_CHECK(co_await segment.next());
  co_return Done{};
}

Task<Result<std::int64_t>> superstep_of(const Call& call, const RunRow& run, std::uint64_t seq) {
  HistoryPage page;
  page.thread = run.thread;
  page.run = run.run;
  page.before_seq = seq + 1;
  page.limit = 1;
  BELAY_CO_TRY(std::vector<RunHistory> history,
               co_await call.service.history(call.who, std::move(page)));
  bool is_known = !history.empty() && !history.front().checkpoints.empty();
  if (!is_known) co_return error(ErrorCode::not_found, "The checkpoint is no longer stored.");
  co_return history.front().checkpoints.front().superstep;
}

// The interrupts at which the run has waited in the superstep of the commit.
Task<Result<std::vector<ApprovalRow>>> interrupts_at(AgentServer& served, const Call& call,
                                                     const RunCommit& from) {
  auto id = uuid_from(from.run);
  if (!id) co_return no_interrupt();
  ProtocolRun run;
  BELAY_CO_TRY(run.row, co_await call.service.run(call.who, RunId(*id)));
  run.record = record_of_row(run.row);
  run.record.after = from.seq - 1;
  RunSegment segment(call.service, call.who, run);
  auto task = read_to_pause(segment);
  auto read = co_await served.world.waiting.within<Result<Done>>(kInterruptTime, std::move(task));
  if (!read) co_return no_interrupt();
  BELAY_CO_CHECK(std::move(*read));
  if (segment.end() != SegmentEnd::interrupted) co_return no_interrupt();
  BELAY_CO_TRY(std::int64_t paused, co_await superstep_of(call, run.row, segment.end_seq()));
  BELAY_CO_TRY(std::int64_t wanted,
               co_await superstep_of(call, run.row, static_cast<std::uint64_t>(from.seq)));
  if (paused != wanted) co_return no_interrupt();
  std::vector<std::string> ids;
  for (const Value& each : segment.interrupts()) {
    auto interrupt = conversation::interrupt_id_from(*each["id"].as_string());
    if (interrupt) ids.push_back(interrupt->text());
  }
  co_return co_await approvals_named(call, std::move(ids));
}

// Replaces the interrupts of the checkpoint by those of the run that continues there.
Result<std::vector<PlannedDecision>> decisions_about(std::vector<PlannedDecision> planned,
                                                     const std::vector<ApprovalRow>& earlier,
                                                     const std::vector<ApprovalRow>& open) {
  std::vector<InterruptId> used;
  for (PlannedDecision& each : planned) {
    auto before = std::find_if(earlier.begin(), earlier.end(), [&each](const ApprovalRow& row) {
      return row.interrupt == each.interrupt;
    });
    auto now = std::find_if(open.begin(), open.end(), [&](const ApprovalRow& row) {
      bool is_free = std::find(used.begin(), used.end(), row.interrupt) == used.end();
      return is_free && row.node == before->node && row.question == before->question;
    });
    if (now == open.end()) return no_interrupt();
    used.push_back(now->interrupt);
    each.interrupt = now->interrupt;
  }
  return planned;
}

}  // namespace

std::string continuing_id(AgentServer& served, const Call& call, const WantedRun& wanted) {
  Uuid id = random_uuid(served.world.parts.random);
  std::string key(call.request.header("Idempotency-Key"));
  if (key.empty() || !wanted.thread) return id.text();
  Digest digest =
      sha256("langgraph run\n" + call.who.user.text + '\n' + wanted.thread->id.text + '\n' + key);
  std::copy_n(digest.begin(), id.bytes.size(), id.bytes.begin());
  return id.text();
}

Task<Result<std::optional<ProtocolRun>>> known_run(const Call& call, WantedRun& wanted) {
  bool is_resume = !wanted.body.resume.is_null();
  bool passes = wanted.body.input.is_null() && !wanted.body.change && !wanted.from;
  bool has_key = !call.request.header("Idempotency-Key").empty();
  bool may_be_known = (is_resume || passes) && has_key && wanted.thread;
  if (!may_be_known) co_return std::optional<ProtocolRun>();
  std::string id = wanted.continuing_id;
  UserId user = wanted.thread->user;
  auto records = records_of(call.service, call.who, std::move(user));
  BELAY_CO_TRY(auto record, co_await records->get<RunRecord>(std::move(id)));
  if (!record) co_return std::optional<ProtocolRun>();
  id = wanted.continuing_id;
  auto run = co_await find_run_by_id(call, std::move(id));
  bool is_known = run.ok() && run->record.after == record->after;
  if (is_known) co_return std::optional(*std::move(run));
  bool is_absent = run.ok() || run.error().code == ErrorCode::not_found;
  if (!is_absent) co_return std::move(run).error();
  wanted.unbegun = std::move(record);
  co_return std::optional<ProtocolRun>();
}

Task<Result<RunRecord>> resume_run(AgentServer& served, Call& call, const WantedRun& wanted) {
  BELAY_CO_CHECK(check_decider(call, wanted));
  ThreadId thread = wanted.thread->id;
  RunId run = wanted.thread->listed->run->run;
  BELAY_CO_TRY(RunView view,
               co_await call.service.status(call.who, std::move(thread), std::nullopt, run));
  std::vector<ApprovalRow> open = std::move(view.approvals);
  if (wanted.unbegun) {
    std::vector<std::string> answered = wanted.unbegun->answered;
    BELAY_CO_TRY(open, co_await approvals_named(call, std::move(answered)));
  }
  BELAY_CO_TRY(std::vector<PlannedDecision> planned,
               planned_decisions(wanted.body.resume, open, call.who.user.text));
  BELAY_CO_CHECK(check_roles(call, planned, open));
  RunRecord record = continuing_record(served, wanted, view.row);
  co_return co_await decide_with_record(served, call, wanted, std::move(record),
                                        std::move(planned));
}

Task<Result<RunRecord>> resume_at_checkpoint(AgentServer& served, Call& call,
                                             const WantedRun& wanted) {
  BELAY_CO_CHECK(check_decider(call, wanted));
  BELAY_CO_TRY(std::vector<ApprovalRow> earlier,
               co_await interrupts_at(served, call, *wanted.from));
  BELAY_CO_TRY(std::vector<PlannedDecision> planned,
               planned_decisions(wanted.body.resume, earlier, call.who.user.text));
  BELAY_CO_CHECK(check_roles(call, planned, earlier));
  BELAY_CO_TRY(RunView begun, co_await started_run(served, call, wanted));
  ThreadId thread = begun.row.thread;
  RunId run = begun.row.run;
  auto task = call.service.wait_for(call.who, std::move(thread), run);
  auto settled =
      co_await served.world.waiting.within<Result<RunView>>(kInterruptTime, std::move(task));
  if (!settled) {
    co_return error(ErrorCode::unavailable,
                    "Run " + run.text() + " from the checkpoint has not reached its interrupt.");
  }
  if (!settled->ok()) co_return std::move(*settled).error();
  RunView view = **std::move(settled);
  std::vector<ApprovalRow> open = std::move(view.approvals);
  if (wanted.unbegun) {
    std::vector<std::string> answered = wanted.unbegun->answered;
    BELAY_CO_TRY(open, co_await approvals_named(call, std::move(answered)));
  }
  BELAY_CO_TRY(planned, decisions_about(std::move(planned), earlier, open));
  RunRecord record = continuing_record(served, wanted, view.row);
  record.id = run.text();
  co_return co_await decide_with_record(served, call, wanted, std::move(record),
                                        std::move(planned));
}

Task<Result<RunRecord>> pass_breakpoint(AgentServer& served, Call& call, const WantedRun& wanted) {
  UserId user = wanted.thread->user;
  RunRecord record = continuing_record(served, wanted, *wanted.thread->listed->run);
  if (wanted.unbegun) {
    record = *wanted.unbegun;
  } else {
    BELAY_CO_TRY(record, co_await saved_record(call, std::move(record), user));
  }
  ThreadId thread = wanted.thread->id;
  auto seq = static_cast<std::uint64_t>(record.after);
  // They replace those of the run before: each run of the protocol has its own.
  auto task = server::resume_or_look(call.service, call.who, std::move(thread),
                                     wanted.body.breakpoints, seq);
  server::AwaitedRun awaited;
  awaited.thread = wanted.thread->id;
  awaited.after_seq = seq;
  server::Patience patience;
  auto passed = co_await server::await_run(served.world, call.service, call.who, std::move(task),
                                           std::move(awaited), patience);
  if (passed.ok()) co_return std::move(record);
  (void)co_await withdraw_record(call, record, user, passed.error());
  co_return std::move(passed).error();
}

}  // namespace belay::langgraph
