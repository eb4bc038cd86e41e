// AgUiEndpoint: the answers to interrupts, as decisions of approvals.

#include <algorithm>

#include "ag_ui/ag_ui_endpoint.h"
#include "ag_ui/interrupts.h"
#include "base/in_quotes.h"
#include "service/json_encode.h"

namespace belay::ag_ui {
namespace {

using server::Call;

Error unknown_interrupt() {
  return error(ErrorCode::not_found, "Unknown interrupt. Nothing was decided.");
}

bool is_open(const ApprovalRow& approval) { return approval.status == ApprovalStatus::open; }

Error refused(const ApprovalRow& approval, const DecisionResult& answer) {
  return error(ErrorCode::conflict, "Interrupt " + in_quotes(approval.interrupt.text()) + ": " +
                                        refusal_text(answer) + ".");
}

}  // namespace

Task<Result<AgUiRun>> AgUiEndpoint::resume(Call& call, AgUiRun wanted, RunInput input) {
  if (call.who.permission < Permission::decide) {
    co_return error(ErrorCode::forbidden, "This API key lacks the permission decide.");
  }
  BELAY_CO_TRY(Answers answers, co_await answers_to(call, input));
  std::string key = wanted.id;
  BELAY_CO_TRY(std::optional<AgUiRun> known, co_await known_run(call, std::move(key)));
  if (!known) {
    BELAY_CO_TRY(known, co_await bind(call, std::move(wanted), answers));
  } else if (known->request != wanted.request) {
    co_return error(ErrorCode::conflict, "The runId " + in_quotes(known->run_id) +
                                             " names another request of this thread. Nothing was "
                                             "decided. Use another runId.");
  }
  BELAY_CO_CHECK(co_await decide(call, answers));
  co_return *std::move(known);
}

// Reads the approvals and the decisions of all entries, before anything is written.
Task<Result<AgUiEndpoint::Answers>> AgUiEndpoint::answers_to(Call& call, const RunInput& input) {
  Answers answers;
  for (const ResumeEntry& entry : input.resume) {
    Whose any;
    std::string id = entry.interrupt.text();
    auto approval = co_await call.service.approval(call.who, std::move(id), std::move(any));
    bool is_absent = !approval.ok() && approval.error().code == ErrorCode::not_found;
    if (is_absent) co_return unknown_interrupt();
    if (!approval.ok()) co_return std::move(approval).error();
    bool is_of_thread =
        approval->thread == input.thread && approval->graph == call.path.at("agent");
    if (!is_of_thread) co_return unknown_interrupt();
    Answer answer{entry, *std::move(approval), Decision()};
    if (!answers.empty() && answers.front().approval.run != answer.approval.run) {
      co_return error(ErrorCode::invalid,
                      "\"resume\" has interrupts of several runs. Answer those of one run.");
    }
    BELAY_CO_TRY(answer.decision, decision_of(entry, answer.approval));
    answer.decision.decided_by = call.who.user.text;
    answers.push_back(std::move(answer));
  }
  co_return std::move(answers);
}

// Records which interrupts of which run are answered, and after which commit.
Task<Result<AgUiRun>> AgUiEndpoint::bind(Call& call, AgUiRun wanted, const Answers& answers) {
  ThreadId thread(wanted.thread);
  RunId run = answers.front().approval.run;
  BELAY_CO_TRY(RunView view,
               co_await call.service.status(call.who, std::move(thread), std::nullopt, run));
  std::uint64_t asked = 0;
  bool has_open = false;
  for (const Answer& answer : answers) {
    wanted.answered.push_back(answer.approval.interrupt.text());
    asked = std::max(asked, answer.approval.seq);
    has_open = has_open || is_open(answer.approval);
  }
  for (const ApprovalRow& open : view.approvals) {
    auto is_same = [&open](const Answer& each) {
      return each.approval.interrupt == open.interrupt;
    };
    if (std::any_of(answers.begin(), answers.end(), is_same)) continue;
    co_return error(ErrorCode::invalid, "\"resume\" does not answer the open interrupt " +
                                            in_quotes(open.interrupt.text()) +
                                            ". Answer or cancel each one. Nothing was decided.");
  }
  BELAY_CO_CHECK(co_await check_closed(call, answers));
  // The run of a closed approval might have continued: its events after the request are new.
  wanted.after = static_cast<std::int64_t>(has_open ? view.row.seq : asked);
  wanted.run = run.text();
  co_return co_await save(call, std::move(wanted));
}

// Refuses a decision that differs from the recorded one. The approval is closed: nothing changes.
Task<Result<Done>> AgUiEndpoint::check_closed(Call& call, const Answers& answers) {
  for (const Answer& answer : answers) {
    if (is_open(answer.approval) || answer.entry.is_cancelled) continue;
    Decision decision = answer.decision;
    BELAY_CO_TRY(
        DecisionResult made,
        co_await call.service.decide(call.who, answer.approval.interrupt, std::move(decision)));
    if (!is_made(made)) co_return refused(answer.approval, made);
  }
  co_return Done{};
}

Task<Result<Done>> AgUiEndpoint::decide(Call& call, const Answers& answers) {
  for (const Answer& answer : answers) {
    // An approval that was closed meanwhile needs no cancellation.
    if (!is_open(answer.approval) && answer.entry.is_cancelled) continue;
    Decision decision = answer.decision;
    server::Patience patience;
    BELAY_CO_TRY(DecisionResult made,
                 co_await server::decided(world_, call.service, call.who, answer.approval.interrupt,
                                          std::move(decision), patience));
    if (!is_made(made) && !answer.entry.is_cancelled) co_return refused(answer.approval, made);
  }
  co_return Done{};
}

}  // namespace belay::ag_ui
