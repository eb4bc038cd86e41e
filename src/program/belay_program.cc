#include "program/belay_program.h"

#include "agents/assistant/module.h"
#include "agents/checkpointer/module.h"
#include "agents/goals/builtin_planner.h"
#include "agents/goals/module.h"
#include "agents/research/analysis/module.h"
#include "agents/wellbeing/module.h"
#include "cli/served_routes.h"
#include "program/new_project.h"
#include "tests/conformance/graphs/module.h"

namespace belay::program {
namespace {

constexpr const char* kExamples = R"(  belay notes import diary.jsonl
  belay run daily-audit --date 1910-02-06
  belay run routine --date 1910-02-07
)";

constexpr const char* kRunHelp =
    R"(A run that has something to save pauses (exit code 3) and prints the command
that approves it; belay run never decides. The same --thread again resumes the
run, or prints the command that shows it (with --quiet, its result).

Examples:
  belay run daily-audit --date 1910-02-06
  belay run daily-audit --date 1910-02-06 --thread audit-may-2 --language es
  belay run routine --date 1910-02-07 --expires 2h
  belay run routine --date 1910-02-07 --json | jq .approval.interruptId
)";

}  // namespace

MainOptions options() {
  MainOptions options;
  options.name = options.call = "belay";
  options.about = "belay - durable agents: every step is committed before the next one starts.";
  options.default_model = "builtin";
  options.default_model_help = "rules, no language model";
  options.examples = kExamples;
  options.run_help = kRunHelp;
  options.first_run = {"run", "daily-audit", "--date", "YYYY-MM-DD"};
  options.other_hints = {{"demo"}, {"new", "helpdesk"}, {"notes", "import", "diary.jsonl"}};
  return options;
}

std::vector<Module> modules() {
  std::vector<Module> modules;
  modules.push_back(wellbeing::module());
  // The rules of `builtin` reject the requests of goals: a script answers these.
  auto& builtin = modules.back().models.at("builtin");
  builtin = [rules = builtin](const ModuleSettings& settings) {
    return goals::with_builtin_planner(rules(settings));
  };
  modules.push_back(assistant::module());
  modules.push_back(goals::module());
  modules.push_back(research::module());
  modules.push_back(checkpointer::module());
  modules.push_back(project_module());
  modules.push_back(conformance::module(cli::served_collections()));
  return modules;
}

}  // namespace belay::program
