// Limits the options of a run to those that its graph allows, and stores them as JSON.

#include "engine/run_options.h"

#include <algorithm>

namespace belay::engine {

RunOptions options_for(const GraphDefinition& graph, RunOptions options) {
  bool has_inner = std::any_of(graph.nodes.begin(), graph.nodes.end(),
                               [](const auto& node) { return node.subgraph.has_value(); });
  if (has_inner && options.durability == Durability::exit) options.durability = Durability::sync;
  return options;
}

Result<Done> check_breakpoints(const GraphDefinition& graph, const Breakpoints& breakpoints) {
  for (const auto* nodes : {&breakpoints.before, &breakpoints.after}) {
    if (nodes->size() > static_cast<std::size_t>(limits::breakpoints_max)) {
      return error(ErrorCode::invalid, "At most " + std::to_string(limits::breakpoints_max) +
                                           " breakpoints are allowed.");
    }
    for (const std::string& name : *nodes) {
      if (name == "*" || graph.find(name)) continue;
      return error(ErrorCode::invalid, "The graph \"" + graph.name + "\" has no node \"" + name +
                                           "\" for a breakpoint.");
    }
  }
  return Done{};
}

std::string options_text(const RunOptions& options) {
  // Options with default values are omitted: most runs have only such options.
  auto text = encode_json(options);
  auto by_default = encode_json(RunOptions{});
  BELAY_ASSERT(text.ok() && by_default.ok());
  Value all = parse_json(*text).value();
  Value defaults = parse_json(*by_default).value();
  std::erase_if(*all.as_object(),
                [&](const auto& member) { return defaults[member.first] == member.second; });
  return to_json(all);
}

Result<RunOptions> options_from(std::string_view text) {
  BELAY_TRY(Value value, parse_json(text));
  BELAY_TRY(RunOptions options, decode_json<RunOptions>(value));
  if (options.configuration.empty()) return options;
  BELAY_TRY(Value configuration, parse_json(options.configuration));
  if (configuration.as_object()) return options;
  return error(ErrorCode::invalid, "The configuration of the run is not an object.");
}

}  // namespace belay::engine
