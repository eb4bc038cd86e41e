// Decisions on approvals: recorded durably first, then the run continues.
//
// A decision competes with other decisions, the expiry, a cancel, and the commits of the run's
// owner. Guards settle each race within one transaction of the store; the data that is read here
// only selects the commit to try. A lost race writes nothing, and decide() starts over: another
// commit has succeeded in the meantime.
//
// Two ways to record a decision:
//   paused run             the commit decides, and makes this session the owner of the run
//   running or queued run  only the row of the approval is written; the owner applies the decision

#include "runtime/decisions.h"
#include "engine/advance.h"
#include "engine/decision.h"
#include "engine/edited_payload.h"
#include "engine/run_queries.h"
#include "runtime/decision_event.h"

namespace belay {
namespace {

using Kind = DecisionResult::Kind;

Error nothing_waits(const ThreadId& thread, RunStatus status) {
  return error(ErrorCode::conflict, "Thread \"" + thread.text + "\" is " +
                                        std::string(name_of(status)) +
                                        " and does not wait for this approval. Run `belay check`.");
}

}  // namespace

engine::Decided Decisions::decided_as(ApprovalRow approval, const Decision& decision) {
  engine::Decided event = executor_.expiry_of(std::move(approval));
  take_decision(event, decision);
  event.to_queue = executor_.is_draining();
  return event;
}

Task<Result<Decisions::AskedRun>> Decisions::find_asked(TenantId tenant, InterruptId interrupt,
                                                        std::optional<UserId> only_of) {
  std::function<Result<AskedRun>(Snapshot&)> reader =
      [tenant, interrupt, only_of = std::move(only_of),
       graphs = loader_.graphs()](Snapshot& view) -> Result<AskedRun> {
    BELAY_TRY(ApprovalRow approval, approval_row(view, tenant, interrupt, only_of));
    auto row = run_row(view, tenant, approval.run);
    if (!row.ok()) return AskedRun{std::move(approval), std::move(row).error()};
    return AskedRun{std::move(approval),
                    RunLoader::load(view, *graphs, *std::move(row), std::nullopt)};
  };
  co_return co_await read<AskedRun>(parts_.store, std::move(reader));
}

Task<Result<DecisionResult>> Decisions::decide(TenantId tenant, InterruptId interrupt,
                                               Decision decision) {
  std::optional<Standing> before;
  // Each round reads the approval and its run again: in the previous one, another commit changed
  // them between the read and the commit.
  while (true) {
    auto asked = co_await find_asked(tenant, interrupt, decision.only_of);
    if (!asked.ok()) co_return co_await refuse_damaged(tenant, interrupt, std::move(asked).error());
    ThreadId thread = asked->approval.thread;
    bool is_open = asked->approval.status == ApprovalStatus::open;
    engine::Decided event = decided_as(std::move(asked->approval), decision);
    auto valid = engine::check_decision(event, decision.roles);
    if (valid.ok()) valid = engine::resolve_choice(event);
    if (!valid.ok()) co_return co_await refuse_damaged(tenant, interrupt, std::move(valid).error());
    if (!asked->run.ok()) {
      co_return co_await refuse_damaged(tenant, interrupt, std::move(asked->run).error());
    }
    bool has_voted = engine::earlier_vote(event) != nullptr;
    if (!is_open || has_voted) co_return answer_decided(*std::move(asked->run), event);
    // The commit of a vote has no expiry: that continues the run.
    bool is_late = event.approval.expires_at <= event.moment.now;
    if (engine::is_vote(event) && is_late) event = executor_.expiry_of(std::move(event.approval));
    Standing now;
    auto answer = co_await try_to_decide(*std::move(asked->run), std::move(event), now);
    if (!answer.ok()) {
      co_return co_await refuse_damaged(tenant, interrupt, std::move(answer).error());
    }
    if (*answer) co_return **std::move(answer);
    // Another decision was recorded first, or the run changed since it was read: both change the
    // values that were just read. If the approval is open and the run is unchanged, the run does
    // not wait for that approval, and each further attempt would have the same result.
    if (before == now) co_return nothing_waits(thread, now.status);
    before = now;
  }
}

// If a decision finds damaged data, or a row that was changed without the key, it has no effect and
// its run is quarantined: the run must not continue from such data.
Task<Error> Decisions::refuse_damaged(TenantId tenant, InterruptId interrupt, Error why) {
  if (why.code != ErrorCode::corrupt) co_return why;
  std::function<Result<std::vector<ApprovalRow>>(Snapshot&)> reader = [tenant,
                                                                       interrupt](Snapshot& view) {
    ApprovalFilter filter;
    filter.tenant = tenant;
    filter.interrupt = interrupt;
    filter.with_damaged = true;
    return view.approvals(filter);
  };
  auto rows = co_await read<std::vector<ApprovalRow>>(parts_.store, std::move(reader));
  if (!rows.ok() || rows->empty()) co_return why;
  // If the quarantine fails too, the next process that claims the run finds the same damage.
  (void)co_await executor_.quarantine_or_skip(std::move(tenant), rows->front().run, why);
  co_return why;
}

// One attempt to decide an open approval. nullopt if the run does not wait for it, or if the
// approval or the run changed between the read and the commit: nothing was written then, because
// the guards compare both with the stored rows.
Task<Result<std::optional<DecisionResult>>> Decisions::try_to_decide(LoadedRun found,
                                                                     engine::Decided event,
                                                                     Standing& standing) {
  std::optional<DecisionResult> nothing;
  const RunRow& row = found.stored.row;
  standing = {row.status, row.epoch, row.seq, event.approval.decided_at};
  if (is_final(standing.status)) co_return std::move(nothing);
  BELAY_CO_CHECK(engine::check_decidable(row));
  BELAY_CO_TRY(RunLoader::Definition graph, loader_.graph_to_continue(found.stored));
  bool is_paused = standing.status == RunStatus::paused;
  std::vector<ConcurrencyGuard> guards;
  if (is_paused && !event.to_queue) {
    auto places = co_await executor_.limits().guards_of(row, true);
    if (!places.ok()) co_return std::move(places).error();
    guards = *std::move(places);
  }
  // The same run and decision for the case that a concurrency limit is reached.
  engine::Decided into_queue = event;
  std::optional<LoadedRun> again;
  if (!guards.empty()) again = found;
  BELAY_CO_TRY(engine::Run run, engine::restore(*graph, std::move(found.stored)));
  auto next = engine::advance(*graph, std::move(run), std::move(event));
  if (next.actions.empty()) co_return std::move(nothing);
  if (auto* refused = std::get_if<engine::Refuse>(&next.actions.front())) {
    co_return std::move(refused->why);
  }
  auto& write = std::get<engine::WriteCommit>(next.actions.front());
  Commit commit = std::move(*write.commit);
  if (commit.run_guard) commit.concurrency = std::move(guards);  // a vote starts no run
  ApprovalRow decided = *commit.rows.decided;
  ApprovalRow late = commit.if_expired ? *commit.if_expired->decided : decided;

  auto outcome = co_await parts_.store.commit(std::move(commit));
  if (!outcome.ok()) co_return std::move(outcome).error();
  // A concurrency limit must not reject a decision. If it is reached, the decision is committed
  // with `to_queue`: the run becomes queued instead of running. That commit has no
  // ConcurrencyGuard, so the recursion ends there.
  if (*outcome == CommitOutcome::limit_reached) {
    into_queue.to_queue = true;
    co_return co_await try_to_decide(*std::move(again), std::move(into_queue), standing);
  }
  bool in_time = *outcome == CommitOutcome::applied;
  if (!in_time && *outcome != CommitOutcome::expired) co_return std::move(nothing);
  // The expiry, and the end of a superstep, can have added messages.
  executor_.outbox().look_at(decided.tenant, decided.run);

  // The decision is durable now. If this process dies here, the stored run, unless it has ended, is
  // claimed like any other queued or orphaned run.
  DecisionResult answer;
  answer.kind = in_time ? Kind::accepted : Kind::expired;
  answer.approval = std::move(in_time ? decided : late);
  bool is_expiry = answer.approval.status == ApprovalStatus::expired;
  if (is_expiry) answer.kind = Kind::expired;
  if (answer.approval.status == ApprovalStatus::open) {
    // A vote: the run waits for others.
    auto view = co_await loader_.view(answer.approval.tenant, answer.approval.run);
    if (!view.ok()) co_return std::move(view).error();
    answer.view = *std::move(view);
  } else if (is_paused) {
    engine::Run decided_run = std::move(in_time ? next.run : *write.if_expired);
    auto view = co_await executor_.drive_decided(std::move(graph), std::move(decided_run));
    if (!view.ok()) co_return std::move(view).error();
    answer.view = *std::move(view);
  } else {
    auto view = co_await executor_.pass_to_owner(answer.approval);
    if (!view.ok()) co_return std::move(view).error();
    answer.view = *std::move(view);
  }
  co_return std::optional(std::move(answer));
}

// The approval was decided, expired or closed before: this decision is only compared with the
// recorded one.
Result<DecisionResult> Decisions::answer_decided(LoadedRun found, const engine::Decided& event) {
  auto graph = loader_.graph_of(found.stored);
  const GraphDefinition* known = graph.ok() ? graph->get() : nullptr;
  bool is_same = false;
  if (const ApprovalVote* vote = engine::earlier_vote(event)) {
    is_same = vote->choice == event.choice;
  } else {
    BELAY_TRY(is_same, engine::is_same_decision(known, event.approval, event));
  }
  DecisionResult answer;
  answer.approval = event.approval;
  answer.kind = event.approval.status == ApprovalStatus::expired  ? Kind::expired
                : event.approval.status == ApprovalStatus::closed ? Kind::closed
                : is_same                                         ? Kind::duplicate
                                                                  : Kind::conflict;
  BELAY_TRY(answer.view, loader_.view_of(std::move(found)));
  return answer;
}

}  // namespace belay
