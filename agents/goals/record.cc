// The nodes `record` and `extend`: the step as a record, the working memory, and the next node.

#include <chrono>

#include "agents/goals/characters.h"
#include "agents/goals/planner_nodes.h"
#include "agents/goals/prompts.h"

namespace belay::goals {
namespace {

constexpr std::size_t kInputBytesMax = 4'000;  // of the arguments of a call in a GoalStep

std::int64_t milliseconds_between(Instant from, Instant until) {
  return std::chrono::duration_cast<std::chrono::milliseconds>(until - from).count();
}

// Returns the arguments of a call, or the beginning of long ones: a step is one record.
Value recorded_input(const Value& arguments) {
  std::string json = to_json(arguments);
  if (json.size() <= kInputBytesMax) return arguments;
  return Value::object({{"begin", first_characters(json, kBeginCharacters)},
                        {"characters", count_characters(json)}});
}

std::string observation_of(const EndedCall& ended) {
  if (ended.result.empty()) return ended.text;
  return ended.text + "... [The result has " + std::to_string(ended.characters) +
         " characters: read_result \"" + ended.result + "\"]";
}

// The end of a call; that of a call with a fault is the fault. The call of an agent begins with its
// step, and its answer is not stored yet.
EndedCall end_of(const GoalRun& state, std::size_t index, Context& context) {
  EndedCall ended;
  auto found = state.results.find(std::to_string(index));
  if (found != state.results.end()) {
    ended = found->second;
    if (ended.startedAt == Instant{}) ended.startedAt = state.startedAt;
    store_if_large(state, index, ended, context);
    return ended;
  }
  ended.text = state.calls[index].fault;
  ended.isError = true;
  ended.startedAt = context.now();
  return ended;
}

void add_observation(std::string& text, const std::string& line) {
  if (!text.empty()) text += "\n";
  text += line;
}

// The parts of a step that are known once its calls have ended.
struct EndedStep {
  GoalStep step;
  ShownStep shown;
  std::vector<MemoryEntry> entries;
  bool untrusted = false;
};

EndedStep ended_step(const GoalRun& state, Context& context) {
  EndedStep ended;
  GoalStep& step = ended.step;
  step.goal = state.goal.id;
  step.run = context.run().text();
  step.number = state.step;
  step.thought = state.thought;
  ended.shown.number = state.step;
  ended.shown.thought = state.thought;
  ended.shown.messageId = state.messageId;
  step.createdAt = state.startedAt;
  step.durationMs = milliseconds_between(state.startedAt, context.now());
  for (std::size_t i = 0; i < state.calls.size(); ++i) {
    const ToolCall& call = state.calls[i].call;
    EndedCall end = end_of(state, i, context);
    std::string line = "[" + call.name + "] " + observation_of(end);
    add_observation(step.observation, line);
    if (end.isError) {
      add_observation(step.error, line);
    } else {
      ended.entries.push_back(
          {memory_key(state.step, call.name, i), end.text, end.result, end.characters});
    }
    std::string& tools = ended.shown.tools;
    tools += (tools.empty() ? "" : ", ") + call.name;
    ended.untrusted = ended.untrusted || end.untrusted;
    StepCall row{call.name,  recorded_input(call.arguments),
                 "",         "",
                 end.result, milliseconds_between(end.startedAt, context.now())};
    (end.isError ? row.error : row.observation) = end.text;
    ended.shown.calls.push_back(
        {call.name, row.input, first_characters(end.text, kStepObservation), end.isError});
    step.calls.push_back(std::move(row));
  }
  if (!state.fault.empty()) {
    add_observation(step.observation, state.fault);
    add_observation(step.error, state.fault);
  }
  return ended;
}

// Adds the entries to the memory. An unchanged beginning of the list is not stored again.
Update<GoalRun> remember(const GoalRun& state, std::vector<MemoryEntry> entries,
                         Update<GoalRun> update, Context& context) {
  std::vector<MemoryEntry> all = state.memory;
  all.insert(all.end(), entries.begin(), entries.end());
  std::string prefix = context.run().text() + "-";
  FittedMemory fitted = fit_memory(std::move(all), state.omitted, bytes_beside(state.last), prefix);
  bool is_longer = fitted.entries.size() == state.memory.size() + entries.size();
  bool is_same = is_longer && fitted.moved.empty();
  for (std::size_t i = 0; is_same && i < state.memory.size(); ++i) {
    is_same = fitted.entries[i].text == state.memory[i].text;
  }
  for (MovedResult& moved : fitted.moved) {
    std::int64_t characters = count_characters(moved.text);
    context.save(GoalResult{std::move(moved.id), state.goal.id, context.run().text(),
                            std::move(moved.text), characters, context.now()});
  }
  if (is_same) return std::move(update).append(&GoalRun::memory, std::move(entries));
  return std::move(update)
      .set(&GoalRun::memory, std::move(fitted.entries))
      .set(&GoalRun::omitted, fitted.omitted);
}

Update<GoalRun> with_next(const GoalRun& state, Update<GoalRun> update) {
  if (ends_with(state.calls, state.goal.params.stepBudget - state.step)) {
    std::string outcome = state.calls.empty() ? "finished" : "steps_spent";
    return std::move(update).set(&GoalRun::outcome, std::move(outcome)).go_to("summarize");
  }
  // The budget of a run that `goals trigger` started is also that of the run itself.
  std::optional<std::int64_t> budget = state.goal.params.tokenBudget;
  if (budget && state.tokens >= *budget) {
    return std::move(update).set(&GoalRun::outcome, "tokens_spent").go_to("summarize");
  }
  if (state.tokenLimit <= 0 || state.tokens < state.tokenLimit) return update;
  TokenQuestion question{state.goal.objective, state.tokens, state.tokenLimit,
                         state.goal.params.tokenLimit.value_or(state.tokenLimit)};
  // If a person rejects the question, or it expires, this is the outcome.
  return std::move(update)
      .set(&GoalRun::outcome, "tokens_spent")
      .set(&GoalRun::question, std::move(question))
      .go_to("confirm");
}

}  // namespace

Update<GoalRun> record_step(const GoalRun& state, Context& context) {
  EndedStep ended = ended_step(state, context);
  ended.shown.observation = first_characters(ended.step.observation, kStepObservation);
  auto update = append(&GoalRun::history, std::move(ended.shown))
                    .set(&GoalRun::thought, "")
                    .set(&GoalRun::messageId, "")
                    .set(&GoalRun::fault, "")
                    .set(&GoalRun::calls, {})
                    .set(&GoalRun::results, {})
                    .set(&GoalRun::startedAt, Instant{});
  if (ended.untrusted) update = std::move(update).set(&GoalRun::untrusted, true);
  if (!ended.entries.empty()) {
    update = remember(state, std::move(ended.entries), std::move(update), context);
  }
  context.save(ended.step);
  return with_next(state, std::move(update));
}

Update<GoalRun> extend_limit(const GoalRun& state, Context&) {
  return set(&GoalRun::tokenLimit, state.tokenLimit + state.question.adds)
      .set(&GoalRun::outcome, "");
}

}  // namespace belay::goals
