// AgUiEndpoint: the answers to interrupts, as decisions of approvals.

#include <algorithm>

#include "ag_ui/ag_ui_endpoint.h"
#include "ag_ui/interrupts.h"
#include "base/in_quotes.h"
#include "belay/approval.h"

namespace belay::ag_ui {
namespace {

using server::Call;

Error unknown_interrupt() {
  return error(ErrorCode::not_found, "Unknown interrupt. Nothing was decided.");
}

}  // namespace

Task<Result<AgUiRun>> AgUiEndpoint::resume(Call& call, AgUiRun wanted, Value agent,
                                           RunInput input) {
  if (call.who.permission < Permission::decide) {
    co_return error(ErrorCode::forbidden, "This API key lacks the permission decide.");
  }
  BELAY_CO_TRY(Answers answers, co_await answers_to(call, input));
  std::string key = wanted.id;
  BELAY_CO_TRY(KnownRun known, co_await known_run(call, std::move(key)));
  if (known.run && known.run->request != wanted.request) {
    co_return error(ErrorCode::conflict, "The runId " + in_quotes(known.run->run_id) +
                                             " names another request of this thread. Nothing was "
                                             "decided. Use another runId.");
  }
  BELAY_CO_CHECK(check_answers(answers, agent, call.who.roles, world_.parts.clock.now()));
  order_answers(answers);
  AgUiRun named;
  if (known.run) {
    named = *std::move(known.run);
  } else {
    BELAY_CO_TRY(named, co_await bind(call, std::move(wanted), known.version, answers));
  }
  co_return co_await decide(call, std::move(named), answers);
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
    ResumeAnswer answer{entry, *std::move(approval), Decision()};
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
Task<Result<AgUiRun>> AgUiEndpoint::bind(Call& call, AgUiRun wanted, std::uint64_t version,
                                         const Answers& answers) {
  ThreadId thread(wanted.thread);
  RunId run = answers.front().approval.run;
  BELAY_CO_TRY(RunView view,
               co_await call.service.status(call.who, std::move(thread), std::nullopt, run));
  std::uint64_t asked = 0;
  bool has_open = false;
  for (const ResumeAnswer& answer : answers) {
    wanted.answered.push_back(answer.approval.interrupt.text());
    asked = std::max(asked, answer.approval.seq);
    has_open = has_open || is_open(answer.approval);
  }
  for (const ApprovalRow& open : view.approvals) {
    auto is_same = [&open](const ResumeAnswer& each) {
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
  for (const ResumeAnswer& answer : answers) {
    if (!has_open) wanted.decided_at = std::max(wanted.decided_at, answer.approval.decided_at);
  }
  wanted.run = run.text();
  wanted.run_created_at = view.row.created_at;
  co_return co_await save(call, std::move(wanted), version);
}

// Refuses a decision that differs from the recorded one. The approval is closed: nothing changes.
Task<Result<Done>> AgUiEndpoint::check_closed(Call& call, const Answers& answers) {
  for (const ResumeAnswer& answer : answers) {
    if (is_open(answer.approval) || decides_nothing(answer)) continue;
    Decision decision = answer.decision;
    BELAY_CO_TRY(
        DecisionResult made,
        co_await call.service.decide(call.who, answer.approval.interrupt, std::move(decision)));
    if (is_refused(answer, made)) co_return refusal_of(answer.approval, made);
  }
  co_return Done{};
}

Task<Result<AgUiRun>> AgUiEndpoint::decide(Call& call, AgUiRun named, const Answers& answers) {
  Votes votes;
  bool has_decided = false;
  for (const ResumeAnswer& answer : answers) {
    if (decides_nothing(answer)) continue;
    Decision decision = answer.decision;
    server::Patience patience;
    auto made = co_await server::decided(world_, call.service, call.who, answer.approval.interrupt,
                                         std::move(decision), patience);
    bool differs = made.ok() && is_refused(answer, *made);
    if (differs) made = refusal_of(answer.approval, *made);
    if (!made.ok()) {
      Error failed = std::move(made).error();
      Error why = failed;
      if (!has_decided) (void)co_await withdraw(call, named, std::move(why));
      co_return std::move(failed);
    }
    bool is_first_time = made->kind == DecisionResult::Kind::accepted;
    has_decided = has_decided || (is_first_time && is_open(answer.approval));
    take_votes(*made, votes);
  }
  co_return co_await noted(call, std::move(named), std::move(votes));
}

void AgUiEndpoint::take_votes(const DecisionResult& made, Votes& votes) {
  const ApprovalRow& approval = made.approval;
  auto terms = terms_of(approval);
  votes.is_possible = votes.is_possible || (terms.ok() && terms->needs > 1);
  if (made.view.row.seq >= votes.seq) {
    votes.seq = made.view.row.seq;
    votes.is_paused = made.view.row.status == RunStatus::paused;
  }
  if (!is_open(approval)) return;
  votes.open.push_back(approval.interrupt.text());
  votes.at = std::max(votes.at, approval.decided_at);
}

// Saves what the decisions have left open, unless an equal request has saved it.
Task<Result<AgUiRun>> AgUiEndpoint::noted(Call& call, AgUiRun named, Votes votes) {
  if (!votes.is_possible) co_return std::move(named);
  std::unique_ptr<Records> records = records_of(call.service, call.who, call.who.user);
  std::string key = named.id;
  BELAY_CO_TRY(auto found, co_await records->get_versioned<AgUiRun>(std::move(key)));
  if (!found) co_return std::move(named);
  AgUiRun present = std::move(found->record);
  bool is_done = votes.open.empty() || !present.left_open.empty();
  if (is_done) co_return std::move(present);
  present.left_open = std::move(votes.open);
  present.voted_at = votes.at;
  present.has_only_votes = votes.is_paused && static_cast<std::int64_t>(votes.seq) == present.after;
  co_return co_await save(call, std::move(present), found->version);
}

// Erases the record of a resume that has decided nothing. After an error of the store, the decision
// might have been made.
Task<Done> AgUiEndpoint::withdraw(Call& call, const AgUiRun& named, Error failed) {
  bool is_refusal = failed.code != ErrorCode::unavailable && failed.code != ErrorCode::uncertain;
  if (!is_refusal) co_return Done{};
  std::unique_ptr<Records> records = records_of(call.service, call.who, call.who.user);
  std::string key = named.id;
  auto found = co_await records->get_versioned<AgUiRun>(std::move(key));
  bool is_same = found.ok() && *found && (*found)->record.request == named.request;
  if (!is_same) co_return Done{};
  RecordWrite write = record_erasure(AgUiRun::collection, call.who.user, named.id);
  write.expected_version = (*found)->version;
  std::vector<RecordWrite> writes;
  writes.push_back(std::move(write));
  (void)co_await call.service.save_records(call.who, std::move(writes));
  co_return Done{};
}

}  // namespace belay::ag_ui
