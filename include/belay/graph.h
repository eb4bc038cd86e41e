#pragma once
// belay/graph.h - an agent as a graph of nodes, checked as a whole when it is built.
//
//     GraphBuilder<Mail> graph{"mail"};
//     graph.node("write", write).retry({.attempts = 3, .base = 500ms});
//     graph.approval("review", &Mail::draft, {.question = "Send this mail?"})
//         .approved("send")
//         .rejected("write");
//     graph.node("send", send);
//     graph.edge(start, "write").edge("write", "review").edge("send", end);
//     Result<Graph<Mail>> built = std::move(graph).build();
//
// A node is a function (const State&, Context&) that returns an Update<State>, a Task of one, or a
// Result of either. It reads state, and says what changed; its return is committed as a whole. A
// plain function must not block: wait in a Task, or use context.blocking().
// All nodes that are due form a superstep: they run in parallel on the same state, what they say is
// combined in the order in which the nodes were declared, and the nodes after them come next.
// Several edges from one node lead to all of their targets. A node that several ways lead to in one
// superstep is visited once; join() waits for ways of different lengths.
// A branch chooses among its targets by a pure function of the state: it returns a bool or an index
// into the targets ({if_false, if_true}), a target's name, several names, or Sends, each of which
// visits a node with an input of its own. Once chosen, the way is committed and never chosen again.
// An exception in it is a typed failure of the run.
// build() reports all faults at once, each naming the node and what to write instead.
// Versions: a graph's hash covers names, channels, edges and policies. A run goes on with the
// version that it began with (Runtime::add() takes several), or with one that has upgrade_from() or
// accept_older_versions(). Anything else is refused, and the run left as it is.

#include "belay/detail/graph_definition.h"

namespace belay {

// A graph that has been checked. Cheap to copy; runs share it.
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

// For a state that is a JSON object: JsonGraphBuilder of json_graph.h.
template <GraphState State>
class GraphBuilder {
 public:
  // A bool of the state: a member, or of a JSON object a channel by name.
  using Flag = std::conditional_t<std::is_same_v<State, Value>, std::string, bool State::*>;

  explicit GraphBuilder(std::string name) {
    definition_.name = std::move(name);
    if constexpr (reflect::PlainStruct<State>) definition_.state = &state_type<State>();
  }

  // Options of the node just added.
  class NodeSetting {
   public:
    NodeSetting(GraphBuilder& builder, std::size_t index) : builder_(builder), index_(index) {}
    NodeSetting& retry(RetryPolicy policy) {
      node().retry = policy;
      return *this;
    }
    // How long one attempt may take; then it counts as failed with `unavailable`.
    NodeSetting& timeout(std::chrono::milliseconds limit) {
      node().timeout = limit;
      return *this;
    }
    // What each attempt depends on and Runtime::protect() protects, by name ("smtp").
    NodeSetting& depends_on(std::string_view dependency) {
      node().depends_on.emplace_back(dependency);
      return *this;
    }
    // Where this node's updates may go or send to, in place of its edges.
    NodeSetting& destinations(std::vector<std::string_view> targets) {
      node().destinations.assign(targets.begin(), targets.end());
      return *this;
    }
    // The run pauses before, or after, the superstep that visits this node; resume() goes on.
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

  // Options of the approval just added.
  class ApprovalSetting {
   public:
    ApprovalSetting(GraphBuilder& builder, std::size_t index) : builder_(builder), index_(index) {}
    // Where to go once approved; the payload may have been edited by then.
    ApprovalSetting& approved(std::string_view target) {
      approval().approved = target;
      return *this;
    }
    // Where to go once rejected or expired.
    ApprovalSetting& rejected(std::string_view target) {
      approval().rejected = target;
      return *this;
    }
    // Asks only when this is true of the state; otherwise goes on as if approved.
    ApprovalSetting& when(std::function<bool(const State&)> condition) {
      approval().when = [condition](const void* state) {
        return condition(*static_cast<const State*>(state));
      };
      return *this;
    }
    // Words the question from the state, in place of the fixed text.
    ApprovalSetting& question(std::function<std::string(const State&)> question) {
      approval().question = [question](const void* s) {
        return question(*static_cast<const State*>(s));
      };
      return *this;
    }
    // Refuses an edited payload with the Error that this gives for the edited state.
    ApprovalSetting& validate(std::function<Result<Done>(const State&)> validate) {
      approval().check = [validate](const void* state) {
        return validate(*static_cast<const State*>(state));
      };
      return *this;
    }
    // A member that is true while the decision is awaited, where nothing runs beside the approval.
    ApprovalSetting& pending_flag(Flag member) {
      GraphDefinition::Approval& asked = approval();
      detail::bind_flag(member, asked.pending_flag, asked.set_awaiting, asked.names.pending_flag);
      return *this;
    }
    // A member that takes the decision: true for approved, false for rejected or expired.
    ApprovalSetting& decision_flag(Flag member) {
      GraphDefinition::Approval& asked = approval();
      detail::bind_flag(member, asked.decision_flag, asked.set_answer, asked.names.decision_flag);
      return *this;
    }

   private:
    GraphDefinition::Approval& approval() { return *builder_.definition_.nodes[index_].approval; }
    GraphBuilder& builder_;
    std::size_t index_;
  };

  template <typename Function>
  NodeSetting node(std::string_view name, Function function) {
    using Returned = std::invoke_result_t<Function, const State&, Context&>;
    GraphDefinition::Node& added = add_node(name);
    if constexpr (requires(Returned returned) { returned.operator co_await(); }) {
      added.run_task = [function](const void* state, Context& context) {
        return detail::answer_of<State>(function(*static_cast<const State*>(state), context));
      };
    } else {
      added.run_plain = [function](const void* state, Context& context) {
        return detail::answer_of<State>(function(*static_cast<const State*>(state), context));
      };
    }
    return NodeSetting(*this, definition_.nodes.size() - 1);
  }

  // The same for a function that shares its name with others ("write", "send").
  template <typename Returned>
  NodeSetting node(std::string_view name, Returned (*function)(const State&, Context&)) {
    return node(name, std::function<Returned(const State&, Context&)>(function));
  }

  // A node that asks a person: shows `member`, waits, and lets the person edit it.
  template <typename M>
  ApprovalSetting approval(std::string_view name, M State::* member, ApprovalOptions options) {
    GraphDefinition::Approval asked;
    asked.options = std::move(options);
    asked.channel = reflect::index_of(member);
    add_node(name).approval = std::move(asked);
    return ApprovalSetting(*this, definition_.nodes.size() - 1);
  }

  // A pause of this long, or of as long as the state says; the run holds no process meanwhile.
  GraphBuilder& wait(std::string_view name, std::chrono::milliseconds time) {
    add_node(name).wait = [time](const void*) { return time; };
    return *this;
  }
  GraphBuilder& wait(std::string_view name,
                     std::function<std::chrono::milliseconds(const State&)> time) {
    add_node(name).wait = [time](const void* state) {
      return time(*static_cast<const State*>(state));
    };
    return *this;
  }

  // Another graph as one node. `input` makes its first state, (const State&) -> Inner; `output`
  // says what its last one changes here, (const Inner&) -> Update<State>. Each of its steps is a
  // commit of its own, in a namespace of its own.
  template <typename Inner, typename Input, typename Output>
  NodeSetting subgraph(std::string_view name, const Graph<Inner>& graph, Input input,
                       Output output) {
    GraphDefinition::Subgraph inner;
    inner.graph = graph.definition();
    inner.input = [input, type = inner.graph->state](const void* state) {
      return detail::inner_state<Inner>(*type, input(*static_cast<const State*>(state)));
    };
    inner.output = [output](const void* state) -> NodeResult {
      return Update<State>(output(*static_cast<const Inner*>(state))).take_update();
    };
    add_node(name).subgraph = std::move(inner);
    return NodeSetting(*this, definition_.nodes.size() - 1);
  }

  GraphBuilder& edge(std::string_view from, std::string_view to) {
    return connect(from, {to}, nullptr);
  }

  // `to` is visited once all of `from` have ended since its last visit, whenever each of them did.
  GraphBuilder& join(std::vector<std::string_view> from, std::string_view to) {
    definition_.joins.push_back({{from.begin(), from.end()}, std::string(to)});
    return *this;
  }

  // `choose` takes const State& and returns a bool, an index, a name, names or Sends: see the top.
  template <typename Choose>
  GraphBuilder& branch(std::string_view from, Choose choose,
                       std::vector<std::string_view> targets) {
    return connect(from, std::move(targets), [choose](const void* state) {
      return detail::choice_of(choose(*static_cast<const State*>(state)));
    });
  }

  // How several nodes' Update::reduce() of one member combine: (M so_far, const M& operand) -> M.
  // Pure. What comes of it is stored, so that reading a state needs no code.
  template <typename M, typename Reduce>
  GraphBuilder& reducer(M State::* member, Reduce reduce) {
    detail::set_reducer(rule_of(member), member, std::move(reduce));
    return *this;
  }

  // A member that is never stored: a cache that a node can make again. It has its default when a
  // run is taken up by another process.
  template <typename M>
  GraphBuilder& transient(M State::* member) {
    rule_of(member).transient = true;
    return *this;
  }

  // Rejects an input for which `check` returns an Error; nothing is written in that case.
  GraphBuilder& check_input(std::function<Result<Done>(const State&)> check) {
    definition_.check_input = [check](auto* state) {
      return check(*static_cast<const State*>(state));
    };
    return *this;
  }

  // How a run that began with the version of this hash (in hex) goes on with this one.
  GraphBuilder& upgrade_from(std::string_view hash, GraphDefinition::Upgrade upgrade) {
    definition_.upgrades.insert_or_assign(std::string(hash), std::move(upgrade));
    return *this;
  }
  // Runs that began with any other version go on with this one: their next nodes are still here and
  // mean the same, and new members have sound defaults.
  GraphBuilder& accept_older_versions() {
    definition_.accepts_older_versions = true;
    return *this;
  }

  Result<Graph<State>> build() &&
    requires reflect::PlainStruct<State>
  {
    auto built = finish_graph(std::move(definition_), std::move(ways_));
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
};

}  // namespace belay
