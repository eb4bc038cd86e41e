#include "langgraph/state_change.h"

#include "engine/run_options.h"
#include "langgraph/errors.h"

namespace belay::langgraph {
namespace {

Error bad_change(std::string text) { return error(ErrorCode::invalid, std::move(text)); }

std::string node_name(const std::string& name) {
  if (name == "__start__" || name == "__input__") return std::string(start);
  if (name == "__end__") return std::string(end);
  return name;
}

Result<Value> values_in(const Value& values, std::string_view name) {
  if (values.is_null() || values.as_object()) return values;
  const Value::Array* pairs = values.as_array();
  if (!pairs) return bad_change("\"" + std::string(name) + "\" must be an object of channels.");
  Value::Object members;
  for (const Value& each : *pairs) {
    const Value::Array* pair = each.as_array();
    const std::string* channel = pair && pair->size() == 2 ? pair->front().as_string() : nullptr;
    if (!channel) {
      return bad_change("\"" + std::string(name) +
                        "\" must be an object of channels, or a list of pairs of a name and a "
                        "value.");
    }
    if (!members.emplace(*channel, pair->back()).second) {
      return bad_change("\"" + std::string(name) + "\" names the channel \"" + *channel +
                        "\" twice.");
    }
  }
  return Value(std::move(members));
}

Result<Done> add_target(const Value& target, std::vector<FirstNode>& nodes) {
  const std::string* name = target.as_string();
  bool is_send = !name && target.as_object();
  if (is_send) name = target["node"].as_string();
  if (!name || name->empty()) {
    return bad_change("\"command.goto\" must name nodes, or have the members node and input.");
  }
  // The end of the graph: no node.
  if (*name == "__end__") return Done{};
  FirstNode first;
  first.node = *name;
  if (const Value* input = is_send ? target.find("input") : nullptr) first.input = to_json(*input);
  nodes.push_back(std::move(first));
  return Done{};
}

Result<std::vector<std::string>> nodes_in(const Value& body, std::string_view name) {
  const Value& member = body[name];
  if (const std::string* one = member.as_string()) {
    if (*one == "*") return std::vector<std::string>{"*"};
    if (one->empty()) return std::vector<std::string>();
    return bad_change("\"" + std::string(name) + "\" must be \"*\" or a list of nodes.");
  }
  BELAY_TRY(auto named, texts_member(body, name));
  return named.value_or(std::vector<std::string>());
}

}  // namespace

Result<std::optional<StateChange>> change_in(const Value& command) {
  if (!command.as_object()) return std::optional<StateChange>();
  StateChange change;
  BELAY_TRY(change.values, values_in(command["update"], "command.update"));
  const Value& target = command["goto"];
  if (const Value::Array* targets = target.as_array()) {
    for (const Value& each : *targets) BELAY_CHECK(add_target(each, change.go_to));
  } else if (!target.is_null() && target != Value("")) {
    BELAY_CHECK(add_target(target, change.go_to));
  }
  bool has_values = change.values.as_object() && !change.values.as_object()->empty();
  if (!has_values && change.go_to.empty()) return std::optional<StateChange>();
  return std::optional(std::move(change));
}

Result<StateChange> update_in(const Value& body) {
  StateChange change;
  BELAY_TRY(change.values, values_in(body["values"], "values"));
  BELAY_TRY(auto node, text_member(body, "as_node"));
  if (node) change.as_node = node_name(*node);
  return change;
}

Result<Breakpoints> breakpoints_in(const Value& body) {
  Breakpoints breakpoints;
  BELAY_TRY(breakpoints.before, nodes_in(body, "interrupt_before"));
  BELAY_TRY(breakpoints.after, nodes_in(body, "interrupt_after"));
  return breakpoints;
}

StateEdit edit_of(const StateChange& change) {
  StateEdit edit;
  edit.as_node = change.as_node;
  edit.go_to = change.go_to;
  return edit;
}

std::optional<RunCommit> origin_of(const RunRow& run) {
  auto options = engine::options_from(run.options);
  if (!options.ok() || !options->beginning) return std::nullopt;
  return options->beginning->from;
}

std::string_view source_of_first(const RunRow& run) {
  auto options = engine::options_from(run.options);
  if (!options.ok() || !options->beginning) return "input";
  const RunBeginning& beginning = *options->beginning;
  if (!beginning.from || beginning.held) return "update";
  return beginning.as_node == start ? "input" : "fork";
}

}  // namespace belay::langgraph
