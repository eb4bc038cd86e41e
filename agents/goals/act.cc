// The node `act`: one call of a tool; and the tool read_result.

#include "agents/goals/characters.h"
#include "agents/goals/planner_nodes.h"

namespace belay::goals {

// Not in the unnamed namespace, because the codec reads the names of its members.
struct ResultPart {
  std::string result{};
  std::int64_t offset = 0;
  std::int64_t length = 3'500;
  static void describe(Described<ResultPart>& arguments) {
    arguments.member(&ResultPart::result)
        .text("The id of a result in the working memory")
        .length(1, limits::identifier_bytes_max);
    arguments.member(&ResultPart::offset)
        .text("The first character to read, from 0")
        .between(std::int64_t{0}, std::int64_t{1'000'000})
        .optional();
    arguments.member(&ResultPart::length)
        .text("The number of characters to read")
        .between(std::int64_t{1}, std::int64_t{3'500})
        .optional();
  }
};

namespace {

// A result is stored as a record, whose JSON text can be six times as long.
constexpr std::size_t kResultBytesMax = 128 * 1024;

Task<Result<std::string>> read_part(const ResultPart& part, ToolContext& call) {
  ResultPart wanted = part;
  auto found = co_await call.node().records().get<GoalResult>(wanted.result);
  if (!found.ok()) co_return std::move(found).error();
  if (!*found) {
    co_return error(ErrorCode::not_found, "There is no result \"" + wanted.result + "\".");
  }
  const GoalResult& result = **found;
  std::string text = characters_of(result.text, wanted.offset, wanted.length);
  std::int64_t end = wanted.offset + count_characters(text);
  co_return text + "\n[Characters " + std::to_string(wanted.offset) + " to " + std::to_string(end) +
      " of " + std::to_string(result.characters) + ".]";
}

const PlannedCall* planned_at(const GoalRun& state, const std::string& position) {
  for (std::size_t i = 0; i < state.calls.size(); ++i) {
    if (std::to_string(i) == position) return &state.calls[i];
  }
  return nullptr;
}

// Returns why the call is not made; empty: it is. The records of a user have the results of all of
// its goals: a planner reads those of its memory.
std::string fault_in(const GoalRun& state, const ToolCall& call) {
  if (call.name != kReadResult) return "";
  const std::string* id = call.arguments["result"].as_string();
  if (!id || has_reference(state.memory, *id) || has_reference(state.last.entries, *id)) return "";
  return "Error: the working memory has no result \"" + *id + "\".";
}

EndedCall ended_call(const GoalRun& state, const std::string& position, ToolResult result,
                     Context& context) {
  EndedCall ended;
  ended.isError = result.is_error;
  ended.untrusted = result.untrusted;
  ended.startedAt = context.now();
  ended.characters = count_characters(result.text);
  ended.text = std::move(result.text);
  std::size_t index = 0;
  while (std::to_string(index) != position) ++index;
  store_if_large(state, index, ended, context);
  return ended;
}

}  // namespace

void store_if_large(const GoalRun& state, std::size_t index, EndedCall& ended, Context& context) {
  if (ended.characters <= kLargeResult || !ended.result.empty()) return;
  if (ended.isError) {
    ended.text = first_characters(ended.text, kLargeResult);
    return;
  }
  std::string run = context.run().text();
  ended.result = run + "-" + memory_key(state.step, state.calls[index].call.name, index);
  std::string begin = first_characters(ended.text, kBeginCharacters);
  context.save(GoalResult{ended.result, state.goal.id, run, std::move(ended.text), ended.characters,
                          context.now()});
  ended.text = std::move(begin);
}

Tool read_result_tool() {
  ToolOptions options;
  options.name = kReadResult;
  options.description =
      "Reads a part of a large result: the working memory has its id as \"result\", and the "
      "number of its characters.";
  options.effect = ToolEffect::reads;
  options.approval = ToolApproval::never;
  return make_tool<ResultPart>(std::move(options), read_part);
}

Task<Result<Update<GoalRun>>> call_planned(SharedPlanner planner, const GoalRun& state,
                                           Context& context) {
  auto position = context.input<std::string>();
  const PlannedCall* planned = planned_at(state, position);
  if (!planned) {
    co_return error(ErrorCode::invalid,
                    "The step has no call " + position + ". The state was changed.");
  }
  ToolCall call = planned->call;
  ToolResult result;
  result.text = fault_in(state, call);
  result.is_error = !result.text.empty();
  if (!result.is_error) {
    ToolCallOptions options;
    options.is_untrusted = state.untrusted;
    options.version = to_hex(sha256(state.goal.objective));
    options.result_bytes_max = kResultBytesMax;
    auto made = co_await call_tool(planner->tools, std::move(call), std::move(options), context);
    if (!made.ok()) co_return std::move(made).error();
    result = *std::move(made);
  }
  EndedCall ended = ended_call(state, position, std::move(result), context);
  co_return merge(&GoalRun::results, std::move(position), std::move(ended));
}

}  // namespace belay::goals
