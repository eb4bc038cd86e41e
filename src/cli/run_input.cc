#include "cli/run_input.h"

#include "belay/command.h"
#include "belay/limits.h"
#include "cli/output.h"
#include "cli/suggestions.h"

namespace belay::cli {
namespace {

Error unknown(const GraphDefinition& graph, std::string_view name) {
  std::vector<std::string> names;
  for (const ChannelType& channel : graph.state->channels) names.emplace_back(channel.name);
  return error(ErrorCode::invalid, "Input of agent \"" + graph.name + "\" has no member \"" +
                                       shortened(name, 60, "...") + "\"." +
                                       did_you_mean(name, names));
}

const ChannelType* find_channel(const GraphDefinition& graph, std::string_view name) {
  for (const ChannelType& channel : graph.state->channels) {
    if (channel.name == name) return &channel;
  }
  return nullptr;
}

Result<Value> value_of(const GraphDefinition& graph, const ChannelType& channel,
                       const std::string& text, std::string_view option) {
  std::shared_ptr<void> scratch = graph.state->make();
  Decoder as_text;
  Value value(text);
  // If the channel accepts any type, text that is valid JSON is used as JSON.
  bool takes_anything = channel.type_name == "any";
  if (auto json = parse_json(text); takes_anything && json.ok()) return json;
  if (channel.decode(value, scratch.get(), as_text, nullptr)) return value;
  auto json = parse_json(text);
  if (json.ok()) return json;
  as_text.path.clear();
  return error(ErrorCode::invalid, std::string(option) + " " + std::string(channel.name) + ": " +
                                       as_text.problem + " Write it as JSON, such as " +
                                       std::string(channel.name) + "='...'.");
}

Result<Value::Object> members_of(const GraphDefinition& graph, const std::string& piece,
                                 std::string_view option) {
  if (piece == "-" || piece.starts_with('@')) {
    std::string file = piece == "-" ? piece : piece.substr(1);
    BELAY_TRY(std::string text, read_input(file, limits::record_bytes_max));
    auto json = parse_json(text);
    if (!json.ok()) {
      return error(ErrorCode::invalid,
                   "The input in " + file + " is invalid: " + json.error().message);
    }
    if (Value::Object* members = json->as_object()) return std::move(*members);
    return error(ErrorCode::invalid, "The input in " + file + " is of kind " +
                                         std::string(json->kind()) + ". Provide one JSON object.");
  }
  std::size_t equals = piece.find('=');
  if (equals == piece.npos || equals == 0) {
    return error(ErrorCode::invalid,
                 std::string(option) + " is invalid: \"" + shortened(piece, 60, "...") +
                     "\". Write name=value, @file.json, or - for standard input.");
  }
  std::string name = piece.substr(0, equals);
  const ChannelType* channel = find_channel(graph, name);
  if (!channel) return unknown(graph, name);
  BELAY_TRY(Value value, value_of(graph, *channel, piece.substr(equals + 1), option));
  return Value::Object{{std::move(name), std::move(value)}};
}

}  // namespace

Result<Value> read_run_input(const GraphDefinition& graph, const std::vector<std::string>& pieces,
                             std::string_view option) {
  Value::Object all;
  for (const std::string& piece : pieces) {
    BELAY_TRY(Value::Object members, members_of(graph, piece, option));
    for (auto& [name, member] : members) {
      if (!find_channel(graph, name)) return unknown(graph, name);
      all.insert_or_assign(name, std::move(member));
    }
  }
  Value input(std::move(all));
  BELAY_CHECK(state_from(*graph.state, input));
  return input;
}

}  // namespace belay::cli
