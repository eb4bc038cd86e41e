#include "agents/goals/prompts.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "agents/goals/planner.h"

namespace belay::goals {
namespace {

using ::testing::HasSubstr;
using ::testing::Not;

TEST(Prompts, TheSystemPromptHasTheObjectiveTheToolsTheGuidelinesAndTheMemory) {
  std::vector<ToolDefinition> tools{{"search", "Searches.", Value()},
                                    {"write", "Writes.", Value()}};
  EXPECT_EQ(
      system_prompt("Find the outbox", tools, 7, "{\n  \"step_1_search_0\": \"x\"\n}"),
      "You are an autonomous AI agent designed to achieve goals by planning steps and calling "
      "tools."
      R"(

Your objective: Find the outbox

Available tools:
- search: Searches.
- write: Writes.

Guidelines:
1. Think step-by-step to achieve the objective
2. Use tools to gather information, perform actions, and generate outputs
3. Keep track of what you've learned in working memory
4. When you have sufficient information or completed the task, provide a final summary
5. Be concise and focused on the objective
6. You have 7 steps remaining in your budget

Working memory (your scratchpad):
{
  "step_1_search_0": "x"
})");
}

TEST(Prompts, TheFirstStepHasNoHistory) {
  EXPECT_EQ(user_prompt({}, {}),
            "This is the start of your task. Plan your first step to achieve the objective.");
}

TEST(Prompts, ALaterStepShowsTheRecentSteps) {
  EXPECT_EQ(
      user_prompt({{1, "I search.", "search", "[search] two pages"}, {2, "I think.", "", ""}}, {}),
      R"(Recent steps:
Step 1: I search.
Tool used: search
Result: [search] two pages

Step 2: I think.

Based on what you've learned, what should be your next step?
If you have enough information to complete the objective, provide a final summary and finish.)");
}

TEST(Prompts, AStepShowsTheLastThreeStepsAnd500CharactersOfAnObservation) {
  std::vector<ShownStep> history;
  for (int number = 1; number <= 5; ++number) {
    history.push_back({number, "Thought.", "search", std::string(600, 'x')});
  }
  std::string prompt = user_prompt(history, {});
  EXPECT_THAT(prompt, Not(HasSubstr("Step 2:")));
  EXPECT_THAT(prompt, HasSubstr("Step 3:"));
  EXPECT_THAT(prompt, HasSubstr("Step 5:"));
  EXPECT_THAT(prompt, HasSubstr("Result: " + std::string(500, 'x') + "\n"));
}

TEST(Prompts, TheSummaryShowsAllStepsAnd200CharactersOfAnObservation) {
  std::string long_one = std::string(199, 'x') + "€€";
  EXPECT_EQ(summary_prompt("Find it", {{1, "I search.", "search", long_one}, {2, "Done.", "", ""}},
                           {}, "{}"),
            "Given the following objective and execution history, provide a concise summary of "
            "what was accomplished:\n\nObjective: Find it\n\nExecution history:\n- Step 1: I "
            "search.\n  Result: " +
                std::string(199, 'x') +
                "€\n- Step 2: Done.\n\nWorking memory:\n{}\n\nProvide a clear, concise summary of "
                "what was accomplished and any key findings or outputs.");
}

TEST(FinishRules, ARunEndsWithoutCallsOrWithTheLastStep) {
  PlannedCall call;
  EXPECT_TRUE(ends_with({}, 5)) << "no call";
  EXPECT_TRUE(ends_with({call}, 0)) << "the budget is spent";
  EXPECT_FALSE(ends_with({call}, 1));
}

}  // namespace
}  // namespace belay::goals
