#include "agents/goals/goal_commands.h"

#include "agents/goals/goal_documents.h"
#include "agents/goals/goal_operations.h"
#include "agents/goals/goal_options.h"
#include "belay/module.h"

namespace belay::goals {
namespace {

constexpr const char* kGoalsHelp =
    R"(A goal is an objective that a model pursues in steps, with tools. `trigger` adds a run to the
queue "goals", which executes one run at a time: `belay worker` or `belay serve` executes it. ID is
the id of a goal, or its beginning.

Examples:
  {p} goals add "Write a report on the outbox" --tools search,write_file --steps 8
  {p} goals list
  {p} goals trigger 3f2a
  {p} goals show 3f2a
  {p} goals steps 3f2a
)";

constexpr const char* kOptionsHelp =
    R"(An option with an empty value ("") restores the default. A run in progress keeps
the values with which it began.

Examples:
  {p} goals add "Compare the providers in the handbook" --memory carry
  {p} goals edit 3f2a --steps 20 --token-limit 50000
)";

constexpr std::size_t kIdColumns = 8;  // of an id in a list

GoalAccess access_of(ModuleContext& world) {
  return GoalAccess{world.service, world.who, world.settings.user};
}

std::string shown_text(ModuleContext& world, const std::string& text, std::size_t indent) {
  auto width = static_cast<std::size_t>(world.output.width());
  std::size_t room = width > indent + 20 ? width - indent : 20;
  return shortened(text, room, world.output.glyph("…", "..."));
}

void show_line(ModuleContext& world, const Goal& goal) {
  std::string line = goal.id.substr(0, kIdColumns) + "  " + padded(goal.status, 6) + "  ";
  world.output.line(line + shown_text(world, goal.objective, line.size()));
}

Result<Done> report_goal(ModuleContext& world, const Goal& goal, std::string_view event) {
  BELAY_TRY(Value document, goal_document(goal));
  world.output.line("Goal " + goal.id + " " + std::string(event) + ".");
  world.output.document(document);
  return Done{};
}

class AddGoal final : public ModuleCommand {
 public:
  void declare(CommandWords& words) override {
    words.argument("OBJECTIVE", objective_, "The objective, as text for the model").required();
    options_.declare(words);
  }
  Result<Done> validate(const ModuleSettings&) override {
    BELAY_CHECK(options_.validate());
    options_.set_objective(objective_);
    return Done{};
  }
  Task<Result<ExitCode>> run(ModuleContext& world) override {
    Goal goal;
    BELAY_CO_CHECK(apply_changes(goal, options_.changes()));
    goal.id = random_uuid(world.random).text();
    goal.createdAt = goal.updatedAt = world.clock.now();
    GoalAccess at = access_of(world);
    Goal saved = goal;
    BELAY_CO_CHECK(co_await save_goal(at, std::move(saved), 0));
    BELAY_CO_CHECK(report_goal(world, goal, "added"));
    world.output.line("Start it: " + world.command_line({"goals", "trigger", goal.id}));
    co_return ExitCode::done;
  }

 private:
  std::string objective_;
  GoalOptions options_;
};

class ListGoals final : public ModuleCommand {
 public:
  void declare(CommandWords& words) override {
    words.option("--limit", limit_, "Maximum number of goals")
        .range(std::size_t{1}, std::size_t{1000})
        .shows_default();
    words.option("--after", after_, "\"next\" of the previous page");
  }
  Task<Result<ExitCode>> run(ModuleContext& world) override {
    GoalAccess at = access_of(world);
    BELAY_CO_TRY(GoalPage page, co_await list_goals(at, std::move(after_), limit_));
    if (page.goals.empty()) world.output.line("No goals. Add one: belay goals add OBJECTIVE");
    Value::Array documents;
    for (const Goal& goal : page.goals) {
      show_line(world, goal);
      BELAY_CO_TRY(Value document, goal_document(goal));
      documents.push_back(std::move(document));
    }
    if (!page.next.empty()) {
      world.output.line("More: " + world.command_line({"goals", "list", "--after", page.next}));
    }
    Value next = page.next.empty() ? Value() : Value(page.next);
    world.output.document(
        Value::object({{"goals", std::move(documents)}, {"next", std::move(next)}}));
    co_return ExitCode::done;
  }

 private:
  std::size_t limit_ = 50;
  std::string after_;
};

// A command on the goal that its argument ID names.
class GoalCommand : public ModuleCommand {
 public:
  void declare(CommandWords& words) override {
    words.argument("ID", id_, "Id of the goal, or its beginning").required();
  }
  Task<Result<ExitCode>> run(ModuleContext& world) final {
    GoalAccess at = access_of(world);
    std::string begin = id_;
    BELAY_CO_TRY(id_, co_await resolve_goal(at, std::move(begin)));
    co_return co_await run_for(world, at);
  }

 protected:
  virtual Task<Result<ExitCode>> run_for(ModuleContext& world, const GoalAccess& at) = 0;
  const std::string& id() const { return id_; }

 private:
  std::string id_;
};

class ShowGoal final : public GoalCommand {
 protected:
  Task<Result<ExitCode>> run_for(ModuleContext& world, const GoalAccess& at) override {
    std::string key = id();
    BELAY_CO_TRY(Versioned<Goal> found, co_await find_goal(at, std::move(key)));
    const Goal& goal = found.record;
    Output& output = world.output;
    output.line(output.styled(Style::bold, goal.id) + "  " + goal.status);
    output.paragraph(goal.objective);
    output.line("Steps: " + std::to_string(goal.params.stepBudget) + "  Memory: " + goal.memory +
                "  Priority: " + std::to_string(goal.priority));
    std::string tools;
    for (const std::string& tool : goal.params.allowedTools) {
      tools += (tools.empty() ? "" : ", ") + tool;
    }
    output.line("Tools: " + (tools.empty() ? "all" : one_line(tools)));
    output.line("Created: " + moment_text(world.settings.time_zone, goal.createdAt));
    BELAY_CO_TRY(Value document, goal_document(goal));
    BELAY_CO_TRY(Value last, co_await last_run(world, at));
    document.as_object()->emplace("lastRun", std::move(last));
    output.document(document);
    co_return ExitCode::done;
  }

 private:
  // Shows the newest run; returns its document, or null.
  Task<Result<Value>> last_run(ModuleContext& world, const GoalAccess& at) {
    std::string key = id();
    BELAY_CO_TRY(std::vector<RunRow> runs,
                 co_await runs_of_goal(at, std::move(key), std::nullopt, 1));
    if (runs.empty()) co_return Value();
    ThreadId thread = runs.front().thread;
    std::optional<RunId> run = runs.front().run;
    BELAY_CO_TRY(RunView view,
                 co_await world.service.status(world.who, std::move(thread), std::nullopt, run));
    std::string status(name_of(view.row.status));
    const std::string* summary = view.state["summary"].as_string();
    world.output.line("Last run: " + view.row.run.text() + "  " + status +
                      (view.row.outcome.empty() ? "" : " (" + view.row.outcome + ")"));
    if (!view.row.error.empty()) world.output.paragraph(view.row.error, "  ");
    if (summary && !summary->empty()) world.output.paragraph(*summary, "  ");
    co_return Value::object(
        {{"runId", view.row.run.text()},
         {"threadId", view.row.thread.text},
         {"status", status},
         {"outcome", view.row.outcome.empty() ? Value() : Value(view.row.outcome)},
         {"summary", summary ? Value(*summary) : Value()}});
  }
};

class EditGoal final : public GoalCommand {
 public:
  void declare(CommandWords& words) override {
    GoalCommand::declare(words);
    words.option("--objective", objective_, "The objective");
    options_.declare(words);
  }
  Result<Done> validate(const ModuleSettings&) override {
    BELAY_CHECK(options_.validate());
    if (objective_) options_.set_objective(*objective_);
    if (!options_.changes().as_object()->empty()) return Done{};
    return error(ErrorCode::invalid, "Nothing to change. Name an option, such as --steps 20.");
  }

 protected:
  Task<Result<ExitCode>> run_for(ModuleContext& world, const GoalAccess& at) override {
    std::string key = id();
    Value changes = options_.changes();
    Instant now = world.clock.now();
    BELAY_CO_TRY(Goal goal, co_await change_goal(at, std::move(key), std::move(changes), now));
    BELAY_CO_CHECK(report_goal(world, goal, "changed"));
    co_return ExitCode::done;
  }

 private:
  std::optional<std::string> objective_;
  GoalOptions options_;
};

// `pause` and `resume`.
class SetStatus : public GoalCommand {
 public:
  SetStatus(std::string_view status, std::string_view event) : status_(status), event_(event) {}

 protected:
  Task<Result<ExitCode>> run_for(ModuleContext& world, const GoalAccess& at) override {
    std::string key = id();
    Value changes = Value::object({{"status", status_}});
    Instant now = world.clock.now();
    BELAY_CO_TRY(Goal goal, co_await change_goal(at, std::move(key), std::move(changes), now));
    BELAY_CO_CHECK(report_goal(world, goal, event_));
    co_return ExitCode::done;
  }

 private:
  std::string_view status_, event_;
};
class PauseGoal final : public SetStatus {
 public:
  PauseGoal() : SetStatus(kPaused, "paused") {}
};
class ResumeGoal final : public SetStatus {
 public:
  ResumeGoal() : SetStatus(kActive, "resumed") {}
};

class TriggerGoal final : public GoalCommand {
 public:
  void declare(CommandWords& words) override {
    GoalCommand::declare(words);
    words.option("--key", key_, "Names the run: triggered again with it, it is started once");
  }

 protected:
  Task<Result<ExitCode>> run_for(ModuleContext& world, const GoalAccess& at) override {
    std::string goal = id();
    BELAY_CO_TRY(StartRun start, co_await prepare_trigger(at, std::move(goal)));
    start.idempotency_key = key_;
    BELAY_CO_TRY(RunView view, co_await world.service.start(world.who, std::move(start)));
    std::string status(name_of(view.row.status));
    world.output.line("Run " + view.row.run.text() + " of goal " + id() + ": " + status + ".");
    world.output.line("A worker executes it: " + world.command_line({"worker", "--until-idle"}));
    world.output.document(Value::object({{"goalId", id()},
                                         {"runId", view.row.run.text()},
                                         {"threadId", view.row.thread.text},
                                         {"status", status}}));
    co_return ExitCode::done;
  }

 private:
  std::string key_;
};

class RemoveGoal final : public GoalCommand {
 public:
  void declare(CommandWords& words) override {
    GoalCommand::declare(words);
    words.flag("--cancel", cancel_, "Also cancel its runs in progress");
  }

 protected:
  Task<Result<ExitCode>> run_for(ModuleContext& world, const GoalAccess& at) override {
    std::string goal = id();
    BELAY_CO_CHECK(co_await remove_goal(at, std::move(goal), cancel_));
    world.output.line("Goal " + id() + " removed.");
    world.output.document(Value::object({{"removed", id()}}));
    co_return ExitCode::done;
  }

 private:
  bool cancel_ = false;
};

class ShowSteps final : public GoalCommand {
 public:
  void declare(CommandWords& words) override {
    GoalCommand::declare(words);
    words.option("--run", run_, "Id of the run (default: the newest)");
  }

 protected:
  Task<Result<ExitCode>> run_for(ModuleContext& world, const GoalAccess& at) override {
    BELAY_CO_TRY(RunId run, co_await run_to_show(at));
    BELAY_CO_TRY(StepPage page, co_await list_steps(at, run, "", limits::list_rows_max));
    if (page.steps.empty()) world.output.line("No steps.");
    Value::Array documents;
    for (const GoalStep& step : page.steps) {
      show_step(world, step);
      BELAY_CO_TRY(Value document, step_document(step));
      documents.push_back(std::move(document));
    }
    world.output.document(Value::object({{"runId", run.text()}, {"steps", std::move(documents)}}));
    co_return ExitCode::done;
  }

 private:
  Task<Result<RunId>> run_to_show(const GoalAccess& at) {
    if (!run_.empty()) {
      auto named = uuid_from(run_);
      if (!named) co_return error(ErrorCode::invalid, "Invalid --run: expected the id of a run.");
      co_return RunId(*named);
    }
    std::string goal = id();
    BELAY_CO_TRY(std::vector<RunRow> runs,
                 co_await runs_of_goal(at, std::move(goal), std::nullopt, 1));
    if (!runs.empty()) co_return runs.front().run;
    co_return error(
        ErrorCode::not_found,
        "The goal \"" + id() + "\" has no run. Trigger it: belay goals trigger " + id());
  }

  static void show_step(ModuleContext& world, const GoalStep& step) {
    std::string head = "Step " + std::to_string(step.number) + "  ";
    world.output.line(world.output.styled(Style::bold, head) +
                      shown_text(world, step.thought, head.size()));
    for (const StepCall& call : step.calls) {
      std::string begin = "  [" + one_line(call.tool) + "] ";
      const std::string& text = call.error.empty() ? call.observation : call.error;
      Style style = call.error.empty() ? Style::plain : Style::warning;
      world.output.line(world.output.styled(style, begin + shown_text(world, text, begin.size())));
    }
    if (step.calls.empty() && !step.error.empty()) {
      world.output.line("  " + shown_text(world, step.error, 2));
    }
  }

  std::string run_;
};

}  // namespace

std::vector<ModuleCommandSpec> goal_commands() {
  auto command = [](std::string name, std::string line, auto make) {
    return ModuleCommandSpec{.path = {"goals", std::move(name)},
                             .line = std::move(line),
                             .end = kGoalsHelp,
                             .make = make};
  };
  std::vector<ModuleCommandSpec> all;
  all.push_back(
      {.path = {"goals"}, .line = "Pursue goals in steps, with tools", .end = kGoalsHelp});
  all.push_back(command("add", "Add a goal", make_module_command<AddGoal>));
  all.back().end = kOptionsHelp;
  all.back().creates_store = true;
  all.push_back(command("list", "List goals, newest first", make_module_command<ListGoals>));
  all.push_back(command("show", "Show a goal and its last run", make_module_command<ShowGoal>));
  all.push_back(command("edit", "Change a goal", make_module_command<EditGoal>));
  all.back().end = kOptionsHelp;
  all.push_back(command("trigger", "Queue a run of a goal", make_module_command<TriggerGoal>));
  all.push_back(
      command("pause", "Pause a goal: it cannot be triggered", make_module_command<PauseGoal>));
  all.push_back(command("resume", "Resume a paused goal", make_module_command<ResumeGoal>));
  all.push_back(command("remove", "Remove a goal with its steps and results",
                        make_module_command<RemoveGoal>));
  all.push_back(command("steps", "Show the steps of a run", make_module_command<ShowSteps>));
  return all;
}

}  // namespace belay::goals
