#pragma once
// belay/detail/graph_definition.h - a graph as the engine sees it: no template, immutable, shared
// by all its runs. Programs build one with GraphBuilder (graph.h), or from data (json_graph.h).

#include <chrono>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include "belay/context.h"
#include "belay/state.h"

namespace belay {

inline constexpr std::string_view start = "start";
inline constexpr std::string_view end = "end";

// When a node's failure is tried again: errors of code `unavailable` only. The wait after the n-th
// failure is min(2^n * base, cap), +-20 % at random, and never less than the error's retry_after.
struct RetryPolicy {
  int attempts = 1;  // the first included
  std::chrono::milliseconds base{1'000};
  std::chrono::milliseconds cap{10'000};
};

struct ApprovalOptions {
  std::string question;
  std::chrono::milliseconds expires{std::chrono::hours(24)};
  std::vector<std::string> roles = {};  // who may decide; empty: anyone who can reach the store
};

using NodeResult = Result<NodeUpdate>;

struct GraphDefinition {
  // A way by its index, a node's name, several names, or visits with an input each.
  using Choice =
      std::variant<std::size_t, std::string, std::vector<std::string>, std::vector<Send>>;
  using Choose = std::function<Choice(const void* state)>;

  struct Approval {
    ApprovalOptions options;
    std::size_t channel = 0;                            // shown, hashed and open to editing
    std::function<bool(const void*)> when;              // null: always ask
    std::function<std::string(const void*)> question;   // null: options.question
    std::function<Result<Done>(const void*)> validate;  // of an edited state; null: anything fits
    std::optional<std::size_t> pending_flag;   // bool channel: true while a decision is awaited
    std::optional<std::size_t> decision_flag;  // bool channel: the decision
    std::function<void(void*, bool)> set_awaiting;
    std::function<void(void*, bool)> set_answer;
    std::string approved, rejected;  // where to go
    // Of a JSON graph, until its channels are known.
    struct Names {
      std::string channel, pending_flag, decision_flag;
    };
    Names names;
  };

  // A graph of its own as one node: it begins with what `input` makes of the state, and `output`
  // says what its final state changes here.
  struct Subgraph {
    std::shared_ptr<const GraphDefinition> graph;
    std::function<Result<std::shared_ptr<void>>(const void* state)> input;
    std::function<NodeResult(const void* inner_state)> output;
  };

  struct Node {
    std::string name;
    // One of these five.
    std::function<NodeResult(const void*, Context&)> run_plain;
    std::function<Task<NodeResult>(const void*, Context&)> run_task;
    std::optional<Approval> approval;
    std::optional<Subgraph> subgraph;
    std::function<std::chrono::milliseconds(const void* state)> wait;

    RetryPolicy retry;
    std::optional<std::chrono::milliseconds> timeout;
    std::vector<std::string>
        depends_on;                 // names of dependencies: see protection.h; no part of the hash
    bool interrupt_before = false;  // the run pauses before, or after, the node's superstep
    bool interrupt_after = false;
    std::vector<std::string> targets;       // all of an edge, or those that a branch may choose
    std::vector<std::string> destinations;  // where its updates may go or send to
    Choose choose;                          // null for edges
    std::size_t index = 0;                  // in the graph's nodes
  };

  // `to` is visited once all of `from` have ended since its last visit.
  struct Join {
    std::vector<std::string> from;
    std::string to;
  };

  // What a graph says about one channel beyond its type.
  struct ChannelRule {
    bool transient = false;  // never stored: it has its default when a run is taken up again
    // Combines a typed operand with the channel. Pure.
    std::function<Result<Done>(void* state, void* operand)> reduce;
    // The typed operand again from its text; null when it does not fit.
    std::function<std::shared_ptr<Operand>(const Value&)> read_operand;
  };

  // From the state of an older version of this graph to one that this version reads.
  using Upgrade = std::function<Result<Value>(Value state)>;

  std::string name;
  const StateType* state = nullptr;
  std::shared_ptr<const StateType> own_state;  // what `state` points to, when made at run time
  std::vector<Node> nodes;
  std::vector<std::string> entries;
  std::function<Result<Done>(const void*)> check_input;  // null: accepts any input
  std::vector<Join> joins;
  std::vector<ChannelRule> channel_rules;   // by channel; empty: none has any
  std::map<std::string, Upgrade> upgrades;  // by the older version's hash, in hex
  bool accepts_older_versions = false;
  Digest hash{};  // its version: of all that is declared: names, channels, edges, policies

  const Node* find(std::string_view node) const;
};

// The graph as a picture. The same declaration gives the same text, byte for byte: nodes in their
// order of declaration, each with its ways on, all targets of a branch (dashed) included; what a
// node may do (attempts, time to run, how long it asks) stands in its label.
std::string to_mermaid(const GraphDefinition& graph);  // a Mermaid flowchart
std::string to_dot(const GraphDefinition& graph);      // Graphviz
std::string to_outline(const GraphDefinition& graph);  // a line a node, for a terminal

// An edge or a branch as declared.
struct EdgeDeclaration {
  std::string from;
  std::vector<std::string> targets;
  GraphDefinition::Choose choose;  // null for an edge
};

// Connects the nodes, checks the whole graph and computes its hash. `faults` have been found
// before.
Result<std::shared_ptr<const GraphDefinition>> finish_graph(GraphDefinition definition,
                                                            std::vector<EdgeDeclaration> edges,
                                                            std::vector<std::string> faults = {});

namespace detail {
// What a branch's function returned: a bool, an index, a name, names or Sends.
template <typename Chosen>
GraphDefinition::Choice choice_of(Chosen chosen) {
  if constexpr (std::is_convertible_v<Chosen, std::string_view>) {
    return GraphDefinition::Choice(std::string(std::string_view(chosen)));
  } else if constexpr (std::is_same_v<Chosen, std::vector<std::string>> ||
                       std::is_same_v<Chosen, std::vector<Send>>) {
    return GraphDefinition::Choice(std::move(chosen));
  } else {
    return GraphDefinition::Choice(static_cast<std::size_t>(chosen));
  }
}

// Where an approval notes that it asks, or what was decided.
template <typename State>
void bind_flag(bool State::* member, std::optional<std::size_t>& channel,
               std::function<void(void*, bool)>& setter, std::string&) {
  channel = reflect::index_of(member);
  setter = [member](void* state, bool value) { static_cast<State*>(state)->*member = value; };
}
inline void bind_flag(std::string& name, std::optional<std::size_t>&,
                      std::function<void(void*, bool)>&, std::string& kept) {
  kept = std::move(name);
}

template <typename State, typename M>
std::function<std::shared_ptr<Operand>(const Value&)> operand_reader(M State::* member) {
  return [member](const Value& from) -> std::shared_ptr<Operand> {
    M value{};
    Decoder in;
    if (!codec::decode(from, value, in)) return nullptr;
    return std::make_shared<TypedOperand<State, M>>(member, std::move(value), nullptr);
  };
}

// The rule of a channel with a reducer of the program's own.
template <typename State, typename M, typename Reduce>
void set_reducer(GraphDefinition::ChannelRule& rule, M State::* member, Reduce reduce) {
  rule.reduce = [member, reduce](void* state, void* operand) {
    M& held = static_cast<State*>(state)->*member;
    held = reduce(std::move(held), *static_cast<const M*>(operand));
    return Done{};
  };
  rule.read_operand = operand_reader(member);
}

// The first state of a subgraph; a JSON object is checked as an input is.
template <typename Inner>
Result<std::shared_ptr<void>> inner_state(const StateType& type, Inner input) {
  if constexpr (std::is_same_v<Inner, Value>) {
    return state_from(type, input);
  } else {
    return std::shared_ptr<void>(std::make_shared<Inner>(std::move(input)));
  }
}

// What a node's function returned, without its type.
template <typename State>
NodeResult answer_of(Update<State> update) {
  return std::move(update).take_update();
}
template <typename State>
NodeResult answer_of(Result<Update<State>> update) {
  if (!update.ok()) return std::move(update).error();
  return std::move(*update).take_update();
}
template <typename State, typename Returned>
Task<NodeResult> answer_of(Task<Returned> task) {
  Returned returned = co_await task;
  co_return answer_of<State>(std::move(returned));
}
}  // namespace detail

}  // namespace belay
