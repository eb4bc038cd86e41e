// Waits for the run of a request, and determines the response when the time has passed.

#include <algorithm>

#include "belay/approval.h"
#include "server/routes.h"

namespace belay::server {
namespace {

// Poll interval for a run whose first commit is in progress.
constexpr std::chrono::milliseconds kNotThere{20};

std::chrono::milliseconds left_until(const ApiContext& world, Instant until) {
  auto left =
      std::chrono::duration_cast<std::chrono::milliseconds>(until - world.parts.clock.now());
  return std::max(left, std::chrono::milliseconds(0));
}

// Returns the run when it is settled, in any process; its current state if the time passes first.
Task<Result<RunView>> rested(ApiContext& world, Service& service, const Principal& who,
                             RunView view, Instant until) {
  auto left = left_until(world, until);
  if (is_settled(view.row.status) || left.count() == 0) co_return std::move(view);
  ThreadId thread = view.row.thread;
  RunId run = view.row.run;
  auto task = service.wait_for(who, thread, run);
  auto found = co_await world.waiting.within<Result<RunView>>(left, std::move(task));
  if (found && found->ok()) co_return **std::move(found);
  co_return co_await service.status(who, std::move(thread), std::nullopt, run);
}

// True for a run that the start has continued. An older run that it has not continued is not that
// of the request: the start is about to return it, or to be rejected.
bool is_continued(const RunRow& row, Instant started_since) {
  return row.status == RunStatus::running && row.updated_at >= started_since;
}

// Returns the run of a request whose task has not ended; nullopt if its first commit is in
// progress.
Task<Result<std::optional<RunView>>> run_so_far(Service& service, const Principal& who,
                                                AwaitedRun awaited) {
  if (awaited.run) {
    ThreadId thread = awaited.thread;
    auto own = co_await service.status(who, std::move(thread), std::nullopt, awaited.run);
    if (own.ok()) {
      auto since = awaited.started_since;
      bool is_older = since && own->row.created_at < *since;
      if (is_older && !is_continued(own->row, *since)) co_return std::optional<RunView>();
      co_return std::optional<RunView>(*std::move(own));
    }
    if (own.error().code != ErrorCode::not_found) co_return std::move(own).error();
    std::string agent = awaited.agent;
    BELAY_CO_TRY(bool is_single, co_await has_one_run_per_thread(service, who, std::move(agent)));
    if (!is_single) co_return std::optional<RunView>();
  }
  std::optional<RunId> run;
  bool is_found = true;
  if (awaited.started_since) {
    RunPage page;
    page.thread = awaited.thread;
    page.limit = 1;
    auto rows = co_await service.runs(who, std::move(page));
    if (!rows.ok() && rows.error().code == ErrorCode::not_found) co_return std::optional<RunView>();
    if (!rows.ok()) co_return std::move(rows).error();
    is_found = !rows->empty() && rows->front().created_at >= *awaited.started_since;
    if (is_found) run = rows->front().run;
  }
  if (!is_found) {
    std::string agent = awaited.agent;
    BELAY_CO_TRY(is_found, co_await has_one_run_per_thread(service, who, std::move(agent)));
  }
  if (!is_found) co_return std::optional<RunView>();
  auto view = co_await service.status(who, std::move(awaited.thread), std::nullopt, run);
  bool is_older = awaited.started_since && !run && view.ok();
  if (is_older && !is_continued(view->row, *awaited.started_since)) {
    co_return std::optional<RunView>();
  }
  bool is_before = view.ok() && awaited.after_seq && view->row.seq <= *awaited.after_seq;
  if (is_before) co_return std::optional<RunView>();
  if (view.ok()) co_return std::optional<RunView>(*std::move(view));
  if (view.error().code == ErrorCode::not_found) co_return std::optional<RunView>();
  co_return std::move(view).error();
}

// Decides, also if the request ends meanwhile.
Task<Result<DecisionResult>> decide_for(Service& service, Principal who, InterruptId interrupt,
                                        Decision decision) {
  co_return co_await service.decide(who, interrupt, std::move(decision));
}

// Returns whether the approval has this person's decision, alone or as one of several.
bool has_decision_of(const ApprovalRow& approval, const std::string& by,
                     const std::string& comment) {
  if (approval.decided_by == by && approval.comment == comment) return true;
  auto reply = reply_of(approval);
  return reply.ok() &&
         std::any_of(reply->votes.begin(), reply->votes.end(), [&](const ApprovalVote& vote) {
           return vote.decided_by == by && vote.comment == comment;
         });
}

// Repeats the decision, which returns its result without waiting for the first call. The repetition
// is a duplicate of the caller's own decision, and reported as accepted.
Task<Result<DecisionResult>> answer_so_far(Service& service, const Principal& who,
                                           InterruptId interrupt, Decision decision) {
  // With a key, the decision has the name of the key.
  std::string by = is_unrestricted(who) ? decision.decided_by : who.user.text;
  std::string comment = decision.comment;
  auto answer = co_await service.decide(who, interrupt, std::move(decision));
  bool is_same = answer.ok() && answer->kind == DecisionResult::Kind::duplicate;
  if (is_same && has_decision_of(answer->approval, by, comment))
    answer->kind = DecisionResult::Kind::accepted;
  co_return std::move(answer);
}

}  // namespace

Patience patience_of(const ApiContext& world, const Preference& preference, bool is_queued) {
  Patience patience;
  patience.is_queued = is_queued;
  bool is_at_once = is_queued || preference.is_async;
  auto unless_said = is_at_once ? std::chrono::milliseconds(0) : world.options.wait;
  patience.limit = preference.wait.value_or(unless_said);
  return patience;
}

Task<Result<RunView>> await_run(ApiContext& world, Service& service, const Principal& who,
                                Task<Result<RunView>> task, AwaitedRun awaited, Patience patience) {
  Instant until = world.parts.clock.now() + patience.limit;
  auto begun = world.waiting.begin<Result<RunView>>(std::move(task));
  // A request that only queues a run waits for the durable commit, even if it does not wait for the
  // run.
  auto limit = patience.is_queued ? world.options.wait : patience.limit;
  bool has_ended = co_await world.waiting.wait(begun, limit);
  while (!has_ended) {
    AwaitedRun wanted = awaited;
    BELAY_CO_TRY(std::optional<RunView> view, co_await run_so_far(service, who, std::move(wanted)));
    if (view) co_return *std::move(view);
    has_ended = co_await world.waiting.wait(begun, kNotThere);
  }
  Result<RunView> view = *std::move(begun->value);
  if (!view.ok()) co_return std::move(view);
  co_return co_await rested(world, service, who, *std::move(view), until);
}

Task<Result<RunView>> resume_or_look(Service& service, Principal who, ThreadId thread,
                                     std::optional<Breakpoints> breakpoints,
                                     std::optional<std::uint64_t> only_at,
                                     std::optional<Consent> consent) {
  auto view =
      co_await service.resume(who, thread, std::move(breakpoints), only_at, std::move(consent));
  if (view.ok() || view.error().code != ErrorCode::conflict) co_return std::move(view);
  // The run is already running: for the same request, or for another one.
  auto held = co_await service.status(who, std::move(thread), std::nullopt);
  if (held.ok() && !is_settled(held->row.status)) co_return std::move(held);
  co_return std::move(view);
}

Task<Result<DecisionResult>> decided(ApiContext& world, Service& service, const Principal& who,
                                     InterruptId interrupt, Decision decision, Patience patience) {
  Instant until = world.parts.clock.now() + patience.limit;
  Decision again = decision;
  auto task = decide_for(service, who, interrupt, std::move(decision));
  auto begun = world.waiting.begin<Result<DecisionResult>>(std::move(task));
  bool has_ended = co_await world.waiting.wait(begun, patience.limit);
  while (!has_ended) {
    // The time has passed. Respond as soon as the decision is durable, in whatever state the run
    // is.
    Whose any;
    BELAY_CO_TRY(ApprovalRow row, co_await service.approval(who, interrupt.text(), std::move(any)));
    if (row.status != ApprovalStatus::open) {
      co_return co_await answer_so_far(service, who, interrupt, std::move(again));
    }
    has_ended = co_await world.waiting.wait(begun, kNotThere);
  }
  if (!begun->value->ok()) co_return std::move(*begun->value).error();
  DecisionResult answer = **std::move(begun->value);
  if (!is_made(answer) || is_settled(answer.view.row.status)) co_return std::move(answer);
  RunView before = std::move(answer.view);
  BELAY_CO_TRY(answer.view, co_await rested(world, service, who, std::move(before), until));
  co_return std::move(answer);
}

}  // namespace belay::server
