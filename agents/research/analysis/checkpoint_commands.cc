#include "agents/research/analysis/checkpoint_commands.h"

#include "agents/research/analysis/analysis_command.h"
#include "agents/research/checkpoints/agent_checkpointer.h"
#include "agents/research/checkpoints/retention.h"
#include "belay/module.h"

namespace belay::research {
namespace {

constexpr const char* kCheckpointHelp =
    R"(A specialist saves a checkpoint with each of its subtasks, in the same commit. They are
removed when the analysis is complete, and 30 days after the last one otherwise.
`preserve` keeps those of an analysis until `preserve --end`.

Examples:
  {p} research checkpoints 3f2a
  {p} research checkpoints 3f2a --migrations
  {p} research preserve 3f2a
)";

Value migration_document(const MigrationReport& report) {
  Value::Array steps;
  for (const MigrationStep& step : report.steps) {
    steps.push_back(
        Value::object({{"from", step.from}, {"to", step.to}, {"description", step.description}}));
  }
  Value refusal;
  if (report.refusal) refusal = Value(report.refusal->message);
  return Value::object({{"agent_type", report.agent_type},
                        {"from", report.from},
                        {"to", report.to},
                        {"steps", std::move(steps)},
                        {"refusal", std::move(refusal)}});
}

class Checkpoints final : public AnalysisCommand {
 public:
  void declare(CommandWords& words) override {
    AnalysisCommand::declare(words);
    words.flag("--migrations", shows_migrations_,
               "Show the migrations that a restore would apply; changes nothing");
  }

 protected:
  Task<Result<ExitCode>> run_for(ModuleContext& world, const AnalysisAccess& at) override {
    auto rows = checkpoint_rows(at.service, at.who, at.owner);
    AgentVersions versions = research_versions();
    AgentCheckpointer checkpointer(*rows, versions);
    if (shows_migrations_) co_return co_await show_migrations(world, checkpointer);
    std::string id = this->id();
    BELAY_CO_TRY(std::vector<AgentRestore> agents,
                 co_await checkpointer.restore_all(std::move(id)));
    if (agents.empty()) world.output.line("No checkpoints.");
    Value::Array documents;
    ExitCode code = ExitCode::done;
    for (const AgentRestore& agent : agents) {
      std::string text;
      if (!agent.restored.ok()) {
        text = agent.restored.error().message;
        code = ExitCode::failed;
      } else if (*agent.restored) {
        const AgentCheckpoint& checkpoint = (*agent.restored)->checkpoint;
        text = checkpointer.progress(checkpoint).text;
        if (!checkpoint.failure_reason.empty()) text += "  " + checkpoint.failure_reason;
        BELAY_CO_TRY(Value document, checkpoint_value(checkpoint));
        documents.push_back(std::move(document));
      }
      world.output.line(padded(agent.agent_type, 22) + one_line(text));
    }
    world.output.document(
        Value::object({{"analysis", this->id()}, {"checkpoints", std::move(documents)}}));
    co_return code;
  }

 private:
  Task<Result<ExitCode>> show_migrations(ModuleContext& world, AgentCheckpointer& checkpointer) {
    std::string id = this->id();
    BELAY_CO_TRY(std::vector<MigrationReport> reports,
                 co_await checkpointer.dry_run(std::move(id)));
    Value::Array documents;
    ExitCode code = ExitCode::done;
    for (const MigrationReport& report : reports) {
      std::string text = report.from + " -> " + report.to + "  " +
                         std::to_string(report.steps.size()) + " migrations";
      if (report.refusal) {
        text = report.refusal->message;
        code = ExitCode::failed;
      }
      world.output.line(padded(report.agent_type, 22) + one_line(text));
      documents.push_back(migration_document(report));
    }
    if (reports.empty()) world.output.line("No checkpoints.");
    world.output.document(
        Value::object({{"analysis", this->id()}, {"migrations", std::move(documents)}}));
    co_return code;
  }

  bool shows_migrations_ = false;
};

class Preserve final : public AnalysisCommand {
 public:
  void declare(CommandWords& words) override {
    AnalysisCommand::declare(words);
    words.flag("--end", ends_, "End it: the checkpoints are removed when they are due");
  }

 protected:
  Task<Result<ExitCode>> run_for(ModuleContext& world, const AnalysisAccess& at) override {
    auto rows = checkpoint_rows(at.service, at.who, at.owner);
    CheckpointRetention retention(*rows);
    std::string id = this->id();
    std::size_t agents = 0;
    if (ends_) {
      BELAY_CO_CHECK(co_await retention.end_preservation(std::move(id)));
      world.output.line("The checkpoints are removed when they are due.");
    } else {
      Instant now = world.clock.now();
      BELAY_CO_TRY(agents, co_await retention.preserve(std::move(id), now));
      world.output.line("Checkpoints of " + std::to_string(agents) + " specialists are preserved.");
    }
    world.output.document(
        Value::object({{"analysis", this->id()}, {"preserved", !ends_}, {"specialists", agents}}));
    co_return ExitCode::done;
  }

 private:
  bool ends_ = false;
};

}  // namespace

std::vector<ModuleCommandSpec> checkpoint_commands() {
  std::vector<ModuleCommandSpec> all;
  all.push_back({.path = {"research", "checkpoints"},
                 .line = "Show the checkpoints of the specialists of an analysis",
                 .end = kCheckpointHelp,
                 .make = make_module_command<Checkpoints>});
  all.push_back({.path = {"research", "preserve"},
                 .line = "Keep the checkpoints of an analysis",
                 .end = kCheckpointHelp,
                 .make = make_module_command<Preserve>});
  return all;
}

}  // namespace belay::research
