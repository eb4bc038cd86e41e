#include "agents/goals/prompts.h"

#include <algorithm>
#include <initializer_list>
#include <utility>

#include "agents/goals/characters.h"
#include "agents/goals/prompt_text.h"

namespace belay::goals {
namespace {

using Filling = std::pair<std::string_view, std::string_view>;

// Replaces each {name} of the prompt by its value, in one pass: values are not searched.
std::string filled(std::string_view prompt, std::initializer_list<Filling> fillings) {
  if (prompt.ends_with('\n')) prompt.remove_suffix(1);
  std::string text;
  while (!prompt.empty()) {
    std::size_t open = std::min(prompt.find('{'), prompt.size());
    text.append(prompt.substr(0, open));
    prompt.remove_prefix(open);
    std::size_t left = prompt.size();
    for (const auto& [name, value] : fillings) {
      if (!prompt.starts_with("{" + std::string(name) + "}")) continue;
      text.append(value);
      prompt.remove_prefix(name.size() + 2);
      break;
    }
    if (!prompt.empty() && prompt.size() == left) {
      text += prompt.front();
      prompt.remove_prefix(1);
    }
  }
  return text;
}

// Returns the part of a prompt with the messages; empty without messages.
std::string messages_part(const std::vector<UsedMessage>& messages) {
  if (messages.empty()) return "";
  std::size_t first = messages.size() - 1;
  std::size_t bytes = 0;
  while (first > 0 && bytes + messages[first - 1].text.size() <= kMessagesBytesMax) {
    bytes += messages[--first].text.size();
  }
  std::string lines;
  for (std::size_t i = first; i < messages.size(); ++i) {
    lines.append("Before step ").append(std::to_string(messages[i].step)).append(": ");
    lines.append(messages[i].text).append("\n");
  }
  return "\n\n" + filled(kMessagesPrompt, {{"messages", lines}});
}

std::string history_prompt(const std::vector<ShownStep>& history) {
  if (history.empty()) return filled(kFirstStepPrompt, {});
  std::string recent;
  std::size_t first = history.size() > kShownSteps ? history.size() - kShownSteps : 0;
  for (std::size_t i = first; i < history.size(); ++i) {
    const ShownStep& step = history[i];
    recent.append("Step ").append(std::to_string(step.number)).append(": ");
    recent.append(first_characters(step.thought, kShownThought)).append("\n");
    if (!step.tools.empty()) recent.append("Tool used: ").append(step.tools).append("\n");
    if (!step.observation.empty()) {
      recent.append("Result: ").append(first_characters(step.observation, kStepObservation));
      recent.append("\n");
    }
    recent.append("\n");
  }
  return filled(kNextStepPrompt, {{"recent", recent}});
}

}  // namespace

std::string system_prompt(std::string_view objective, const std::vector<ToolDefinition>& tools,
                          int steps_remaining, std::string_view memory) {
  std::string lines;
  for (const ToolDefinition& tool : tools) {
    lines.append("- ").append(tool.name).append(": ").append(tool.description).append("\n");
  }
  return filled(kSystemPrompt, {{"objective", objective},
                                {"tools", lines},
                                {"steps", std::to_string(steps_remaining)},
                                {"memory", memory}});
}

std::string user_prompt(const std::vector<ShownStep>& history,
                        const std::vector<UsedMessage>& messages) {
  return history_prompt(history) + messages_part(messages);
}

std::string summary_prompt(std::string_view objective, const std::vector<ShownStep>& history,
                           const std::vector<UsedMessage>& messages, std::string_view memory) {
  std::string lines;
  for (const ShownStep& step : history) {
    lines.append("- Step ").append(std::to_string(step.number)).append(": ");
    lines.append(first_characters(step.thought, kShownThought)).append("\n");
    if (step.observation.empty()) continue;
    lines.append("  Result: ").append(first_characters(step.observation, kSummaryObservation));
    lines.append("\n");
  }
  return filled(kSummaryPrompt,
                {{"objective", objective}, {"history", lines}, {"memory", memory}}) +
         messages_part(messages);
}

}  // namespace belay::goals
