#pragma once
// agents/research/analysis/analysis_command.h - AnalysisCommand: a command on one analysis.

#include <string>

#include "agents/research/analysis/analysis_operations.h"
#include "belay/command.h"
#include "belay/module.h"

namespace belay::research {

// The analyses of the user of a command. `world` must outlive the result.
inline AnalysisAccess access_of(ModuleContext& world) {
  return AnalysisAccess{world.service, world.who, world.settings.user};
}

// A command on the analysis that its argument names.
class AnalysisCommand : public ModuleCommand {
 public:
  void declare(CommandWords& words) override {
    words.argument("ANALYSIS", id_, "Id of the analysis, or its beginning").required();
  }
  Task<Result<ExitCode>> run(ModuleContext& world) final {
    AnalysisAccess at = access_of(world);
    std::string begin = id_;
    BELAY_CO_TRY(id_, co_await resolve_analysis(at, std::move(begin)));
    co_return co_await run_for(world, at);
  }

 protected:
  virtual Task<Result<ExitCode>> run_for(ModuleContext& world, const AnalysisAccess& at) = 0;
  const std::string& id() const { return id_; }

 private:
  std::string id_;
};

}  // namespace belay::research
