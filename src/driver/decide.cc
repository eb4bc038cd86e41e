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
//
// Long on purpose: each race is explained next to the code that handles it.

#include <algorithm>

#include "belay/limits.h"
#include "driver/runtime_body.h"
#include "engine/advance.h"
#include "engine/decision.h"
#include "engine/transition.h"
#include "graph/call_guarded.h"

namespace belay {
namespace {

using Verdict = engine::Decided::Verdict;
using Kind = DecisionResult::Kind;

// Compares the verdict and the canonical edited payload. Comment and decider do not count.
bool same_decision(const ApprovalRow& decided, bool approved, const std::optional<Value>& edited) {
  ApprovalStatus status = approved ? ApprovalStatus::approved : ApprovalStatus::rejected;
  Digest edited_hash{};
  if (edited) edited_hash = sha256(to_json(*edited));
  return decided.status == status && decided.edited_hash == edited_hash;
}

// The task that waits for an interrupt, and its frame: the run itself or a subgraph task.
struct Asking {
  const GraphDefinition* graph = nullptr;
  const engine::Run* frame = nullptr;
  const engine::NodeTask* task = nullptr;
};

std::optional<Asking> find_asking(const engine::Run& run, const GraphDefinition& graph,
                                  const InterruptId& interrupt) {
  for (const engine::NodeTask& task : run.tasks) {
    if (task.interrupt == interrupt) return Asking{&graph, &run, &task};
    if (!task.inner) continue;
    auto inside = find_asking(*task.inner, *task.node->subgraph->graph, interrupt);
    if (inside) return inside;
  }
  return std::nullopt;
}

// Finds the graph that has the approval node: this one or a subgraph, at any depth.
const GraphDefinition* graph_with_approval(const GraphDefinition& graph, const std::string& node) {
  const GraphDefinition::Node* found = graph.find(node);
  if (found && found->approval) return &graph;
  for (const GraphDefinition::Node& each : graph.nodes) {
    if (!each.subgraph) continue;
    if (const auto* inner = graph_with_approval(*each.subgraph->graph, node)) return inner;
  }
  return nullptr;
}

// Re-encodes the edited payload with the type of its channel: equal edits then have equal hashes.
// nullopt if the result equals the payload that was shown. `asking` is null for an interrupt raised
// within a node: it belongs to no channel, and its edit is kept unchanged.
Result<std::optional<Value>> canonical_edit(const GraphDefinition* asking,
                                            const ApprovalRow& approval, const Value& edited) {
  Encoder out;
  if (!asking) {
    out.write_value(edited);
  } else {
    const ChannelType& channel =
        asking->state->channels[asking->find(approval.node)->approval->channel];
    std::shared_ptr<void> state = asking->state->make();
    Decoder in;
    Unknown unknown;
    in.path.emplace_back(channel.name);
    if (!channel.decode(edited, state.get(), in, &unknown)) {
      return error(ErrorCode::invalid, "The edited payload does not fit: " + in.problem);
    }
    if (!unknown.empty()) {
      std::string name = unknown.members.empty() ? "a nested member"
                                                 : "\"" + unknown.members.begin()->first + "\"";
      return error(ErrorCode::invalid,
                   "The edited payload has " + name + ", which the payload does not have.");
    }
    channel.encode(state.get(), out, nullptr);
  }
  if (out.text.size() > limits::value_bytes_max) {
    return error(ErrorCode::invalid, "The edited payload is longer than " +
                                         std::to_string(limits::value_bytes_max) + " bytes.");
  }
  if (!out.problem.empty()) return error(ErrorCode::invalid, out.problem);
  if (sha256(out.text) == approval.payload_hash) return std::optional<Value>();
  BELAY_TRY(Value canonical, parse_json(out.text));
  return std::optional(std::move(canonical));
}

Error nothing_waits(const ThreadId& thread, RunStatus status) {
  return error(ErrorCode::conflict, "Thread \"" + thread.text + "\" is " +
                                        std::string(name_of(status)) +
                                        " and does not wait for this approval. Run `belay check`.");
}

// canonical_edit() for an open approval: uses the graph version that the run continues with. Fails
// if the approval's own validate() function rejects the edited state.
Result<std::optional<Value>> open_edit(const engine::Run& run, const GraphDefinition& graph,
                                       const ApprovalRow& approval, const Value& edited) {
  auto asking = find_asking(run, graph, approval.interrupt);
  bool is_node = asking && asking->task->node->approval;
  BELAY_TRY(auto canonical, canonical_edit(is_node ? asking->graph : nullptr, approval, edited));
  if (!canonical || !is_node || !asking->task->node->approval->validate) return canonical;
  const GraphDefinition::Approval& asked = *asking->task->node->approval;
  std::shared_ptr<void> tried = asking->graph->state->copy(asking->frame->state.get());
  Decoder in;
  asking->graph->state->channels[asked.channel].decode(*canonical, tried.get(), in, nullptr);
  BELAY_CHECK(
      call_guarded<Done>("The check of the edited payload at \"" + asking->task->node->name + "\"",
                         [&]() { return asked.validate(tried.get()); }));
  return canonical;
}

}  // namespace

Result<Done> Runtime::Impl::check_decision(const ApprovalRow& approval, const Decision& decision) {
  BELAY_CHECK(check_name("decider name", decision.decided_by));
  if (!decision.on_behalf_of.empty()) {
    BELAY_CHECK(check_name("\"on behalf of\" name", decision.on_behalf_of));
  }
  if (decision.comment.size() > limits::comment_bytes_max) {
    return error(ErrorCode::invalid, "The comment is longer than " +
                                         std::to_string(limits::comment_bytes_max) + " bytes.");
  }
  if (first_invalid_utf8(decision.comment)) {
    return error(ErrorCode::invalid, "The comment is not valid UTF-8.");
  }
  if (!decision.approved && decision.edited) {
    return error(ErrorCode::invalid, "A rejection accepts no edited payload. Approve it instead.");
  }
  if (!engine::holds_a_role(approval, decision.roles)) {
    return error(ErrorCode::forbidden,
                 "User \"" + decision.decided_by +
                     "\" cannot decide this approval. Required role: one of " + approval.roles +
                     ".");
  }
  return Done{};
}

engine::Decided Runtime::Impl::decided_as(ApprovalRow approval, Decision decision) {
  engine::Decided event = expired(std::move(approval));
  event.verdict = decision.approved ? Verdict::approved : Verdict::rejected;
  event.decided_by = std::move(decision.decided_by);
  event.on_behalf_of = std::move(decision.on_behalf_of);
  event.comment = std::move(decision.comment);
  event.edited = std::move(decision.edited);
  return event;
}

engine::Decided Runtime::Impl::expired(ApprovalRow approval) {
  engine::Decided event;
  event.moment = moment();
  event.session = session_;
  event.approval = std::move(approval);
  event.verdict = Verdict::expired;
  return event;
}

Task<Result<DecisionResult>> Runtime::Impl::decide(TenantId tenant, InterruptId interrupt,
                                                   Decision decision) {
  std::optional<Standing> before;
  // Each round reads the approval and its run again: in the previous one, another commit changed
  // them between the read and the commit.
  while (true) {
    auto approval = co_await find_approval(tenant, interrupt);
    if (!approval.ok()) {
      co_return co_await refuse_damaged(tenant, interrupt, std::move(approval).error());
    }
    BELAY_CO_CHECK(check_decision(*approval, decision));
    if (approval->status != ApprovalStatus::open) {
      co_return co_await answer_decided(*std::move(approval), std::move(decision));
    }
    ThreadId thread = approval->thread;
    Standing now;
    auto answer = co_await try_to_decide(*std::move(approval), decision, is_draining_, now);
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
Task<Error> Runtime::Impl::refuse_damaged(TenantId tenant, InterruptId interrupt, Error why) {
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
  (void)co_await quarantine_or_skip(std::move(tenant), rows->front().run, why);
  co_return why;
}

// One attempt to decide an open approval. nullopt if the approval or the run changed between the
// reads and the commit: nothing was written.
//
// `approval` and the run are read from different snapshots. That is safe: the guards compare both
// with the stored rows.
Task<Result<std::optional<DecisionResult>>> Runtime::Impl::try_to_decide(ApprovalRow approval,
                                                                         Decision decision,
                                                                         bool to_queue,
                                                                         Standing& standing) {
  std::optional<DecisionResult> nothing;
  Decision again = decision;
  auto found = co_await load_run(approval.tenant, approval.run);
  if (!found.ok()) co_return std::move(found).error();
  standing = {found->stored.row.status, found->stored.row.epoch, found->stored.row.seq, false};
  if (is_final(standing.status)) co_return std::move(nothing);
  BELAY_CO_TRY(Definition graph, graph_of(found->stored));
  bool is_held = standing.status == RunStatus::running || standing.status == RunStatus::queued;
  if (found->stored.row.status == RunStatus::quarantined) {
    co_return error(ErrorCode::conflict, "Cannot decide: the run of thread \"" +
                                             approval.thread.text + "\" is quarantined (" +
                                             found->stored.row.reason + "). Resume the run first.");
  }
  BELAY_CO_CHECK(engine::check_shown(approval));
  BELAY_CO_TRY(engine::Run run, engine::restore(*graph, found->stored));
  standing.asks = engine::waits_for(run, approval.interrupt);
  if (decision.edited) {
    BELAY_CO_TRY(decision.edited, open_edit(run, *graph, approval, *decision.edited));
  }
  // Race with the owner of a running run, which might pause it now. If the owner's commit is first,
  // ApprovalGuard::run_is_active no longer holds, this commit is fenced, and decide() tries again
  // with the paused run. If this commit is first, the owner's pause is refused, because its
  // Commit::require_open contains this approval (RunDriver::End::superseded). Neither order loses
  // the decision.
  if (is_held) co_return co_await decide_held(std::move(approval), std::move(decision));
  // Decided, closed or expired since the first read; decide() reads again.
  if (!standing.asks) co_return std::move(nothing);
  auto places = co_await concurrency_guards_of(found->stored.row, true);
  if (!places.ok()) co_return std::move(places).error();
  BELAY_CO_TRY(engine::Run late_run, engine::restore(*graph, std::move(found->stored)));

  // One commit contains both outcomes: the decision, and the expiry that is written instead if the
  // approval has expired. The store compares the expiry with its own clock within the transaction,
  // so that no event can occur between the check and the write.
  //
  // advance() consumes its run: therefore the run is restored once per outcome. The checkpoints of
  // the two outcomes have different ids. If the commit is sent again after a lost reply, the store
  // recognises by the id which of them it wrote.
  engine::Decided decided = decided_as(approval, std::move(decision));
  engine::Decided late = expired(approval);
  decided.to_queue = late.to_queue = to_queue;
  auto next = engine::advance(*graph, std::move(run), std::move(decided));
  auto late_next = engine::advance(*graph, std::move(late_run), std::move(late));
  BELAY_ASSERT(next.actions.size() == 1 && late_next.actions.size() == 1);
  Commit commit = std::move(*std::get<engine::WriteCommit>(next.actions.front()).commit);
  Commit late_commit = std::move(*std::get<engine::WriteCommit>(late_next.actions.front()).commit);
  commit.if_expired = std::move(late_commit.rows);
  if (!to_queue) commit.concurrency = *std::move(places);

  auto outcome = co_await parts_.store.commit(std::move(commit));
  if (!outcome.ok()) co_return std::move(outcome).error();
  // A concurrency limit must not reject a decision. If it is reached, the decision is committed
  // with `to_queue`: the run becomes queued instead of running. That commit has no
  // ConcurrencyGuard, so the recursion ends there.
  if (*outcome == CommitOutcome::limit_reached) {
    co_return co_await try_to_decide(std::move(approval), std::move(again), true, standing);
  }
  bool in_time = *outcome == CommitOutcome::applied;
  if (!in_time && *outcome != CommitOutcome::expired) co_return std::move(nothing);

  // The decision is durable now. If this process dies here, the stored run, unless it has ended, is
  // claimed like any other queued or orphaned run.
  engine::Run decided_run = std::move(in_time ? next.run : late_next.run);
  auto view = co_await drive_decided(std::move(graph), std::move(decided_run));
  if (!view.ok()) co_return std::move(view).error();
  auto stored = co_await find_approval(approval.tenant, approval.interrupt);
  if (!stored.ok()) co_return std::move(stored).error();
  DecisionResult answer;
  answer.kind = in_time ? Kind::accepted : Kind::expired;
  answer.approval = *std::move(stored);
  answer.view = *std::move(view);
  co_return std::optional(std::move(answer));
}

Task<Result<RunView>> Runtime::Impl::drive_decided(Definition graph, engine::Run run) {
  // No process executes a queued run yet: its readers and the workers must be notified from here.
  if (run.row.status == RunStatus::queued) {
    live_->wake(run.row.run);
    notify_workers(run.row.tenant);
    co_return co_await view_of_run(run.row.tenant, run.row.run);
  }
  engine::Event first = engine::Committed{moment()};
  co_return co_await drive(std::move(graph), std::move(run), std::move(first));
}

// Without a RunGuard: the commit changes neither seq nor epoch, so that it does not fence the
// owner.
Commit Runtime::Impl::commit_for_active_run(const ApprovalRow& approval) {
  Commit commit;
  commit.tenant = approval.tenant;
  commit.approval_guard.emplace();
  commit.approval_guard->interrupt = approval.interrupt;
  commit.approval_guard->payload_hash = approval.payload_hash;
  commit.approval_guard->run_is_active = true;
  return commit;
}

Task<Result<std::optional<DecisionResult>>> Runtime::Impl::decide_held(ApprovalRow approval,
                                                                       Decision decision) {
  Commit commit = commit_for_active_run(approval);
  commit.rows.decided = engine::decided_row(decided_as(approval, std::move(decision)));
  commit.if_expired.emplace();
  commit.if_expired->decided = engine::decided_row(expired(approval));
  auto outcome = co_await parts_.store.commit(std::move(commit));
  if (!outcome.ok()) co_return std::move(outcome).error();
  bool in_time = *outcome == CommitOutcome::applied;
  if (!in_time && *outcome != CommitOutcome::expired) co_return std::optional<DecisionResult>();
  DecisionResult answer;
  answer.kind = in_time ? Kind::accepted : Kind::expired;
  auto stored = co_await find_approval(approval.tenant, approval.interrupt);
  if (!stored.ok()) co_return std::move(stored).error();
  answer.approval = *std::move(stored);
  // A driver in this process receives the decision immediately. An owner in another process polls
  // for it while it waits (limits::owner_watch_interval), and the next owner of a queued run reads
  // it at the start of drive(). A second delivery is ignored: no task waits for it any more.
  if (auto driven = driven_.find(approval.run); driven != driven_.end()) {
    BELAY_CO_CHECK(driven->second->on_decision(answer.approval));
  }
  auto view = co_await view_of_run(approval.tenant, approval.run);
  if (!view.ok()) co_return std::move(view).error();
  answer.view = *std::move(view);
  co_return std::optional(std::move(answer));
}

Task<Result<DecisionResult>> Runtime::Impl::answer_decided(ApprovalRow approval,
                                                           Decision decision) {
  // The approval was decided, expired or closed before: this decision is only compared with the
  // recorded one. If the graph is not registered, the edit cannot be made canonical and is compared
  // as it was given.
  auto found = co_await load_run(approval.tenant, approval.run);
  if (!found.ok()) co_return std::move(found).error();
  auto graph = graph_of(found->stored);
  if (decision.edited && graph.ok()) {
    const GraphDefinition* asking = graph_with_approval(**graph, approval.node);
    BELAY_CO_TRY(decision.edited, canonical_edit(asking, approval, *decision.edited));
  }
  auto view = view_of(*std::move(found));
  if (!view.ok()) co_return std::move(view).error();
  DecisionResult answer;
  if (approval.status == ApprovalStatus::expired) {
    answer.kind = Kind::expired;
  } else if (approval.status == ApprovalStatus::closed) {
    answer.kind = Kind::closed;
  } else if (same_decision(approval, decision.approved, decision.edited)) {
    answer.kind = Kind::duplicate;
  } else {
    answer.kind = Kind::conflict;
  }
  answer.approval = std::move(approval);
  answer.view = *std::move(view);
  co_return std::move(answer);
}

}  // namespace belay
