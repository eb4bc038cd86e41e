// The node `summarize`: the run completes whether the model replies or not.

#include <algorithm>

#include "agents/goals/characters.h"
#include "agents/goals/planner_nodes.h"
#include "agents/goals/prompts.h"

namespace belay::goals {
namespace {

constexpr std::int64_t kSummaryMax = 20'000;  // characters

ModelRequest summary_request(const GoalRun& state) {
  const GoalParams& params = state.goal.params;
  ModelRequest request = request_to(state, kSummaryPurpose);
  std::string memory = memory_json(state.memory, state.omitted, state.last);
  request.messages.push_back(
      {Role::user, summary_prompt(state.goal.objective, state.history, state.messages, memory)});
  request.tool_choice = ToolChoice::none;
  if (params.temperature) request.temperature = *params.temperature * kSummaryTemperature;
  if (params.maxTokens) {
    request.max_output_tokens = std::max<std::int64_t>(*params.maxTokens / 2, 1);
  }
  return request;
}

std::string without_summary(const Error& error) {
  return "The summary could not be generated: " + storable_text(error.message);
}

Update<GoalRun> update_with_summary(std::string summary) {
  MemoryEntry entry{std::string(kSummaryKey), first_characters(summary, kLargeResult), "", 0};
  return set(&GoalRun::summary, std::move(summary)).append(&GoalRun::memory, std::move(entry));
}

Update<GoalRun> update_with_reply(const ModelReply& reply, const Context& context) {
  std::string summary = first_characters(storable_text(reply.text), kSummaryMax);
  if (reply.stop_reason == StopReason::refused) {
    summary = without_summary(
        error(ErrorCode::invalid, "the model " + reply.model + " refused the request."));
  } else if (summary.empty()) {
    summary = without_summary(error(ErrorCode::invalid, "the model returned no text."));
  }
  Usage usage = reply.usage.value_or(Usage());
  return update_with_summary(std::move(summary))
      .set(&GoalRun::summaryId, streamed_message_id(context))
      .add(&GoalRun::tokens, usage.input_tokens + usage.output_tokens)
      .set(&GoalRun::provider, storable_text(reply.provider))
      .set(&GoalRun::model, storable_text(reply.model))
      .set(&GoalRun::notice, storable_text(reply.notice));
}

}  // namespace

Task<Result<Update<GoalRun>>> summarize(SharedPlanner, const GoalRun& state, Context& context) {
  int attempts = context.options().max_retries.value_or(kModelAttempts + 1);
  // Only after an attempt that was stopped at its timeout: other errors end below.
  bool is_last = attempts > 1 && context.attempt() >= attempts && context.previous_error();
  if (is_last) {
    co_return update_with_summary(without_summary(*context.previous_error()));
  }
  auto round = co_await next_round(state, context);
  if (!round.ok()) co_return std::move(round).error();
  if (*round) co_return **std::move(round);
  ModelRequest request = summary_request(state);
  request.on_text_delta = [&context](std::string_view piece) {
    context.stream(storable_text(piece));
  };
  auto reply = co_await context.model().generate(std::move(request));
  if (reply.ok()) co_return update_with_reply(*reply, context);
  bool is_retried =
      reply.error().code == ErrorCode::unavailable && context.attempt() + 1 < attempts;
  if (is_retried || reply.error().code == ErrorCode::cancelled) {
    co_return std::move(reply).error();
  }
  co_return update_with_summary(without_summary(reply.error()));
}

}  // namespace belay::goals
