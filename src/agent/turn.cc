#include "agent/turn.h"

#include <algorithm>
#include <map>
#include <set>

#include "agent/conversation.h"
#include "agent/tool_name.h"
#include "base/in_quotes.h"
#include "base/trimmed.h"
#include "belay/models.h"
#include "graph/call_record.h"
#include "models/json_sanitizer.h"

namespace belay::agents {
namespace {

constexpr std::size_t quoted_characters = 60;

std::string shown_name(const std::string& name) {
  return in_quotes(models::quotable(models::sanitized_text(name), quoted_characters));
}

std::string unknown_tool(const std::string& name, const ToolRegistry& tools) {
  std::string known;
  for (const Tool& tool : tools.all()) known += (known.empty() ? "" : ", ") + tool.name();
  if (known.empty()) known = "none";
  return "Error: there is no tool " + shown_name(name) + ". The tools are: " + known + ".";
}

// Returns whether the last `equal_calls_max` calls with these arguments all had the same result.
bool repeats(const ToolCall& call, const AgentState& state) {
  int equal = 0;
  const std::string* text = nullptr;
  for (std::size_t i = state.turns.size(); i-- > question_begin(state);) {
    for (const AgentCall& each : state.turns[i].calls) {
      if (each.call.name != call.name || each.call.arguments != call.arguments) continue;
      auto found = state.results.find(each.call.id);
      if (found == state.results.end()) continue;
      if (text && *text != found->second.text) return false;
      text = &found->second.text;
      if (++equal >= equal_calls_max) return true;
    }
  }
  return false;
}

std::string fault_of(const ToolCall& call, bool is_cut, const AgentState& state,
                     const ToolRegistry& tools) {
  const Tool* tool = tools.find(call.name);
  if (!tool) return unknown_tool(call.name, tools);
  if (is_cut) {
    return "Error: the reply was cut off at its maximum length, and its calls were not executed. "
           "Make fewer or shorter calls.";
  }
  if (auto fault = arguments_fault(*tool, call.arguments)) {
    return "Error: the arguments do not fit the tool " + in_quotes(call.name) + ": " + *fault +
           ". The call was not executed; correct it.";
  }
  if (repeats(call, state)) {
    return "Error: this call was made " + std::to_string(equal_calls_max) +
           " times with the same result. It was not executed again: use that result, or do "
           "something else.";
  }
  return "";
}

// Returns a name that providers accept: one that they reject would make every later request of the
// conversation fail.
std::string sendable_name(std::string name) {
  if (name.size() > name_length_max) name.resize(name_length_max);
  return name.empty() ? "unnamed" : with_name_characters(std::move(name));
}

bool is_used(const std::string& id, const AgentState& state, const std::set<std::string>& ids) {
  if (!is_sendable(id) || ids.count(id) > 0) return true;
  for (const AgentTurn& turn : state.turns) {
    for (const AgentCall& each : turn.calls) {
      if (each.call.id == id) return true;
    }
  }
  return false;
}

}  // namespace

std::optional<std::string> arguments_fault(const Tool& tool, const Value& arguments) {
  if (!arguments.as_object()) return "they must be a JSON object";
  return schema_violation(tool.parameters(), arguments);
}

Limit limit_of(const AgentState& state, const AgentOptions& options) {
  if (state.steps + 1 >= options.steps_max) return Limit::steps;
  bool has_limit = options.tokens_max > 0;
  std::int64_t spent = state.usage.input_tokens + state.usage.output_tokens + state.agent_tokens;
  return has_limit && spent >= options.tokens_max ? Limit::tokens : Limit::none;
}

std::string_view note_of(Limit limit) {
  switch (limit) {
    case Limit::none:
      return "";
    case Limit::steps:
      return "No further calls of tools are possible: the limit of steps is reached. Answer now "
             "from the results so far, and name the missing information.";
    case Limit::tokens:
      return "No further calls of tools are possible: the limit of tokens is reached. Answer now "
             "from the results so far, and name the missing information.";
  }
  return "";
}

std::string_view outcome_of(Limit limit) {
  switch (limit) {
    case Limit::none:
      return "answered";
    case Limit::steps:
      return "steps_spent";
    case Limit::tokens:
      return "tokens_spent";
  }
  return "answered";
}

AgentTurn turn_of(const ModelReply& reply, const AgentState& state, const ToolRegistry& tools) {
  AgentTurn turn;
  // Some providers reject a text of blanks.
  if (!trimmed(reply.text).empty()) turn.text = reply.text;
  bool is_cut = reply.stop_reason == StopReason::length;
  std::set<std::string> ids;
  for (const ToolCall& requested : reply.tool_calls) {
    if (turn.calls.size() == turn_calls_max) break;
    AgentCall each{requested, ""};
    // Results are found by the id: a model that repeats one, or sends none, gets another.
    if (is_used(each.call.id, state, ids)) {
      each.call.id = "call_" + std::to_string(state.turns.size()) + "_" +
                     std::to_string(turn.calls.size() + 1);
      while (is_used(each.call.id, state, ids)) each.call.id += "x";
    }
    ids.insert(each.call.id);
    each.fault = fault_of(each.call, is_cut, state, tools);
    each.call.name = sendable_name(std::move(each.call.name));
    turn.calls.push_back(std::move(each));
  }
  return turn;
}

std::vector<std::string> next_calls(const AgentTurn& turn,
                                    const std::map<std::string, ToolResult>& results,
                                    const AgentOptions& options, const ToolRegistry& tools) {
  std::vector<std::string> next;
  std::map<std::string, int> started;
  for (const AgentCall& each : turn.calls) {
    if (!each.fault.empty() || results.count(each.call.id) > 0) continue;
    if (next.size() >= std::max<std::size_t>(options.calls_max, 1)) break;
    const Tool* tool = tools.find(each.call.name);
    int limit = tool ? tool->options().parallel : 0;
    if (limit > 0 && started[each.call.name] >= limit) continue;
    ++started[each.call.name];
    next.push_back(each.call.id);
  }
  return next;
}

std::string result_text(std::string_view text, std::size_t bytes_max) {
  // Cut first: to sanitize 100 MB of which 64 KB remain would take a second.
  bool is_cut = text.size() > bytes_max;
  std::string kept = models::sanitized_text(text.substr(0, bytes_max));
  if (!is_cut) return kept;
  return kept + "\n[The result was cut here: " + std::to_string(bytes_max) + " of " +
         std::to_string(text.size()) + " bytes are shown.]";
}

std::string prompt_of(const AgentOptions& options, std::string_view instructions) {
  std::string prompt = options.prompt;
  if (!prompt.empty() && !instructions.empty()) prompt += "\n\n";
  return prompt.append(instructions);
}

std::string head_of(const AgentOptions& options, const ToolRegistry& tools,
                    const std::string& prompt) {
  Value::Object head{{"prompt", prompt}, {"tools", document_of(tools.definitions())}};
  if (!options.model.empty()) head.emplace("model", options.model);
  if (options.max_output_tokens) head.emplace("maxOutputTokens", *options.max_output_tokens);
  if (options.temperature) head.emplace("temperature", *options.temperature);
  return to_json(Value(std::move(head)));
}

Value head_change(const std::string& before, const std::string& now) {
  auto differs = std::mismatch(before.begin(), before.end(), now.begin(), now.end());
  auto byte = static_cast<std::int64_t>(differs.first - before.begin());
  Value was = parse_json(before).value_or(Value());
  Value is = parse_json(now).value_or(Value());
  std::string_view cause = was["tools"] != is["tools"] ? "tools" : "settings";
  if (was["prompt"] != is["prompt"]) cause = "prompt";
  return Value::object({{"byte", byte}, {"cause", cause}});
}

}  // namespace belay::agents
