#pragma once
// belay/graph.h - graphs of nodes and their builder, which checks a graph as a whole.
//
//     GraphBuilder<Mail> graph{"mail"};
//     graph.node("write", write).retry({.attempts = 3, .base = 500ms});
//     graph.approval("review", &Mail::draft, {.question = "Send this mail?"})
//         .approved("send")
//         .rejected("write");  // its node reads the comment: context.decision()->comment
//     graph.node("send", send);
//     graph.edge(start, "write").edge("write", "review").edge("send", end);
//     Result<Graph<Mail>> built = std::move(graph).build();
//
// A node is a function (const State&, Context&) that returns an Update<State>, a Result of one, or
// a Task of either. Its update is committed as a whole. A plain function must not block: wait in a
// coroutine, or use context.run_blocking().
// All scheduled nodes form a superstep: they run in parallel on the same state, their updates are
// combined in the order in which the nodes were declared, and then their targets are scheduled. All
// edges of a node are followed. A node with several incoming edges is scheduled once per superstep;
// join() waits for nodes that end in different supersteps.
// A branch selects among its targets by a pure function of the state: it returns a bool or an index
// into the targets ({if_false, if_true}), a target's name, several names, or Sends, each of which
// schedules a task with its own input. The selection is committed and is never made again. An
// exception in it fails the run. build() reports all faults together, each with its correction.
// Versions: a graph's hash covers names, channels, edges and pauses, but no retries, timeouts,
// expiries and texts. A run continues with its version (Runtime::add() accepts several), or with
// one that has upgrade_from() or accept_older_versions(). Otherwise it is rejected and not changed.

#include "belay/detail/approval_setting.h"

namespace belay {

struct AgentOptions;

// A checked graph. Cheap to copy; runs share it.
template <GraphState State>
class Graph {
 public:
  explicit Graph(std::shared_ptr<const GraphDefinition> definition)
      : definition_(std::move(definition)) {}
  const std::string& name() const { return definition_->name; }
  const std::shared_ptr<const GraphDefinition>& definition() const { return definition_; }

 private:
  std::shared_ptr<const GraphDefinition> definition_;
};

// For a state that is a JSON object, use JsonGraphBuilder of json_graph.h.
template <GraphState State>
class GraphBuilder {
 public:
  explicit GraphBuilder(std::string name)
    requires(!reflect::PlainStruct<State>)
  {
    definition_.name = std::move(name);
  }
  explicit GraphBuilder(std::string name)
    requires(codec::has_storable_members<State>)
  {
    definition_.name = std::move(name);
    definition_.state = &state_type<State>();
  }
  // The other two are compile errors.
  BELAY_REFUSED(BELAY_NO_BASE)
  explicit GraphBuilder(std::string)
    requires(reflect::PlainStruct<State> && reflect::has_base<State>)
  {
    std::abort();
  }
  explicit GraphBuilder(codec::Unstorable<codec::unstorable_member<State>()>)
    requires(!codec::unstorable_member<State>().is_empty())
  {}

  // Options of the node just added.
  class NodeSetting {
   public:
    NodeSetting(GraphBuilder& builder, std::size_t index) : builder_(builder), index_(index) {}
    NodeSetting& retry(RetryPolicy policy) {
      node().retry = policy;
      return *this;
    }
    // Maximum time of one attempt, which then fails: `unavailable`. A plain node: when it returns.
    NodeSetting& timeout(std::chrono::milliseconds limit) {
      node().timeout = limit;
      return *this;
    }
    // Each attempt uses this dependency ("smtp"), which Runtime::protect() protects.
    NodeSetting& depends_on(std::string_view dependency) {
      node().depends_on.emplace_back(dependency);
      return *this;
    }
    // The nodes that this node's updates can select, or send to, instead of its edges.
    NodeSetting& destinations(std::vector<std::string_view> targets) {
      node().destinations.assign(targets.begin(), targets.end());
      return *this;
    }
    // Pauses the run before, or after, a superstep with this node, until resume() continues it.
    NodeSetting& interrupt_before() {
      node().interrupt_before = true;
      return *this;
    }
    NodeSetting& interrupt_after() {
      node().interrupt_after = true;
      return *this;
    }

   private:
    GraphDefinition::Node& node() { return builder_.definition_.nodes[index_]; }
    GraphBuilder& builder_;
    std::size_t index_;
  };

  using ApprovalSetting = belay::ApprovalSetting<State>;

  template <typename Function>
    requires(detail::is_node_function<State, Function>())
  NodeSetting node(std::string_view name, Function function) {
    GraphDefinition::Node& added = add_node(name);
    using Returned = std::invoke_result_t<Function&, const State&, Context&>;
    auto call = [function](const void* state, Context& context) {
      return detail::answer_of<State>(function(*static_cast<const State*>(state), context));
    };
    if constexpr (requires(Returned returned) { returned.operator co_await(); }) {
      added.run_task = std::move(call);
    } else {
      added.run_plain = std::move(call);
    }
    return NodeSetting(*this, definition_.nodes.size() - 1);
  }
  // A compile error.
  template <typename Function>
    requires(!detail::is_node_function<State, Function>())
  BELAY_REFUSED(
      "A node is a function (const State&, Context&) that returns an Update<State>, a "
      "Result<Update<State>>, or a Task of either.")
  NodeSetting node(std::string_view, Function) {
    std::abort();
  }

  // The same for an overloaded function.
  template <typename Returned>
    requires(detail::is_node_result<State, Returned>)
  NodeSetting node(std::string_view name, Returned (*function)(const State&, Context&)) {
    return node(name, std::function<Returned(const State&, Context&)>(function));
  }

  // A node that requests an approval: shows `member`, pauses the run, and permits an edit of it.
  template <typename M>
  ApprovalSetting approval(std::string_view name, M State::* member, ApprovalOptions options) {
    GraphDefinition::Approval asked;
    asked.options = std::move(options);
    asked.channel = reflect::index_of(member);
    add_node(name).approval = std::move(asked);
    return ApprovalSetting(definition_, definition_.nodes.size() - 1);
  }

  // Pauses the run for this time, or for a time that the state determines. No process is occupied.
  using WaitTime = std::function<std::chrono::milliseconds(const State&)>;
  GraphBuilder& wait(std::string_view name, std::chrono::milliseconds time) {
    return wait(name, [time](const State&) { return time; });
  }
  GraphBuilder& wait(std::string_view name, WaitTime time) {
    add_node(name).wait = detail::on_state<State>(std::move(time));
    return *this;
  }

  // Uses another graph as one node. `input` makes its initial state, (const State&) -> Inner, or
  // (const State&, const Value& sent) -> Inner with the input of the send; `output` turns its final
  // state into an update, (const Inner&) -> Update<State>. Each superstep has its own commit.
  template <typename Inner, typename Input, typename Output>
  NodeSetting subgraph(std::string_view name, const Graph<Inner>& graph, Input input,
                       Output output) {
    GraphDefinition::Subgraph inner;
    inner.graph = graph.definition();
    inner.input = [input, type = inner.graph->state](const void* state, const std::string* sent) {
      return detail::inner_state<Inner>(*type, detail::subgraph_input<State>(input, state, sent));
    };
    inner.output = [output](const void* state) -> NodeResult {
      return Update<State>(output(*static_cast<const Inner*>(state))).take_update();
    };
    add_node(name).subgraph = std::move(inner);
    return NodeSetting(*this, definition_.nodes.size() - 1);
  }

  // An agent with tools as one node, defined in agent.h: `in` and `out` are members, or
  // functions (const State&) -> std::string and (const AgentState&) -> Update<State>.
  template <typename Input, typename Output>
  NodeSetting agent(std::string_view name, const AgentOptions& options, Input in, Output out);

  GraphBuilder& edge(std::string_view from, std::string_view to) {
    return connect(from, {to}, nullptr);
  }

  // Schedules `to` once all of `from` have completed since its last task, in any supersteps.
  GraphBuilder& join(std::vector<std::string_view> from, std::string_view to) {
    definition_.joins.push_back({{from.begin(), from.end()}, std::string(to)});
    return *this;
  }

  // `choose` takes a const State& and returns a bool, an index, a name, names or Sends: see above.
  template <typename Choose>
  GraphBuilder& branch(std::string_view from, Choose choose,
                       std::vector<std::string_view> targets) {
    return connect(from, std::move(targets), [choose](const void* state) {
      return detail::choice_of(choose(*static_cast<const State*>(state)));
    });
  }

  // Combines the operands of Update::reduce() for a member: (M so_far, const M& operand) -> M. Must
  // be pure. The result is stored, therefore a state can be read without this function.
  template <typename M, typename Reduce>
  GraphBuilder& reducer(M State::* member, Reduce reduce) {
    detail::set_reducer(rule_of(member), member, std::move(reduce));
    return *this;
  }

  // Declares a member that is never stored: a cache that a node can rebuild. After a takeover it
  // has its default value.
  template <typename M>
  GraphBuilder& transient(M State::* member) {
    return rule_of(member).transient = true, *this;
  }
  // Adds the input of a thread's later run to this member, instead of replacing it: see thread.h.
  // Appends it to a list, merges it into a map, or adds it to a number.
  template <typename M>
  GraphBuilder& accumulate(M State::* member) {
    return rule_of(member).of_input = detail::accumulating_op<M>(), *this;
  }
  // A thread of this graph has a single run: see StartOptions::thread.
  GraphBuilder& one_run_per_thread() { return definition_.one_run_per_thread = true, *this; }
  // For the clients that choose an agent (docs/mcp.md). Not hashed.
  GraphBuilder& describe(std::string text) { return definition_.description = text, *this; }
  // Rejects an input for which `check` returns an Error; nothing is written in that case.
  GraphBuilder& check_input(std::function<Result<Done>(const State&)> check) {
    definition_.check_input = detail::on_state<State>(std::move(check));
    return *this;
  }

  // Converts the state of a run of the version with this hash (in hex) to this version.
  GraphBuilder& upgrade_from(std::string_view hash, GraphDefinition::Upgrade upgrade) {
    definition_.upgrades.insert_or_assign(std::string(hash), std::move(upgrade));
    return *this;
  }
  // Continues runs of any other version with this one. Their next nodes must still exist with the
  // same meaning, and new members must have valid defaults.
  GraphBuilder& accept_older_versions() { return definition_.accepts_older_versions = true, *this; }
  // Declares what the functions of the nodes use: "model", "prompt NAME", "tool NAME", "policy
  // NAME". Agents (agent.h) declare theirs.
  GraphBuilder& material(std::string_view name, std::string_view text) {
    return declare_material(definition_, name, text), *this;
  }
  // How a run continues that another bill of materials was stored with: docs/graphs.md. Groups:
  // "agent", "model", "policy", "prompts", "tools". A run that is refused waits; the default is
  // `allow`. With a migration, the state is first converted, like that of another version.
  GraphBuilder& on_changed_materials(MaterialChange rule, std::vector<std::string_view> groups) {
    return set_material_rule(definition_, rule, groups), *this;
  }
  GraphBuilder& migrate_materials(std::vector<std::string_view> groups,
                                  GraphDefinition::Upgrade migration) {
    definition_.migrate_materials = std::move(migration);
    return on_changed_materials(MaterialChange::migrate, std::move(groups));
  }

  Result<Graph<State>> build() &&
    requires reflect::PlainStruct<State>
  {
    auto built = finish_graph(std::move(definition_), std::move(ways_), std::move(faults_));
    if (!built.ok()) return std::move(built).error();
    return Graph<State>(*std::move(built));
  }

 protected:
  template <typename M>
  GraphDefinition::ChannelRule& rule_of(M State::* member) {
    definition_.channel_rules.resize(definition_.state->channels.size());
    return definition_.channel_rules[reflect::index_of(member)];
  }

  GraphDefinition::Node& add_node(std::string_view name) {
    definition_.nodes.emplace_back();
    definition_.nodes.back().name = name;
    return definition_.nodes.back();
  }

  GraphBuilder& connect(std::string_view from, std::vector<std::string_view> targets,
                        GraphDefinition::Choose choose) {
    ways_.push_back({std::string(from), {targets.begin(), targets.end()}, std::move(choose)});
    return *this;
  }

  GraphDefinition definition_;
  std::vector<EdgeDeclaration> ways_;
  std::vector<std::string> faults_;
};

}  // namespace belay
