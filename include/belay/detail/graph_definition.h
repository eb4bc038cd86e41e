#pragma once
// belay/detail/graph_definition.h - GraphDefinition: an immutable, type-erased graph.
//
// All runs of a graph share it. Programs build it with GraphBuilder (graph.h) or from data
// (json_graph.h).

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

// Retries of a node, for errors of code `unavailable` only. The backoff after the n-th failure is
// min(2^n * base, cap), +-20 % at random, and at least the error's retry_after.
struct RetryPolicy {
  int attempts = 1;  // including the first
  std::chrono::milliseconds base{1'000};
  std::chrono::milliseconds cap{10'000};
};

struct ApprovalOptions {
  std::string question;
  std::chrono::milliseconds expires{std::chrono::hours(24)};  // or Expiry::never
  std::vector<std::string> roles = {};  // a decider needs one of them; empty: none needed
  std::optional<ExpiryMessage> on_expiry = std::nullopt;  // not hashed
  // The decision that is made at the expiry: "reject", "approve", or the name of a choice, whose
  // node is next; or "fail", which fails the run with `exhausted`. Not hashed.
  std::string when_expired = "reject";
};

// How a run continues after materials of its graph have changed: see on_changed_materials().
enum class MaterialChange { allow, migrate, refuse };

using NodeResult = Result<NodeUpdate>;

struct GraphDefinition {
  // A target by its index, a node's name, several names, or sends.
  using Choice =
      std::variant<std::size_t, std::string, std::vector<std::string>, std::vector<Send>>;
  using Choose = std::function<Choice(const void* state)>;

  struct Approval {
    struct Choice {
      std::string name;
      std::string target;
      std::string label = {};  // not hashed
    };
    ApprovalOptions options;
    std::size_t channel = 0;                            // shown, hashed and open to editing
    std::function<bool(const void*)> when;              // null: always request the approval
    std::function<std::string(const void*)> question;   // null: options.question
    std::function<Result<Done>(const void*)> validate;  // of an edited state; null: accept it
    std::optional<std::size_t> pending_flag;   // bool channel: true while the decision is pending
    std::optional<std::size_t> decision_flag;  // bool channel: the decision
    std::function<void(void*, bool)> set_awaiting;
    std::function<void(void*, bool)> set_answer;
    std::string approved, rejected;  // the next nodes; with choices, each can be empty
    std::vector<Choice> choices = {};
    Value answer_schema = {};  // null: no answer
    // Returns the canonical form of an answer; an Error that names the member that does not fit.
    std::function<Result<Value>(const Value&)> read_answer = nullptr;
    std::int64_t needs = 1;  // approving decisions
    // The channels of a JSON graph, until build() resolves them.
    struct Names {
      std::string channel, pending_flag, decision_flag;
    };
    Names names;
  };

  // Another graph as one node: `input` makes its initial state from this state, and `output` makes
  // the node's update from its final state.
  struct Subgraph {
    std::shared_ptr<const GraphDefinition> graph;
    // `sent`: the JSON text of the input of the send that scheduled the task; null: no send.
    std::function<Result<std::shared_ptr<void>>(const void* state, const std::string* sent)> input;
    std::function<NodeResult(const void* inner_state)> output;
  };

  struct Node {
    std::string name;
    // Exactly one of these five is set.
    std::function<NodeResult(const void*, Context&)> run_plain;
    std::function<Task<NodeResult>(const void*, Context&)> run_task;
    std::optional<Approval> approval;
    std::optional<Subgraph> subgraph;
    std::function<std::chrono::milliseconds(const void* state)> wait;

    RetryPolicy retry;
    std::optional<std::chrono::milliseconds> timeout;
    std::vector<std::string> depends_on;  // dependencies: see driver/protection.h; not hashed
    bool interrupt_before = false;        // pauses the run before, or after, its superstep
    bool interrupt_after = false;
    std::vector<std::string> targets;       // of its edges, or of its branch
    std::vector<std::string> destinations;  // nodes that its updates can select or send to
    Choose choose;                          // the branch; null for edges
    std::size_t index = 0;                  // in the graph's nodes
  };

  // Schedules `to` once all of `from` have completed since its last task.
  struct Join {
    std::vector<std::string> from;
    std::string to;
  };

  // A graph's settings of one channel, in addition to its type.
  struct ChannelRule {
    bool transient = false;           // never stored; after a takeover it has its default value
    WriteOp of_input = WriteOp::set;  // how the input of a later run of a thread changes it
    // Combines a typed operand with the channel. Pure.
    std::function<Result<Done>(void* state, void* operand)> reduce;
    // Returns the typed operand from its JSON value; null if it does not fit.
    std::function<std::shared_ptr<Operand>(const Value&)> read_operand;
  };

  // Converts the state of an older version of this graph to this version.
  using Upgrade = std::function<Result<Value>(Value state)>;

  std::string name;
  const StateType* state = nullptr;
  std::shared_ptr<const StateType> own_state;  // owns `state` if it was made at run time
  std::vector<Node> nodes;
  std::vector<std::string> entries;
  std::function<Result<Done>(const void*)> check_input;  // null: accepts any input
  std::vector<Join> joins;
  std::vector<ChannelRule> channel_rules;   // by channel; empty: defaults
  std::map<std::string, Upgrade> upgrades;  // by the older version's hash, in hex
  bool accepts_older_versions = false;
  bool one_run_per_thread = false;  // not hashed, and neither is ChannelRule::of_input
  std::string description = {};     // not hashed
  // Its version, over its structure: names, channels, edges and pauses. Not over policies: retries,
  // timeouts, expiries and texts.
  Digest hash{};
  Digest former_hash{};  // that of older programs, over policies too; runs with it continue
  // Of an agent, by name: "model", and the digests "policy" (its limits), "prompt" and "tool NAME".
  // Each commit stores them by group (graph/bill_of_materials.h). Not hashed, nor are the rules.
  std::map<std::string, std::string> materials = {};
  std::map<std::string, MaterialChange> material_rules = {};  // by group; others: allow
  Upgrade migrate_materials = nullptr;                        // with a rule `migrate`
  std::string default_model = {};  // of the program, for the material "model" without a text

  const Node* find(std::string_view node) const;
};

// Keeps the digest of the text; of "model", the text itself.
void declare_material(GraphDefinition& graph, std::string_view name, std::string_view text);
// Sets the rule for the groups.
void set_material_rule(GraphDefinition& graph, MaterialChange rule,
                       const std::vector<std::string_view>& groups);

// Returns a diagram of the graph. The same declaration yields the same bytes: nodes in their order
// of declaration, each with its edges, including all targets of a branch (dashed). A node's label
// has its policies (attempts, timeout, expiry of an approval).
std::string to_mermaid(const GraphDefinition& graph);  // a Mermaid flowchart
std::string to_dot(const GraphDefinition& graph);      // Graphviz
std::string to_outline(const GraphDefinition& graph);  // one line per node, for a terminal

// An edge or a branch as declared.
struct EdgeDeclaration {
  std::string from;
  std::vector<std::string> targets;
  GraphDefinition::Choose choose;  // null for an edge
};

// Connects the nodes, checks the whole graph and computes its hash. `faults`: found by the caller.
Result<std::shared_ptr<const GraphDefinition>> finish_graph(GraphDefinition definition,
                                                            std::vector<EdgeDeclaration> edges,
                                                            std::vector<std::string> faults = {});

// Everything that the approval offers to its deciders: stored with each request.
ApprovalTerms terms_of(const GraphDefinition::Approval& approval);
// The node that a choice leads to; empty for an unknown choice.
std::string target_of(const GraphDefinition::Approval& approval, std::string_view choice);
// All nodes that the approval can lead to.
std::vector<std::string> targets_of(const GraphDefinition::Approval& approval);

namespace detail {
// Of an answer that was decoded and encoded again: `problem` is empty if it fits.
Result<Value> canonical_answer(std::string text, std::string problem, const Unknown& unknown);

// Returns the answer of an approval in its canonical form.
template <typename T>
Result<Value> checked_answer(const Value& given) {
  T value{};
  Decoder in;
  Unknown unknown;
  in.path.emplace_back("answer");
  Encoder out;
  if (codec::decode(given, value, in, &unknown)) codec::encode(value, out, nullptr);
  return canonical_answer(std::move(out.text), in.problem + out.problem, unknown);
}

// Returns a function of a typed state as one of a type-erased state.
template <typename State, typename Returned>
std::function<Returned(const void*)> on_state(std::function<Returned(const State&)> function) {
  return [function](const void* state) { return function(*static_cast<const State*>(state)); };
}

// Converts the result of a branch's function: a bool, an index, a name, names or Sends.
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

// Binds a bool of the state that an approval sets.
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

// Sets the rule of a channel with a custom reducer.
template <typename State, typename M, typename Reduce>
void set_reducer(GraphDefinition::ChannelRule& rule, M State::* member, Reduce reduce) {
  rule.reduce = [member, reduce](void* state, void* operand) {
    M& held = static_cast<State*>(state)->*member;
    held = reduce(std::move(held), *static_cast<const M*>(operand));
    return Done{};
  };
  rule.read_operand = operand_reader(member);
  rule.of_input = WriteOp::reduce;
}

// Returns how values are added to a member: appended to a list, merged into a map, or summed.
template <typename M>
constexpr WriteOp accumulating_op() {
  if constexpr (std::is_arithmetic_v<M>) return WriteOp::add;
  if constexpr (requires(M value) { value.push_back(value.front()); }) return WriteOp::append;
  return WriteOp::merge;
}

// Returns the initial state of a subgraph; a JSON object is checked like an input.
template <typename Inner>
Result<std::shared_ptr<void>> inner_state(const StateType& type, Inner input) {
  if constexpr (std::is_same_v<Inner, Value>) {
    return state_from(type, input);
  } else {
    return std::shared_ptr<void>(std::make_shared<Inner>(std::move(input)));
  }
}

// Returns the input of a subgraph from its function: see GraphBuilder::subgraph().
template <typename State, typename Input>
auto subgraph_input(const Input& input, const void* state, const std::string* sent) {
  const State& outer = *static_cast<const State*>(state);
  if constexpr (std::is_invocable_v<const Input&, const State&, const Value&>) {
    return input(outer, sent ? parse_json(*sent).value_or(Value()) : Value());
  } else {
    return input(outer);
  }
}

// True for Update<State>, a Result of one, and their errors; and for a Task of either.
template <typename State, typename Returned>
inline constexpr bool is_node_result = std::is_convertible_v<Returned, Result<Update<State>>>;
template <typename State, typename Returned>
inline constexpr bool is_node_result<State, Task<Returned>> =
    std::is_convertible_v<Returned, Result<Update<State>>>;

template <typename State, typename Function>
consteval bool is_node_function() {
  if constexpr (std::is_invocable_v<Function&, const State&, Context&>) {
    return is_node_result<State, std::invoke_result_t<Function&, const State&, Context&>>;
  }
  return false;
}

// Converts the result of a node's function to the type-erased form.
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
