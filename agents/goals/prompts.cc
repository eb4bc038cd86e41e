#include "agents/goals/prompts.h"

#include "agents/goals/characters.h"

namespace belay::goals {
namespace {

constexpr std::string_view kIntroduction =
    "You are an autonomous AI agent designed to achieve goals by planning steps and calling "
    "tools.";
constexpr std::string_view kGuidelines =
    "Guidelines:\n"
    "1. Think step-by-step to achieve the objective\n"
    "2. Use tools to gather information, perform actions, and generate outputs\n"
    "3. Keep track of what you've learned in working memory\n"
    "4. When you have sufficient information or completed the task, provide a final summary\n"
    "5. Be concise and focused on the objective\n";
constexpr std::string_view kFirstStep =
    "This is the start of your task. Plan your first step to achieve the objective.";
constexpr std::string_view kNextStep =
    "Based on what you've learned, what should be your next step?\n"
    "If you have enough information to complete the objective, provide a final summary and "
    "finish.";
constexpr std::string_view kSummaryBegin =
    "Given the following objective and execution history, provide a concise summary of what was "
    "accomplished:";
constexpr std::string_view kSummaryEnd =
    "Provide a clear, concise summary of what was accomplished and any key findings or outputs.";

}  // namespace

std::string system_prompt(std::string_view objective, const std::vector<ToolDefinition>& tools,
                          int steps_remaining, std::string_view memory) {
  std::string prompt(kIntroduction);
  prompt.append("\n\nYour objective: ").append(objective).append("\n\nAvailable tools:\n");
  for (const ToolDefinition& tool : tools) {
    prompt.append("- ").append(tool.name).append(": ").append(tool.description).append("\n");
  }
  prompt.append("\n").append(kGuidelines).append("6. You have ");
  prompt.append(std::to_string(steps_remaining)).append(" steps remaining in your budget\n\n");
  return prompt.append("Working memory (your scratchpad):\n").append(memory);
}

std::string user_prompt(const std::vector<ShownStep>& history) {
  if (history.empty()) return std::string(kFirstStep);
  std::string prompt = "Recent steps:\n";
  std::size_t first = history.size() > kShownSteps ? history.size() - kShownSteps : 0;
  for (std::size_t i = first; i < history.size(); ++i) {
    const ShownStep& step = history[i];
    prompt.append("Step ").append(std::to_string(step.number)).append(": ");
    prompt.append(first_characters(step.thought, kShownThought)).append("\n");
    if (!step.tools.empty()) prompt.append("Tool used: ").append(step.tools).append("\n");
    if (!step.observation.empty()) {
      prompt.append("Result: ").append(first_characters(step.observation, kStepObservation));
      prompt.append("\n");
    }
    prompt.append("\n");
  }
  return prompt.append(kNextStep);
}

std::string summary_prompt(std::string_view objective, const std::vector<ShownStep>& history,
                           std::string_view memory) {
  std::string prompt(kSummaryBegin);
  prompt.append("\n\nObjective: ").append(objective).append("\n\nExecution history:\n");
  for (const ShownStep& step : history) {
    prompt.append("- Step ").append(std::to_string(step.number)).append(": ");
    prompt.append(first_characters(step.thought, kShownThought)).append("\n");
    if (step.observation.empty()) continue;
    prompt.append("  Result: ").append(first_characters(step.observation, kSummaryObservation));
    prompt.append("\n");
  }
  prompt.append("\nWorking memory:\n").append(memory).append("\n\n");
  return prompt.append(kSummaryEnd);
}

}  // namespace belay::goals
