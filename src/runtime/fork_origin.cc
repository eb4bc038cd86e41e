#include "runtime/fork_origin.h"

#include <algorithm>
#include <limits>
#include <map>
#include <set>

#include "belay/limits.h"
#include "engine/decision.h"
#include "engine/next_task.h"
#include "engine/route.h"

namespace belay {
namespace {

// Returns the newest commit after which tasks are left.
Result<std::uint64_t> newest_open_commit(Snapshot& view, const RunRow& row) {
  CheckpointFilter filter;
  filter.tenant = row.tenant;
  filter.run = row.run;
  filter.limit = limits::page_rows_max;
  while (true) {
    BELAY_TRY(auto checkpoints, view.checkpoints(filter));
    for (const CheckpointRow& checkpoint : checkpoints) {
      BELAY_TRY(engine::NextTasks next, engine::next_tasks_from(checkpoint.next_tasks));
      if (!next.tasks.empty() || next.as_of) return checkpoint.seq;
    }
    if (checkpoints.size() < filter.limit) break;
    filter.before_seq = checkpoints.back().seq;
  }
  return error(ErrorCode::invalid,
               "Thread \"" + row.thread.text + "\" has no commit with tasks left.");
}

Result<ForkOrigin> named_origin(Snapshot& view, const ForkOptions& options) {
  ForkOrigin origin;
  BELAY_TRY(origin.row, run_of(view, options.tenant, options.from, options.run));
  if (options.copy) origin.seq = origin.row.seq;
  if (options.seq) origin.seq = *options.seq;
  if (options.copy || options.seq) return origin;
  const UserId user = origin.row.user;
  while (true) {
    auto newest = newest_open_commit(view, origin.row);
    if (newest.ok()) {
      origin.seq = *newest;
      return origin;
    }
    if (origin.row.forked_from.is_null()) return std::move(newest).error();
    // A copy of an ended run: the commits with tasks left are those of the original run.
    auto parent = run_row(view, options.tenant, origin.row.forked_from);
    if (!parent.ok() || parent->user != user) return std::move(newest).error();
    origin.row = *std::move(parent);
  }
}

// The approvals of one run that a fork would skip, and the commits that would request them again.
class SkippedIn {
 public:
  SkippedIn(Snapshot& view, const ForkOrigin& at) : view_(view), at_(at) {}

  // Newest first. `restarts`: the fork restarts the superstep in progress at that commit, which
  // requests the approvals of this superstep again anyway.
  Result<std::vector<ApprovalRow>> list(bool restarts) {
    ApprovalFilter filter;
    filter.tenant = at_.row.tenant;
    filter.run = at_.row.run;
    filter.limit = std::numeric_limits<std::int64_t>::max();
    BELAY_TRY(auto rows, view_.approvals(filter));
    std::sort(rows.begin(), rows.end(),
              [](const ApprovalRow& a, const ApprovalRow& b) { return a.seq > b.seq; });
    BELAY_TRY(const CheckpointRow* here, commit(at_.seq));
    std::vector<ApprovalRow> skipped;
    for (ApprovalRow& row : rows) {
      if (!engine::is_decided(row.status) || row.seq > at_.seq || engine::is_about_effect(row))
        continue;
      BELAY_TRY(engine::AskedAt asked, asked_at(row));
      if (restarts && here && asked.superstep == here->superstep) continue;
      skipped.push_back(std::move(row));
    }
    return skipped;
  }

  // Returns the commit after which a fork requests it again; nothing if that commit is pruned or is
  // the oldest one left, whose chain hash cannot be computed without its parent.
  Result<std::optional<std::uint64_t>> begin_before(const ApprovalRow& row) {
    BELAY_TRY(engine::AskedAt asked, asked_at(row));
    if (!asked.begin || *asked.begin == 1) return asked.begin;
    BELAY_TRY(const CheckpointRow* parent, commit(*asked.begin - 1));
    return parent ? asked.begin : std::nullopt;
  }

  // Returns the superstep in progress after a commit; nothing if that commit is pruned.
  Result<std::optional<std::int64_t>> superstep_at(std::uint64_t seq) {
    BELAY_TRY(const CheckpointRow* found, commit(seq));
    return found ? std::optional(found->superstep) : std::nullopt;
  }

 private:
  Result<engine::AskedAt> asked_at(const ApprovalRow& row) {
    const CheckpointRow* before = nullptr;
    if (row.seq > 1) {
      BELAY_TRY(before, commit(row.seq - 1));
    }
    BELAY_TRY(const CheckpointRow* at, commit(row.seq));
    return engine::asked_at(row, before, at);
  }

  Result<const CheckpointRow*> commit(std::uint64_t seq) {
    auto found = commits_.find(seq);
    if (found == commits_.end()) {
      CheckpointFilter filter;
      filter.tenant = at_.row.tenant;
      filter.run = at_.row.run;
      filter.seq = seq;
      BELAY_TRY(auto rows, view_.checkpoints(filter));
      std::optional<CheckpointRow> row;
      if (!rows.empty()) row = std::move(rows.front());
      found = commits_.emplace(seq, std::move(row)).first;
    }
    return found->second ? &*found->second : nullptr;
  }

  Snapshot& view_;
  const ForkOrigin& at_;
  std::map<std::uint64_t, std::optional<CheckpointRow>> commits_;
};

// Walks from the given commit back through the run's ancestors.
class WayBack {
 public:
  WayBack(Snapshot& view, const GraphDefinition* graph, const ForkOptions& options)
      : view_(view), graph_(graph), options_(options) {}

  Result<ForkOrigin> from(ForkOrigin origin) {
    ForkOrigin at = origin;
    bool restarts = true;
    std::set<RunId> seen;
    while (true) {
      BELAY_CHECK(look_at(at, restarts));
      if (at.row.forked_from.is_null()) break;
      seen.insert(at.row.run);
      SkippedIn here(view_, at);
      BELAY_TRY(auto first, here.superstep_at(1));
      BELAY_TRY(auto now, here.superstep_at(at.seq));
      restarts = restarts && first && first == now;
      auto parent = run_row(view_, at.row.tenant, at.row.forked_from);
      if (!parent.ok() && parent.error().code != ErrorCode::not_found) {
        return std::move(parent).error();
      }
      if (!parent.ok() || seen.contains(parent->run)) return unknown_parent(at.row);
      at.seq = at.row.forked_at;
      at.row = *std::move(parent);
    }
    if (!begin_) return origin;
    BELAY_CHECK(check_begin(origin));
    return *std::move(begin_);
  }

 private:
  Result<Done> look_at(const ForkOrigin& at, bool restarts) {
    SkippedIn here(view_, at);
    BELAY_TRY(auto skipped, here.list(restarts));
    for (ApprovalRow& row : skipped) {
      bool shows = shows_an_edit(row);
      if (begin_ && !shows) continue;
      BELAY_TRY(auto seq, here.begin_before(row));
      if (!seq) return pruned(row);
      if (shows) shown_.push_back(row);
      if (!begin_) newest_ = row;
      begin_ = at;
      begin_->seq = *seq;
    }
    return Done{};
  }

  // An approval of a subgraph might show any part of this state. An interrupt raised within a
  // node belongs to no channel.
  bool shows_an_edit(const ApprovalRow& row) const {
    if (!engine::is_of_approval_node(row)) return false;
    const GraphDefinition::Node* node = graph_ ? graph_->find(row.node) : nullptr;
    bool is_here = node && node->approval && !engine::has_approval_inside(*graph_, row.node);
    if (!is_here) return true;
    const std::string& channel = graph_->state->channels[node->approval->channel].name;
    return options_.edits.find(channel) != nullptr;
  }

  Result<Done> check_begin(const ForkOrigin& origin) const {
    std::vector<ApprovalRow> permitting = shown_;
    if (permitting.empty()) permitting.push_back(*newest_);
    for (const ApprovalRow& row : permitting) {
      if (engine::holds_a_role(row, options_.roles)) continue;
      return error(ErrorCode::forbidden, "These edits would skip the approval at \"" + row.node +
                                             "\", which requires one of the roles " + row.roles +
                                             ". Fork without edits, or ask a user who has one.");
    }
    if (begin_->row.user == origin.row.user) return Done{};
    return error(ErrorCode::forbidden,
                 "These edits would skip the approval at \"" + newest_->node +
                     "\" of a thread of another user. Fork without edits, or start a new run.");
  }

  static Error pruned(const ApprovalRow& row) {
    return error(
        ErrorCode::invalid,
        "These edits would skip the approval at \"" + row.node + "\" of thread \"" +
            row.thread.text +
            "\", whose earlier commits have been pruned. Fork without edits, or start a new run.");
  }

  static Error unknown_parent(const RunRow& row) {
    return error(ErrorCode::invalid,
                 "Thread \"" + row.thread.text +
                     "\" was forked from a run that is no longer in this store, so edits could "
                     "skip an approval of that run. Fork without edits, or start a new run.");
  }

  Snapshot& view_;
  const GraphDefinition* graph_;
  const ForkOptions& options_;
  std::optional<ForkOrigin> begin_;  // unset while no approval is skipped
  std::vector<ApprovalRow> shown_;   // skipped approvals that showed an edited channel
  std::optional<ApprovalRow> newest_;
};

}  // namespace

Result<ForkOrigin> fork_origin(Snapshot& view, const GraphRegistry& graphs,
                               const ForkOptions& options) {
  BELAY_TRY(ForkOrigin origin, named_origin(view, options));
  if (options.edits.is_null()) return origin;
  auto known = graphs.for_version(origin.row.graph, origin.row.graph_hash);
  if (!known.ok()) known = graphs.newest(origin.row.graph);
  const GraphDefinition* graph = known.ok() ? known->get() : nullptr;
  if (!options.may_decide && (!graph || engine::has_approvals(*graph))) {
    return error(ErrorCode::forbidden, "Edits in a fork of \"" + origin.row.graph +
                                           "\", which has approvals, require the permission "
                                           "decide. Fork without edits, or ask a user who has it.");
  }
  return WayBack(view, graph, options).from(std::move(origin));
}

}  // namespace belay
