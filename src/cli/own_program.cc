// belay::main: the command line of a program that provides its modules, or only its graphs.

#include <cstdio>

#include "belay/main.h"
#include "cli/app.h"
#include "cli/modules.h"

namespace belay::detail {
namespace {

int refuse(const std::string& called, const Error& fault) {
  std::string name = called.substr(called.rfind('/') + 1);
  std::fprintf(stderr, "%s: %s\n", name.c_str(), fault.message.c_str());
  return static_cast<int>(ExitCode::internal);
}

// Returns the answer of an agent (AgentState) that has a whole one, and any other state as a whole.
const Value* answer_or_state(const Value& state) {
  const Value* answer = state.find("answer");
  const std::string* text = answer ? answer->as_string() : nullptr;
  bool is_agent = state.find("turns") && state.find("results") && state.find("question");
  bool is_cut = state["truncated"].as_bool() && *state["truncated"].as_bool();
  return is_agent && !is_cut && text && !text->empty() ? answer : &state;
}

}  // namespace

int run_modules(int argc, char** argv, MainOptions options, std::vector<Module> modules) {
  std::string called = argc > 0 ? argv[0] : "agent";
  if (!options.call.empty()) called = options.call;
  auto program = cli::program_with(called, std::move(options), std::move(modules));
  if (!program.ok()) return refuse(called, program.error());
  return cli::run_program(*std::move(program), argc, argv);
}

int run_graphs(int argc, char** argv, MainOptions options, std::vector<AnyGraph> graphs) {
  Definitions built;
  for (AnyGraph& graph : graphs) {
    if (!graph.ok()) return refuse(argc > 0 ? argv[0] : "agent", graph.error());
    built.push_back(*std::move(graph));
  }
  if (built.size() > 1 && options.first_run.size() == 1) {
    options.first_run.push_back(built.front()->name);
  }
  Module module;
  module.name = "main";
  module.graphs = [built = std::move(built)](const ModuleSettings&) {
    return Result<Definitions>(built);
  };
  module.presentation.made = answer_or_state;
  std::vector<Module> modules;
  modules.push_back(std::move(module));
  return run_modules(argc, argv, std::move(options), std::move(modules));
}

}  // namespace belay::detail
