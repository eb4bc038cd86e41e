#pragma once
// belay/json_graph.h - graphs whose state is a JSON object, with channels declared at run time.
//
//     JsonGraphBuilder graph{"mail"};
//     graph.channel("topic", {.kind = JsonKind::string, .required = true});
//     graph.channel("draft", {.kind = JsonKind::string});
//     graph.channel("log", {.kind = JsonKind::array, .reducer = JsonReducer::append});
//     graph.node("write", [](const Value& state, Context&) {
//       return set("draft", "About " + *state["topic"].as_string()).append("log", "written");
//     });
//     graph.approval("review", "draft", {.question = "Send this mail?"})
//         .approved("send")
//         .rejected(end);
//     ...
//     Result<JsonGraph> built = std::move(graph).build();
//
// Otherwise it works as a graph of graph.h: the same nodes, edges, branches, commits and versions,
// the same command line (belay::main). A node is a function (const Value& state, Context&) that
// returns a JsonUpdate, a Result of one, or a Task of either; `state` is an object with all
// declared channels. Faults that the compiler finds with a plain struct are found at run time: a
// node that names an undeclared channel, or sets a value of another kind, fails with `invalid`; the
// error names the node, the channel, the expected kind and the value found.
//
// A typed graph can be replaced by a JSON graph with the same channels, and vice versa: the stored
// rows have the same form.

#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "belay/graph.h"

namespace belay {

// The names are those of JSON Schema. `integer`: from -2^63 to 2^64-1; 7.0 is accepted as 7.
enum class JsonKind { any, string, number, integer, boolean, array, object };

// How put() changes a channel: replaces the value, appends the items of an array, merges the
// members of an object, or adds a number.
enum class JsonReducer { last_value, append, merge, add };

struct JsonChannel {
  JsonKind kind = JsonKind::any;
  JsonReducer reducer = JsonReducer::last_value;
  // A custom reducer, used instead of the one above. Must be pure. Its operand can have any kind,
  // its result must have the channel's kind. The result is stored, therefore a state can be read
  // without this function.
  std::function<Value(Value so_far, const Value& operand)> reduce = nullptr;
  bool required = false;  // an input must contain it
  bool nullable = false;  // null is a valid value
  // The value before the first write. Unset: null if nullable, else "", 0, false, [] or {}.
  std::optional<Value> default_value = std::nullopt;
  bool transient = false;  // never stored: see GraphBuilder::transient()
};

std::string_view name_of(JsonKind kind);
std::string_view name_of(JsonReducer reducer);

// The update of a node of a JSON graph. Several writes of one channel are applied in their order.
template <>
class [[nodiscard]] Update<Value> {
 public:
  Update() = default;
  // Calls put() for each member.
  explicit Update(const Value::Object& members);

  // Combines the value with the channel by the channel's own reducer.
  Update put(std::string_view channel, Value value) &&;
  // Replaces the channel's value, regardless of its reducer.
  Update set(std::string_view channel, Value value) &&;
  // Appends an item to an array.
  Update append(std::string_view channel, Value item) &&;
  // Sets a member of an object.
  Update merge(std::string_view channel, std::string name, Value value) &&;
  // Adds a number. A sum of integers that does not fit is an error and is never rounded.
  Update add(std::string_view channel, Value amount) &&;

  // See Update of state.h.
  Update go_to(std::string_view node) &&;
  Update send(std::string_view node, const Value& input) &&;

  // For the engine.
  NodeUpdate take_update() && { return std::move(answer_); }

 private:
  void change(std::string_view channel, std::optional<WriteOp> kind, Value value);

  NodeUpdate answer_;
};

using JsonUpdate = Update<Value>;
using JsonGraph = Graph<Value>;

JsonUpdate put(std::string_view channel, Value value);
JsonUpdate set(std::string_view channel, Value value);
JsonUpdate append(std::string_view channel, Value item);
JsonUpdate merge(std::string_view channel, std::string name, Value value);
JsonUpdate add(std::string_view channel, Value amount);

// Pairs of a source channel and a target channel.
using ChannelPairs = std::vector<std::pair<std::string, std::string>>;

// Declares a JSON graph. Channels can be declared after the nodes that name them. build() reports
// all faults together.
class JsonGraphBuilder : public GraphBuilder<Value> {
 public:
  using GraphBuilder::GraphBuilder;

  // At most limits::json_channels_max.
  JsonGraphBuilder& channel(std::string_view name, JsonChannel declared = {});

  // A node that requests an approval: shows the channel, pauses the run, and permits an edit of it.
  // The channels of its pending_flag() and decision_flag() must be boolean.
  ApprovalSetting approval(std::string_view name, std::string_view channel,
                           ApprovalOptions options);

  // Uses another graph, typed or JSON, as one node: `input` maps channels of this graph to channels
  // of the subgraph, `output` maps them back, with put(). The form with functions (graph.h) is also
  // available; for a JSON graph, the functions take and return a Value.
  using GraphBuilder::subgraph;
  template <typename Inner>
  NodeSetting subgraph(std::string_view name, const Graph<Inner>& graph, ChannelPairs input,
                       ChannelPairs output) {
    return subgraph_of(name, graph.definition(), std::move(input), std::move(output));
  }

  Result<JsonGraph> build() &&;

 private:
  struct Mapping {
    std::size_t node = 0;
    ChannelPairs input, output;
  };

  NodeSetting subgraph_of(std::string_view name, std::shared_ptr<const GraphDefinition> graph,
                          ChannelPairs input, ChannelPairs output);

  std::vector<std::pair<std::string, JsonChannel>> channels_;
  std::vector<Mapping> mappings_;
};

}  // namespace belay
