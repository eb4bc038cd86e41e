#pragma once
// belay/json_graph.h - a graph whose state is a JSON object, its channels declared at run time.
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
// Everything else is as graph.h says: the same nodes, edges, branches, commits and versions, the
// same command line (belay::main). A node is a function (const Value& state, Context&) that returns
// a JsonUpdate, a Task of one, or a Result of either; `state` is an object that has every declared
// channel. What a plain struct's compiler would find is found by the run: a node that names a
// channel that is not declared, or gives it a value of another kind, fails with `invalid`, and the
// error names the node, the channel, what was expected and what was found.
//
// A graph that is known as a typed one keeps its rows when it is declared as a JSON one with the
// same channels, and the other way round.

#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "belay/graph.h"

namespace belay {

// The words are those of JSON Schema. `integer`: from -2^63 to 2^64-1, and 7.0 counts as 7.
enum class JsonKind { any, string, number, integer, boolean, array, object };

// What put() does to a channel: it replaces the value, appends the items of an array, merges the
// members of an object, adds a number.
enum class JsonReducer { last_value, append, merge, add };

struct JsonChannel {
  JsonKind kind = JsonKind::any;
  JsonReducer reducer = JsonReducer::last_value;
  // A reducer of your own, in place of the one above. Pure. Its operand may be of any kind, what it
  // gives is of the channel's. What comes of it is stored, so that reading a state needs no code.
  std::function<Value(Value so_far, const Value& operand)> reduce = nullptr;
  bool required = false;  // an input must have it
  bool nullable = false;  // null is one of its values
  // Before anything is written. Unset: null where it may be, else "", 0, false, [] or {}.
  std::optional<Value> default_value = std::nullopt;
  bool transient = false;  // never stored: see GraphBuilder::transient()
};

std::string_view name_of(JsonKind kind);
std::string_view name_of(JsonReducer reducer);

// What a node of a JSON graph changed, and where it goes. Several changes of one channel count in
// their order.
template <>
class [[nodiscard]] Update<Value> {
 public:
  Update() = default;
  // put() for each of the members.
  explicit Update(const Value::Object& members);

  // As the channel's own reducer says.
  Update put(std::string_view channel, Value value) &&;
  // The channel's new value, whatever its reducer.
  Update set(std::string_view channel, Value value) &&;
  // One more item at the end of an array.
  Update append(std::string_view channel, Value item) &&;
  // A member of an object, replacing the one of that name.
  Update merge(std::string_view channel, std::string name, Value value) &&;
  // A number added to a number. A sum of integers that does not fit is an error, never rounded.
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

// From which channel to which.
using ChannelPairs = std::vector<std::pair<std::string, std::string>>;

// Declares a JSON graph; channels and what names them may come in any order. build() reports all
// faults at once.
class JsonGraphBuilder : public GraphBuilder<Value> {
 public:
  using GraphBuilder::GraphBuilder;

  // At most limits::json_channels_max.
  JsonGraphBuilder& channel(std::string_view name, JsonChannel declared = {});

  // A node that asks a person: shows the channel, waits, and lets the person edit it. The channels
  // of its awaiting() and answer() are boolean.
  ApprovalSetting approval(std::string_view name, std::string_view channel,
                           ApprovalOptions options);

  // Another graph, a typed one or a JSON one, as one node: `input` is from this graph's channels to
  // the inner one's, `output` back again, by put(). The form with functions that graph.h has goes
  // too: they take and make a Value where the graph is a JSON one.
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
