#include "langgraph/resumes.h"

#include "langgraph/resume_decisions.h"

namespace belay::langgraph {

using server::Call;

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
  BELAY_CO_CHECK(check_decisions(call, planned, open));
  RunRecord record = continuing_record(served, wanted, view.row);
  co_return co_await decide_with_record(served, call, wanted, std::move(record), view.row,
                                        std::move(planned), open);
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
