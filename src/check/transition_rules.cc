// P9 and P10: the transition from one commit to the next.
// Long on purpose: one transition, by the kind of its commit.

#include <algorithm>
#include <set>

#include "base/in_quotes.h"
#include "check/replay.h"
#include "check/rules.h"
#include "engine/decision.h"
#include "engine/route.h"
#include "engine/run_options.h"
#include "engine/run_queries.h"

namespace belay::check {
namespace {

using engine::NextTasks;
using engine::NodeTask;
using Names = std::set<std::string>;

// Returns `targets`, and the nodes after those of them that are approvals which can be skipped.
Names with_passed(const GraphDefinition& graph, std::vector<std::string> targets) {
  Names reached;
  while (!targets.empty()) {
    std::string target = std::move(targets.back());
    targets.pop_back();
    const GraphDefinition::Node* node = graph.find(target);
    if (!reached.insert(std::move(target)).second) continue;
    bool can_pass = node && node->approval && !node->approval->approved.empty();
    if (can_pass) targets.push_back(node->approval->approved);
  }
  return reached;
}

// Returns every node that can be reached in any number of supersteps.
Names reachable(const GraphDefinition& graph, std::vector<std::string> from) {
  Names reached;
  while (!from.empty()) {
    std::string name = std::move(from.back());
    from.pop_back();
    const GraphDefinition::Node* node = graph.find(name);
    if (!reached.insert(std::move(name)).second || !node) continue;
    from.insert(from.end(), node->targets.begin(), node->targets.end());
    from.insert(from.end(), node->destinations.begin(), node->destinations.end());
    if (node->approval) {
      for (std::string& target : targets_of(*node->approval)) from.push_back(std::move(target));
    }
    for (const GraphDefinition::Join& join : graph.joins) {
      bool joins = std::find(join.from.begin(), join.from.end(), node->name) != join.from.end();
      if (joins) from.push_back(join.to);
    }
  }
  return reached;
}

// The possible next nodes of a superstep.
struct Ways {
  Names allowed;               // by name, passed approvals included
  Names sent;                  // possible targets of sends
  std::vector<Names> each_of;  // at least one of each of these is required
  void must(const GraphDefinition& graph, const std::string& target) {
    Names reached = with_passed(graph, {target});
    allowed.insert(reached.begin(), reached.end());
    each_of.push_back(std::move(reached));
  }
  void may(const GraphDefinition& graph, std::vector<std::string> targets) {
    Names reached = with_passed(graph, std::move(targets));
    allowed.insert(reached.begin(), reached.end());
  }
};

// One transition of a run or a subgraph task: a commit, and the next tasks of its parent.
class Step {
 public:
  // `replay` is at the commit.
  Step(const RunContents& run, const SpaceContents& checkpoint_ns, const Replay& replay,
       NextTasks before, Findings& findings)
      : run_(run),
        space_(checkpoint_ns),
        graph_(*replay.graph()),
        checkpoint_(replay.checkpoint()),
        parent_(replay.parent()),
        before_(std::move(before)),
        next_(*replay.tasks()),
        findings_(findings),
        is_inner_(!checkpoint_ns.checkpoint_ns.empty()),
        covers_many_(commits_at_the_end(run)) {}

  void check() {
    switch (checkpoint_.kind) {
      case CommitKind::input:
      case CommitKind::fork:
        return complain("starts a run that has already started");
      case CommitKind::failure:
        return check_end(RunStatus::failed);
      case CommitKind::cancel:
        return check_end(RunStatus::cancelled);
      default:
        break;
    }
    if (waited()) return check_begins();
    if (before_.tasks.empty()) return complain("continues although no tasks were left");
    if (covers_many_ && checkpoint_.superstep != parent_->superstep) return check_many();
    if (checkpoint_.superstep == parent_->superstep) return check_stays();
    check_superstep_ends();
  }

  void check_first() {
    if (checkpoint_.seq > 1) return;  // the commits before the anchor of a pruned chain are deleted
    if (checkpoint_.kind == CommitKind::fork) return;  // continues from the state of another run
    if (checkpoint_.kind != CommitKind::input) return complain("does not start the run");
    if (checkpoint_.status == RunStatus::failed) return check_end(RunStatus::failed);
    if (waits()) return check_waits(RunStatus::queued);
    check_first_tasks();
  }

 private:
  // Whether the run waits, after this commit or before it, for the end of earlier runs of its
  // thread.
  bool waits() const { return run_.row.ordinal > 0 && !is_inner_ && checkpoint_.superstep == 0; }
  bool waited() const { return run_.row.ordinal > 0 && !is_inner_ && parent_->superstep == 0; }

  void check_waits(RunStatus status) {
    if (!next_.tasks.empty()) complain("schedules tasks before the run has started");
    if (checkpoint_.status != status) complain("has the wrong status");
  }

  // Checks the commit after a wait: a claim starts the run.
  void check_begins() {
    if (checkpoint_.kind == CommitKind::quarantine) return check_waits(RunStatus::quarantined);
    if (checkpoint_.kind == CommitKind::consent) return check_waits(parent_->status);
    if (checkpoint_.kind != CommitKind::claim) return complain("does not start the run");
    check_first_tasks();
  }

  void check_first_tasks() {
    Ways ways;
    auto options = engine::options_from(run_.row.options);
    if (options.ok() && options->beginning && !is_inner_) {
      return check_beginning(*options->beginning, ways);
    }
    for (const std::string& entry : graph_.entries) ways.must(graph_, entry);
    check_leads(ways);
    check_place(1, false);
  }

  // Checks the start of a run that begins with a change of its thread's state.
  void check_beginning(const RunBeginning& beginning, Ways& ways) {
    if (beginning.as_node == start) {
      ways.may(graph_, graph_.entries);
    } else if (const GraphDefinition::Node* node = graph_.find(beginning.as_node)) {
      ways.may(graph_, node->targets);
      ways.sent.insert(node->targets.begin(), node->targets.end());
      ways.may(graph_, node->destinations);
    }
    for (const FirstNode& first : beginning.nodes) {
      if (first.input.empty()) ways.must(graph_, first.node);
      ways.sent.insert(first.node);
    }
    may_be_none_ = true;
    check_leads(ways);
    if (auto sound = engine::check_beginning(graph_, beginning, run_.row); !sound.ok()) {
      complain("begins where it must not: " + sound.error().message);
    }
    bool is_held = beginning.held &&
                   std::any_of(next_.nodes.begin(), next_.nodes.end(), [&](const auto& name) {
                     const GraphDefinition::Node* node = graph_.find(name);
                     return node && !node->approval;
                   });
    check_place(1, is_held);
  }

  // The run's own breakpoints after the commit.
  Breakpoints breakpoints() const {
    if (next_.breakpoints) return *next_.breakpoints;
    auto options = engine::options_from(run_.row.options);
    return options.ok() && !is_inner_ ? options->breakpoints : Breakpoints();
  }

  // Whether a commit of this kind can end a superstep of these nodes.
  bool may_end() const {
    auto any = [&](auto is_such) {
      return std::any_of(before_.nodes.begin(), before_.nodes.end(), [&](const std::string& name) {
        const GraphDefinition::Node* node = graph_.find(name);
        return node && is_such(*node);
      });
    };
    using Node = GraphDefinition::Node;
    switch (checkpoint_.kind) {
      case CommitKind::node:
        // Any of several tasks can have been the last one to end.
        return before_.tasks.size() > 1 ||
               any([](const Node& node) { return !node.approval && !node.wait; });
      case CommitKind::timer:
        return any([](const Node& node) { return node.wait != nullptr; });
      case CommitKind::decision:
      case CommitKind::expiry:
        return any([](const Node& node) { return node.approval.has_value(); });
      default:
        return false;
    }
  }

  void check_superstep_ends() {
    if (checkpoint_.superstep != parent_->superstep + 1) {
      return complain("is not one superstep further");
    }
    if (!may_end()) return complain("advances the run, which it must not");
    if (checkpoint_.node != nodes_text(before_)) {
      return complain("ends nodes that were not scheduled, " + in_quotes(nodes_text(before_)));
    }
    Ways ways;
    auto joins = before_.joins;
    bool breaks = false;
    for (std::size_t i = 0; i < before_.tasks.size(); ++i) {
      const GraphDefinition::Node* node = graph_.find(before_.nodes[i]);
      if (!node) return;  // P1
      add_ways(*node, i, ways);
      pass_joins(*node, joins, ways);
      breaks =
          breaks || node->interrupt_after || engine::names_node(breakpoints().after, node->name);
    }
    check_leads(ways);
    if (!next_.tasks.empty()) check_joins(joins);
    check_place(parent_->superstep + 1, breaks);
  }

  void add_ways(const GraphDefinition::Node& node, std::size_t position, Ways& ways) {
    if (node.approval) return add_answer(node, position, ways);
    if (add_own_words(node, position, ways)) return;
    bool may_choose = node.choose != nullptr || !node.destinations.empty();
    for (const std::string& target : node.targets) {
      if (may_choose) {
        ways.may(graph_, {target});
      } else {
        ways.must(graph_, target);
      }
    }
    if (node.choose) ways.sent.insert(node.targets.begin(), node.targets.end());
    ways.may(graph_, node.destinations);
    ways.sent.insert(node.destinations.begin(), node.destinations.end());
    if (!may_choose || before_.tasks.size() > 1) return;
    // A branch selects at least one target if it returns names; one that returns sends can return
    // none.
    may_be_none_ = true;
  }

  void add_answer(const GraphDefinition::Node& node, std::size_t position, Ways& ways) {
    const ApprovalRow* approval = approval_of(position);
    if (!approval) return ways.may(graph_, targets_of(*node.approval));
    ways.must(graph_, target_of(*node.approval, engine::recorded_choice(*approval)));
  }

  // Adds the targets that a completed task of several has stored; false if it has no row.
  bool add_own_words(const GraphDefinition::Node& node, std::size_t position, Ways& ways) {
    const TaskRow* row = task_row(space_, parent_->superstep, position);
    if (!row || row->status != TaskStatus::done) return false;
    Value parts = parts_of(*row);
    const Value::Array* names = parts["goTo"].as_array();
    const Value::Array* sends = parts["sends"].as_array();
    if (!names && !sends) return false;
    auto declared = [&](const std::string* name) {
      bool is_declared = name && std::find(node.destinations.begin(), node.destinations.end(),
                                           *name) != node.destinations.end();
      if (!is_declared)
        complain("selects a target that " + in_quotes(node.name) + " does not permit");
      return is_declared;
    };
    for (const Value& name : names ? *names : Value::Array()) {
      if (declared(name.as_string())) ways.must(graph_, *name.as_string());
    }
    for (const Value& send : sends ? *sends : Value::Array()) {
      if (declared(send["node"].as_string())) ways.sent.insert(*send["node"].as_string());
    }
    return true;
  }

  void pass_joins(const GraphDefinition::Node& node,
                  std::map<std::size_t, std::vector<std::string>>& joins, Ways& ways) {
    for (std::size_t i = 0; i < graph_.joins.size(); ++i) {
      const GraphDefinition::Join& join = graph_.joins[i];
      if (std::find(join.from.begin(), join.from.end(), node.name) == join.from.end()) continue;
      std::vector<std::string>& seen = joins[i];
      if (std::find(seen.begin(), seen.end(), node.name) == seen.end()) seen.push_back(node.name);
      if (seen.size() < join.from.size()) continue;
      ways.must(graph_, join.to);
      joins.erase(i);
    }
  }

  void check_joins(const std::map<std::size_t, std::vector<std::string>>& expected) {
    auto as_sets = [](const std::map<std::size_t, std::vector<std::string>>& joins) {
      std::map<std::size_t, Names> sets;
      for (const auto& [join, seen] : joins) {
        if (!seen.empty()) sets[join] = Names(seen.begin(), seen.end());
      }
      return sets;
    };
    if (as_sets(expected) != as_sets(next_.joins)) {
      complain("counts the completed nodes of its joins incorrectly");
    }
  }

  void check_leads(const Ways& ways) {
    Names by_name;
    for (std::size_t i = 0; i < next_.tasks.size(); ++i) {
      const std::string& name = next_.nodes[i];
      if (next_.tasks[i].input) {
        if (!ways.sent.contains(name)) complain("sends to " + in_quotes(name) + " undeclared");
      } else if (!ways.allowed.contains(name)) {
        complain("schedules " + in_quotes(name) + ", although no edge leads there");
      } else if (!by_name.insert(name).second) {
        complain("visits " + in_quotes(name) + " twice");
      }
    }
    for (const Names& wanted : ways.each_of) {
      bool is_there = wanted.contains(std::string(end)) ||
                      std::any_of(by_name.begin(), by_name.end(),
                                  [&](const std::string& name) { return wanted.contains(name); });
      if (!is_there)
        complain("leaves out " + in_quotes(*wanted.begin()) + ", although an edge leads there");
    }
    bool may_end = ways.allowed.contains(std::string(end)) || !ways.sent.empty() || may_be_none_;
    if (next_.tasks.empty() && !may_end) complain("ends the run although no edge leads to the end");
  }

  // A run is queued if it was enqueued, or if it was decided when a concurrency limit was reached.
  bool may_be_queued() const {
    bool may = checkpoint_.kind == CommitKind::input || checkpoint_.kind == CommitKind::decision ||
               checkpoint_.kind == CommitKind::expiry;
    return may && checkpoint_.status == RunStatus::queued;
  }

  // Checks superstep and status after a commit that ended a superstep.
  void check_place(std::int64_t superstep, bool breaks) {
    if (checkpoint_.superstep != superstep ||
        (!next_.tasks.empty() && next_.superstep != superstep)) {
      complain("is not one superstep further");
    }
    for (const std::string& name : next_.nodes) {
      const GraphDefinition::Node* node = graph_.find(name);
      breaks = breaks || (node && node->interrupt_before) ||
               engine::names_node(breakpoints().before, name);
    }
    if (is_inner_) breaks = breaks && next_.at_breakpoint;  // a subgraph need not stop
    RunStatus status = RunStatus::running;
    if (next_.tasks.empty()) status = RunStatus::completed;
    bool is_held = breaks && !next_.tasks.empty();
    if (is_held && !is_inner_) status = RunStatus::paused;
    if (next_.at_breakpoint != is_held) complain("passes a breakpoint, or stops without one");
    bool is_queued = may_be_queued() && status == RunStatus::running;
    if (checkpoint_.status != status && !is_queued) complain("has the wrong status");
  }

  // Checks a commit partway through a superstep.
  void check_stays() {
    if (!may_stay()) return complain("must not occur within a superstep");
    if (next_.nodes != before_.nodes || next_.superstep != before_.superstep) {
      return complain("advances the run, or does not belong to the scheduled nodes");
    }
    if (next_.joins != before_.joins) complain("changes the completed nodes of its joins");
    bool resumes = checkpoint_.kind == CommitKind::timer && before_.at_breakpoint;
    if (!resumes && next_.breakpoints != before_.breakpoints) complain("changes its breakpoints");
    std::string_view own = checkpoint_.kind == CommitKind::attempt ||
                                   checkpoint_.kind == CommitKind::decision ||
                                   checkpoint_.kind == CommitKind::expiry
                               ? std::string_view(checkpoint_.node)
                               : std::string_view();
    bool names_a_node = own.empty() || is_inside(own) ||
                        std::find(next_.nodes.begin(), next_.nodes.end(), own) != next_.nodes.end();
    if (!names_a_node) complain("does not belong to a scheduled node");
    bool is_queued = may_be_queued() && status_in_the_midst() == RunStatus::running;
    if (checkpoint_.status != status_in_the_midst() && !is_queued) complain("has the wrong status");
    if (checkpoint_.kind == CommitKind::claim || checkpoint_.kind == CommitKind::release ||
        checkpoint_.kind == CommitKind::quarantine || checkpoint_.kind == CommitKind::consent) {
      check_changes_nothing();
    }
  }

  // Whether this can be a node of a subgraph task in progress.
  bool is_inside(std::string_view) const { return !run_.inner.empty() || !space_.graph; }

  bool may_stay() const {
    switch (checkpoint_.kind) {
      case CommitKind::node:
        return false;
      case CommitKind::attempt:
        return before_.tasks.size() == 1;
      case CommitKind::decision:
      case CommitKind::expiry: {
        if (before_.tasks.size() > 1) return true;
        // An interrupt inside a node, which runs again with the response, or in a subgraph.
        const GraphDefinition::Node* node = graph_.find(before_.nodes.front());
        return node && !node->approval;
      }
      case CommitKind::timer: {
        if (before_.at_breakpoint || before_.tasks.size() > 1) return true;
        const GraphDefinition::Node* node = graph_.find(before_.nodes.front());
        return node && node->subgraph;
      }
      default:
        return true;
    }
  }

  RunStatus status_in_the_midst() const {
    if (is_inner_) return RunStatus::running;
    switch (checkpoint_.kind) {
      case CommitKind::pause:
        return RunStatus::paused;
      case CommitKind::release:
        return RunStatus::queued;
      case CommitKind::quarantine:
        return RunStatus::quarantined;
      case CommitKind::consent:
        return parent_->status;
      default:
        return RunStatus::running;
    }
  }

  // Checks that the commit changes neither state nor next tasks, unless it is the first one of
  // another graph version, which writes the whole state again.
  void check_changes_nothing() {
    bool may_migrate = graph_.migrate_materials && next_.materials != before_.materials;
    if (next_.version != before_.version || may_migrate) return;
    bool is_parallel = before_.tasks.size() > 1;
    std::uint64_t values_seq = parent_->state_seq + 1;
    bool writes = std::any_of(space_.values.begin(), space_.values.end(), [&](const ValueRow& row) {
      if (row.seq != values_seq) return false;
      // Pending writes of several tasks are already stored.
      return !is_parallel || row.index >= static_cast<std::int64_t>(before_.tasks.size());
    });
    auto tasks_of = [&](const CheckpointRow& row) {
      return engine::without_materials(row.next_tasks, run_.row.graph_hash);
    };
    bool same = is_parallel || tasks_of(checkpoint_) == tasks_of(*parent_);
    if (covers_many_) writes = false;  // it can contain deferred writes (Durability::exit)
    if ((writes && checkpoint_.state_seq != parent_->state_seq) || !same) {
      complain("changes the next tasks of the run, or its state");
    }
  }

  // With Durability::exit, only the final position is known.
  void check_many() {
    Names reached = reachable(graph_, before_.nodes);
    for (const std::string& name : next_.nodes) {
      if (!reached.contains(name))
        complain("schedules " + in_quotes(name) + ", although no edge leads there");
    }
    if (checkpoint_.superstep < parent_->superstep) complain("returns to an earlier superstep");
    bool is_last = checkpoint_.status == RunStatus::completed;
    if (is_last != next_.tasks.empty()) complain("has the wrong status");
  }

  void check_end(RunStatus status) {
    if (checkpoint_.status != status || !next_.tasks.empty()) complain("does not end the run");
  }

  const ApprovalRow* approval_of(std::size_t position) const {
    bool several = before_.tasks.size() > 1;
    TaskId task =
        engine::task_id(run_.row.run, space_.checkpoint_ns, before_.superstep,
                        before_.nodes[position], several ? std::optional(position) : std::nullopt);
    for (const ApprovalRow& each : run_.approvals) {
      bool is_decided =
          each.status != ApprovalStatus::open && each.status != ApprovalStatus::closed;
      if (each.task == task && is_decided) return &each;
    }
    return nullptr;
  }

  void complain(const std::string& what) {
    findings_.add(run_, commit_text(checkpoint_) + ", a " + std::string(name_of(checkpoint_.kind)) +
                            " of " + in_quotes(checkpoint_.node) + ", " + what + ".");
  }

  const RunContents& run_;
  const SpaceContents& space_;
  const GraphDefinition& graph_;
  const CheckpointRow& checkpoint_;
  const CheckpointRow* parent_;
  NextTasks before_;
  const NextTasks& next_;
  Findings& findings_;
  bool is_inner_ = false;
  bool covers_many_ = false;
  bool may_be_none_ = false;
};

// Whether the next tasks of a restored run match its status. The state of several tasks is known at
// the newest commit only.
bool fits_its_status(const engine::Run& run, const Replay& replay, bool is_inner) {
  RunStatus status = replay.checkpoint().status;
  bool waits = run.waits_for_thread && !is_inner && !is_final(status);
  if (waits) {
    return run.tasks.empty() && (status == RunStatus::queued || status == RunStatus::quarantined);
  }
  if (is_final(status) != run.tasks.empty()) return false;
  if (run.tasks.empty() || is_inner) return true;
  bool is_known = run.tasks.size() == 1 && run.tasks.front().node->subgraph == std::nullopt;
  bool is_blocked = engine::is_blocked(run, Instant()) || run.at_breakpoint;
  if (status == RunStatus::paused) return (!is_known && !replay.is_newest()) || is_blocked;
  // A running run can have stopped before the commit of the pause, but not with a single task.
  bool stops_alone =
      is_known && (run.tasks.front().phase == NodeTask::Phase::interrupted || run.at_breakpoint);
  return !stops_alone;
}

}  // namespace

void p9_recoverability(const RunContents& run, const CheckScope&, Findings& findings) {
  for (const SpaceContents* checkpoint_ns : spaces_of(run)) {
    if (!checkpoint_ns->graph) continue;
    bool is_inner = !checkpoint_ns->checkpoint_ns.empty();
    Replay replay(run, *checkpoint_ns);
    while (replay.next()) {
      const CheckpointRow& checkpoint = replay.checkpoint();
      if (replay.tasks() && !replay.graph()) continue;  // of a version that the scope lacks
      auto restored = replay.restore();
      if (!restored.ok()) {
        findings.add(run,
                     commit_text(checkpoint) + " cannot be loaded: " + restored.error().message);
        continue;
      }
      if (fits_its_status(*restored, replay, is_inner)) continue;
      findings.add(run, commit_text(checkpoint) +
                            " loads, but its next tasks do not match the status " +
                            std::string(name_of(checkpoint.status)) + ".");
    }
  }
}

void p10_valid_transitions(const RunContents& run, const CheckScope&, Findings& findings) {
  for (const SpaceContents* checkpoint_ns : spaces_of(run)) {
    if (!checkpoint_ns->graph) continue;
    std::optional<NextTasks> before;
    Replay replay(run, *checkpoint_ns);
    while (replay.next()) {
      if (!replay.tasks()) {  // P9
        before.reset();
        continue;
      }
      if (replay.graph() && (before || !replay.parent())) {
        Step step(run, *checkpoint_ns, replay, before.value_or(NextTasks()), findings);
        if (!replay.parent()) {
          step.check_first();
        } else {
          step.check();
        }
      }
      before = replay.tasks();
    }
  }
}

}  // namespace belay::check
