// belay::main: the command line of a program that provides only its graphs.

#include <cstdio>

#include "belay/main.h"
#include "cli/app.h"
#include "cli/model_settings.h"

namespace belay {
namespace {

// The model of a program that provides none: every call fails.
class NoModel final : public Model {
 public:
  Task<Result<ModelReply>> generate(ModelRequest) override {
    co_return error(ErrorCode::invalid,
                    "This program has no model. Set --model or BELAY_MODEL, such as "
                    "ollama:llama3.2, or pass one to belay::main in MainOptions::model.");
  }
};

std::string last_part(const std::string& path) { return path.substr(path.rfind('/') + 1); }

cli::Program program_of(const std::string& called, MainOptions options,
                        std::vector<std::shared_ptr<const GraphDefinition>> graphs) {
  cli::Program program;
  program.name = options.name.empty() ? last_part(called) : options.name;
  program.call = called;
  program.about = options.about.empty() ? program.name + " - a durable agent." : options.about;
  program.examples = "  " + called + " run --input name=value\n";
  if (graphs.size() > 1) program.first_run = {"run", graphs.front()->name};
  program.collections = std::move(options.collections);
  program.receivers = std::move(options.receivers);
  program.graphs = [graphs = std::move(graphs)](const cli::Settings&) {
    return Result<cli::Definitions>(graphs);
  };
  program.brings_model = options.model != nullptr;
  if (!program.brings_model) program.settings = cli::model_settings();
  program.model = [model = std::move(options.model)](
                      const cli::Settings& settings,
                      Clock& clock) -> Result<std::shared_ptr<Model>> {
    if (model) return model;
    if (settings.model.empty()) return std::shared_ptr<Model>(std::make_shared<NoModel>());
    return cli::named_model(settings, {}, clock);
  };
  return program;
}

}  // namespace

int detail::run_command_line(int argc, char** argv, MainOptions options,
                             std::vector<AnyGraph> graphs) {
  std::string called = argc > 0 ? argv[0] : "agent";
  cli::Definitions built;
  for (AnyGraph& graph : graphs) {
    if (!graph.ok()) {
      std::fprintf(stderr, "%s: %s\n", last_part(called).c_str(), graph.error().message.c_str());
      return static_cast<int>(cli::ExitCode::internal);
    }
    built.push_back(*std::move(graph));
  }
  return cli::run_program(program_of(called, std::move(options), std::move(built)), argc, argv);
}

}  // namespace belay
