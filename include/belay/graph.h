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
//
// A branch chooses among its targets by a pure function of the state: it returns a bool or an index
// into the targets ({if_false, if_true}), or the target's name. Once chosen, the way is committed
// and never chosen again. An exception in it is a typed failure of the run.
//
// build() reports all faults at once, each naming the node and what to write instead.

#include <chrono>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <type_traits>
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

using NodeResult = Result<std::vector<Change>>;

// A graph as the engine sees it: no template, immutable, shared by all its runs.
struct GraphDefinition {
  using Choose = std::function<std::variant<std::size_t, std::string>(const void* state)>;

  struct Approval {
    ApprovalOptions options;
    std::size_t channel = 0;                           // shown, hashed and open to editing
    std::function<bool(const void*)> when;             // null: always ask
    std::function<std::string(const void*)> question;  // null: options.question
    std::optional<std::size_t> awaiting;  // bool channel: true while a decision is awaited
    std::optional<std::size_t> answer;    // bool channel: the decision
    std::function<void(void*, bool)> set_awaiting;
    std::function<void(void*, bool)> set_answer;
    std::string approved, rejected;  // where to go
  };

  struct Node {
    std::string name;
    std::function<NodeResult(const void*, Context&)> run_plain;       // one of these two, or
    std::function<Task<NodeResult>(const void*, Context&)> run_task;  // an approval
    std::optional<Approval> approval;
    RetryPolicy retry;
    std::optional<std::chrono::milliseconds> timeout;
    std::vector<std::string> targets;  // one for an edge, all that a branch may choose; names
    Choose choose;                     // null for an edge
  };

  std::string name;
  const StateType* state = nullptr;
  std::vector<Node> nodes;
  std::string entry;
  Digest hash{};  // of all that is declared: names, channels, edges, policies

  const Node* find(std::string_view node) const;
};

// The graph as a picture. The same declaration gives the same text, byte for byte: nodes in their
// order of declaration, each with its ways on, all targets of a branch (dashed) included; what a
// node may do (attempts, time to run, how long it asks) stands in its label.
std::string to_mermaid(const GraphDefinition& graph);  // a Mermaid flowchart
std::string to_dot(const GraphDefinition& graph);      // Graphviz
std::string to_outline(const GraphDefinition& graph);  // a line a node, for a terminal

// An edge or a branch as declared.
struct GraphWay {
  std::string from;
  std::vector<std::string> targets;
  GraphDefinition::Choose choose;  // null for an edge
};

// Connects the nodes, checks the whole graph and computes its hash.
Result<std::shared_ptr<const GraphDefinition>> finish_graph(GraphDefinition definition,
                                                            std::vector<GraphWay> ways);

// A graph that has been checked. Cheap to copy; runs share it.
template <reflect::PlainStruct State>
class Graph {
 public:
  explicit Graph(std::shared_ptr<const GraphDefinition> definition)
      : definition_(std::move(definition)) {}
  const std::string& name() const { return definition_->name; }
  const std::shared_ptr<const GraphDefinition>& definition() const { return definition_; }

 private:
  std::shared_ptr<const GraphDefinition> definition_;
};

template <reflect::PlainStruct State>
class GraphBuilder {
 public:
  explicit GraphBuilder(std::string name) {
    definition_.name = std::move(name);
    definition_.state = &state_type<State>();
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
    ApprovalSetting& asking(std::function<std::string(const State&)> question) {
      approval().question = [question](const void* state) {
        return question(*static_cast<const State*>(state));
      };
      return *this;
    }
    // A member that is true exactly while the decision is awaited.
    ApprovalSetting& awaiting(bool State::* member) {
      approval().awaiting = reflect::index_of(member);
      approval().set_awaiting = setter(member);
      return *this;
    }
    // A member that takes the decision: true for approved, false for rejected or expired.
    ApprovalSetting& answer(bool State::* member) {
      approval().answer = reflect::index_of(member);
      approval().set_answer = setter(member);
      return *this;
    }

   private:
    static std::function<void(void*, bool)> setter(bool State::* member) {
      return [member](void* state, bool value) { static_cast<State*>(state)->*member = value; };
    }
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
        return changes_of(function(*static_cast<const State*>(state), context));
      };
    } else {
      added.run_plain = [function](const void* state, Context& context) {
        return changes_of(function(*static_cast<const State*>(state), context));
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

  GraphBuilder& edge(std::string_view from, std::string_view to) {
    return connect(from, {to}, nullptr);
  }

  // `choose` takes const State& and returns a bool, an index or a name: see the top.
  template <typename Choose>
  GraphBuilder& branch(std::string_view from, Choose choose,
                       std::vector<std::string_view> targets) {
    return connect(from, std::move(targets), [choose](const void* state) {
      auto chosen = choose(*static_cast<const State*>(state));
      if constexpr (std::is_convertible_v<decltype(chosen), std::string_view>) {
        return std::variant<std::size_t, std::string>(std::string(std::string_view(chosen)));
      } else {
        return std::variant<std::size_t, std::string>(static_cast<std::size_t>(chosen));
      }
    });
  }

  Result<Graph<State>> build() && {
    auto built = finish_graph(std::move(definition_), std::move(ways_));
    if (!built.ok()) return std::move(built).error();
    return Graph<State>(*std::move(built));
  }

 private:
  static NodeResult changes_of(Update<State> update) { return std::move(update).take_changes(); }
  static NodeResult changes_of(Result<Update<State>> update) {
    if (!update.ok()) return std::move(update).error();
    return std::move(*update).take_changes();
  }
  template <typename Returned>
  static Task<NodeResult> changes_of(Task<Returned> task) {
    Returned returned = co_await task;
    co_return changes_of(std::move(returned));
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
  std::vector<GraphWay> ways_;
};

}  // namespace belay
