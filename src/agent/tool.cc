#include "belay/tool.h"

#include <algorithm>

#include "agent/tool_name.h"
#include "base/in_quotes.h"
#include "belay/ids.h"

namespace belay {
Tool::Tool(ToolOptions options, Value parameters, Function function)
    : options_(std::make_shared<const ToolOptions>(std::move(options))),
      parameters_(std::make_shared<const Value>(std::move(parameters))),
      function_(std::make_shared<const Function>(std::move(function))) {}

ToolDefinition Tool::definition() const {
  return ToolDefinition{options_->name, options_->description, *parameters_};
}

Tool& Tool::probe(Probe probe) {
  probe_ = std::move(probe);
  return *this;
}

std::string Tool::version() const {
  Value document = Value::object({{"approval", name_of(options_->approval)},
                                  {"description", options_->description},
                                  {"effect", name_of(options_->effect)},
                                  {"name", options_->name},
                                  {"parameters", *parameters_}});
  return to_hex(sha256(to_json(document)));
}

Result<Done> ToolRegistry::add(Tool tool) {
  if (!agents::is_sendable(tool.name())) {
    return error(ErrorCode::invalid, "A tool is named " + in_quotes(tool.name()) +
                                         ". Use 1 to 64 letters, digits, _ and -.");
  }
  if (has(tool.name())) {
    return error(ErrorCode::invalid,
                 "Two tools are named " + in_quotes(tool.name()) + ". Rename one of them.");
  }
  if (tool.parameters()["type"] != Value("object")) {
    return error(ErrorCode::invalid, "The schema of the tool " + in_quotes(tool.name()) +
                                         " is not one of an object. Write \"type\": \"object\".");
  }
  tools_.push_back(std::move(tool));
  return Done{};
}

const Tool* ToolRegistry::find(std::string_view name) const {
  auto found = std::find_if(tools_.begin(), tools_.end(),
                            [&](const Tool& tool) { return tool.name() == name; });
  return found == tools_.end() ? nullptr : &*found;
}

std::vector<ToolDefinition> ToolRegistry::definitions() const {
  std::vector<ToolDefinition> all;
  for (const Tool& tool : tools_) all.push_back(tool.definition());
  return all;
}

Result<std::vector<Tool>> ToolRegistry::filter_by_names(
    const std::vector<std::string>& names) const {
  if (names.empty()) return tools_;
  std::vector<Tool> selected;
  for (const std::string& name : names) {
    const Tool* tool = find(name);
    if (!tool) {
      std::string known;
      for (const Tool& each : tools_) known += (known.empty() ? "" : ", ") + each.name();
      return error(ErrorCode::invalid, "There is no tool " + in_quotes(name) + ". Known tools: " +
                                           (known.empty() ? "none" : known) + ".");
    }
    auto is_it = [&](const Tool& each) { return each.name() == name; };
    if (std::none_of(selected.begin(), selected.end(), is_it)) selected.push_back(*tool);
  }
  return selected;
}

std::string_view name_of(ToolEffect effect) {
  switch (effect) {
    case ToolEffect::reads:
      return "reads";
    case ToolEffect::keyed:
      return "keyed";
    case ToolEffect::unkeyed:
      return "unkeyed";
  }
  return "unkeyed";
}

std::string_view name_of(ToolApproval approval) {
  switch (approval) {
    case ToolApproval::never:
      return "never";
    case ToolApproval::untrusted:
      return "untrusted";
    case ToolApproval::always:
      return "always";
  }
  return "always";
}

}  // namespace belay
