// Resumes at earlier checkpoints: a run that begins there, and decisions about its interrupts.

#include <algorithm>

#include "belay/approval.h"
#include "conversation/interrupt_id.h"
#include "engine/decision.h"
#include "langgraph/resume_decisions.h"
#include "langgraph/resumes.h"
#include "langgraph/run_segment.h"

namespace belay::langgraph {
namespace {

using server::Call;

// The time in which a run from a checkpoint reaches its interrupt.
constexpr std::chrono::seconds kInterruptTime{60};

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
  segment.count_closed();
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

Value terms_document(const ApprovalTerms& terms) {
  Value::Array choices;
  for (const ApprovalChoice& each : terms.choices) {
    choices.push_back(Value(Value::Array{each.name, each.label, each.approves}));
  }
  Value expiry;
  if (terms.on_expiry) expiry = Value(Value::Array{terms.on_expiry->topic, terms.on_expiry->data});
  return Value(Value::Array{Value(std::move(choices)), terms.answer_schema, terms.needs,
                            terms.when_expired, std::move(expiry)});
}

// Whether a person who has seen one of them has seen the other.
bool is_shown_alike(const ApprovalRow& one, const ApprovalRow& other) {
  bool is_same = one.node == other.node && one.question == other.question &&
                 one.payload_hash == other.payload_hash && one.roles == other.roles;
  if (!is_same) return false;
  auto terms = terms_of(one), others = terms_of(other);
  return terms.ok() && others.ok() && terms_document(*terms) == terms_document(*others);
}

std::vector<InterruptId> shown_alike(const ApprovalRow& shown,
                                     const std::vector<ApprovalRow>& rows) {
  std::vector<InterruptId> found;
  for (const ApprovalRow& row : rows) {
    if (is_shown_alike(shown, row)) found.push_back(row.interrupt);
  }
  return found;
}

Error other_interrupts(const RunRow& run) {
  return error(ErrorCode::conflict,
               "Run " + run.run.text() +
                   " from the checkpoint does not ask the same as the checkpoint: its payload or "
                   "its terms differ. Nothing was decided. Answer the interrupt of this run.");
}

// Replaces the interrupts of the checkpoint by those of the run that continues there. Among those
// that are alike, each is replaced by the one with the same place.
Result<std::vector<PlannedDecision>> decisions_about(std::vector<PlannedDecision> planned,
                                                     const std::vector<ApprovalRow>& earlier,
                                                     const RunView& view) {
  for (PlannedDecision& each : planned) {
    auto before = std::find_if(earlier.begin(), earlier.end(), [&each](const ApprovalRow& row) {
      return row.interrupt == each.interrupt;
    });
    if (before == earlier.end()) return no_interrupt();
    std::vector<InterruptId> alike = shown_alike(*before, earlier);
    std::vector<InterruptId> now = shown_alike(*before, view.approvals);
    if (alike.size() != now.size()) return other_interrupts(view.row);
    auto place = std::find(alike.begin(), alike.end(), each.interrupt) - alike.begin();
    each.interrupt = now[static_cast<std::size_t>(place)];
  }
  return planned;
}

// The same decisions about the interrupts of a record, which has them in their order.
Result<std::vector<PlannedDecision>> decisions_of_record(std::vector<PlannedDecision> planned,
                                                         const RunRecord& record) {
  if (record.answered.size() != planned.size()) return no_interrupt();
  for (std::size_t i = 0; i < planned.size(); ++i) {
    auto id = uuid_from(record.answered[i]);
    if (!id) return error(ErrorCode::corrupt, "The record of run " + record.id + " is damaged.");
    planned[i].interrupt = InterruptId(*id);
  }
  return planned;
}

// A run from the checkpoint would repeat an effect before it asks about it.
Result<Done> check_effects(const std::vector<ApprovalRow>& earlier) {
  auto asks = std::find_if(earlier.begin(), earlier.end(), engine::is_about_effect);
  if (asks == earlier.end()) return Done{};
  return error(ErrorCode::conflict,
               "Interrupt " + asks->interrupt.text() +
                   " asks whether an effect has happened, and a run from the checkpoint would "
                   "repeat the effect. Nothing was started. Answer it without a checkpoint.");
}

}  // namespace

Task<Result<RunRecord>> resume_at_checkpoint(AgentServer& served, Call& call, WantedRun& wanted) {
  BELAY_CO_CHECK(check_decider(call, wanted));
  BELAY_CO_TRY(std::vector<ApprovalRow> earlier,
               co_await interrupts_at(served, call, *wanted.from));
  BELAY_CO_CHECK(check_effects(earlier));
  BELAY_CO_TRY(std::vector<PlannedDecision> planned,
               planned_decisions(wanted.body.resume, earlier, call.who.user.text));
  BELAY_CO_CHECK(check_decisions(call, planned, earlier));
  BELAY_CO_TRY(RunView begun, co_await started_run(served, call, wanted));
  wanted.has_started = true;
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
  auto mapped = wanted.unbegun ? decisions_of_record(std::move(planned), *wanted.unbegun)
                               : decisions_about(std::move(planned), earlier, view);
  BELAY_CO_TRY(planned, std::move(mapped));
  RunRecord record = continuing_record(served, wanted, view.row);
  record.id = run.text();
  co_return co_await decide_with_record(served, call, wanted, std::move(record), view.row,
                                        std::move(planned), view.approvals);
}

}  // namespace belay::langgraph
