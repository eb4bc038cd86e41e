#include "agents/goals/module.h"

#include "agents/goals/conversation_form.h"
#include "agents/goals/goal_commands.h"
#include "agents/goals/goal_documents.h"
#include "agents/goals/goal_routes.h"
#include "agents/goals/goal_rules.h"
#include "agents/goals/planner.h"
#include "belay/tools.h"

namespace belay::goals {
namespace {

constexpr const char* kGoalFolders = "goals_folders";
constexpr const char* kGoalFiles = "goals_files";

// The tools of all modules, and those of this module's settings.
Result<std::vector<Tool>> goal_tools(const ModuleSettings& settings) {
  std::vector<Tool> tools;
  if (settings.tools) tools = settings.tools->all();
  // The server has the runs, and its own settings.
  if (settings.is_remote) return tools;
  BELAY_TRY(std::vector<Tool> offline,
            offline_tools(settings.value(kGoalFolders), settings.value(kGoalFiles)));
  tools.insert(tools.end(), offline.begin(), offline.end());
  return tools;
}

Result<Definitions> goal_graphs(const ModuleSettings& settings, KnownTools& known,
                                std::vector<SubAgent> agents) {
  BELAY_TRY(std::vector<Tool> tools, goal_tools(settings));
  if (!settings.is_remote) {
    known.names.emplace();
    for (const Tool& tool : tools) known.names->push_back(tool.name());
    known.names->emplace_back(kReadResult);
    for (const SubAgent& agent : agents) known.names->push_back(agent.name);
  }
  BELAY_TRY(auto graph, goal_graph(std::move(tools), std::move(agents)));
  return Definitions{graph.definition()};
}

bool is_goal_state(const Value& state) {
  return state["goal"]["objective"].as_string() && state.find("history") && state.find("summary");
}

const Value* goal_made_in(const Value& state) { return is_goal_state(state) ? &state : nullptr; }

std::string number_text(const Value& value) { return std::to_string(value.as_int().value_or(0)); }

bool show_question(ModuleContext& context, const Value& payload) {
  const std::string* objective = payload["objective"].as_string();
  if (!objective || !payload.find("adds") || !payload.find("tokens")) return false;
  context.output.paragraph(*objective, "  ");
  context.output.line("  Tokens: " + number_text(payload["tokens"]) + " of " +
                      number_text(payload["limit"]) + "; an approval adds " +
                      number_text(payload["adds"]));
  return true;
}

bool show_goal_payload(ModuleContext& context, const Value& payload) {
  if (!is_goal_state(payload)) return show_question(context, payload);
  Output& output = context.output;
  output.line("Steps: " + number_text(payload["step"]));
  const std::string* summary = payload["summary"].as_string();
  if (summary && !summary->empty()) output.paragraph(*summary);
  const std::string* notice = payload["notice"].as_string();
  if (notice && !notice->empty()) {
    std::string lines = wrapped(*notice, output.width(), "  ");
    if (lines.ends_with('\n')) lines.pop_back();
    output.line(output.styled(Style::faint, lines));
  }
  return true;
}

}  // namespace

Module module(std::vector<SubAgent> agents) {
  auto known = std::make_shared<KnownTools>();
  Module module;
  module.name = "goals";
  module.graphs = [known, agents](const ModuleSettings& settings) {
    return goal_graphs(settings, *known, agents);
  };
  module.collections = {record_collection<Goal>(), record_collection<GoalStep>(),
                        record_collection<GoalResult>()};
  module.check_record = [known](const RecordWrite& write, Instant) {
    return check_goal_record(write, *known);
  };
  module.settings = {
      {kGoalFolders, "BELAY_GOALS_FOLDERS", "folders that goals can search, comma-separated", true},
      {kGoalFiles, "BELAY_GOALS_FILES", "folder for the files that goals write and read", true}};
  module.commands = goal_commands();
  module.routes = goal_routes();
  module.presentation.payload = show_goal_payload;
  module.presentation.made = goal_made_in;
  module.presentation.conversations.emplace(kGoalGraph, conversation_form());
  module.presentation.schemas = {{"Goal", goal_schema()},
                                 {"GoalList", page_schema("goals", "Goal")},
                                 {"GoalStep", step_schema()},
                                 {"GoalStepList", page_schema("steps", "GoalStep")}};
  return module;
}

}  // namespace belay::goals
