// `belay schedules add` and `edit`: the members of a schedule.

#include <algorithm>
#include <limits>

#include "belay/command.h"
#include "cli/command_context.h"
#include "cli/command_list.h"
#include "cli/run_input.h"
#include "cli/schedule_text.h"
#include "cli/shared_options.h"
#include "cli/show.h"
#include "cli/suggestions.h"
#include "service/schedule_documents.h"

namespace belay::cli {
namespace {

constexpr const char* kAddScheduleHelp =
    R"(EXPRESSION is a cron expression with five fields (minute, hour, day of month, month, day of
week), or six with the second first; or @hourly, @daily, @every 90s. If the run of an earlier tick
has not ended, --overlap selects the effect of a tick: skip: it starts nothing; buffer_one: it
starts its run when the earlier one has ended; allow: it starts its run; cancel_other: the
earlier one is cancelled. Ticks of an outage that are older than --catch-up are missed. The same
command again changes nothing.

Examples:
  {p} schedules add letters "0 9 * * MON-FRI" --agent assistant --input question="Any letters?"
  {p} schedules add audit "@every 6h" --agent daily_auditor --input @input.json --catch-up 1h
  {p} schedules add report "0 0 1 * *" --agent assistant --zone Europe/Madrid --jitter 10m
)";
constexpr const char* kEditScheduleHelp =
    R"(Changes the named members only. Ticks that were decided before are not decided again, and
runs that were started keep their input. --thread "" restores a new thread for each tick.

Examples:
  {p} schedules edit letters --expression "30 8 * * MON-FRI"
  {p} schedules edit letters --overlap buffer_one --catch-up 2h
)";

Result<std::shared_ptr<const GraphDefinition>> scheduled_graph(const Definitions& graphs,
                                                               const std::string& name) {
  std::vector<std::string> names;
  for (const auto& graph : graphs) {
    if (graph->name == name) return graph;
    names.push_back(graph->name);
  }
  return error(ErrorCode::not_found,
               "Unknown agent \"" + shortened(name, 60, "...") + "\"." + did_you_mean(name, names));
}

// The options for the members of a schedule.
class ScheduleOptions {
 public:
  void declare(CommandWords& words) {
    words.option("--input", input_, "Input of the runs: name=value, @file.json, or -; repeatable");
    words.option("--zone", zone_, "Time zone of the expression, such as Europe/Madrid (UTC)");
    words
        .option("--overlap", overlap_,
                "If the earlier run has not ended: skip, buffer_one, allow or cancel_other (skip)")
        .choices({"skip", "buffer_one", "allow", "cancel_other"});
    words.option("--catch-up", catch_up_,
                 "Age of the oldest tick that is started after an outage: 30s, 10m, 2h (1m)");
    words.option("--jitter", jitter_, "Longest delay of a tick: 30s, 10m (0)");
    words.text_option("--thread", thread_, "Thread of the runs (default: a new one for each tick)");
    words.option("--queue", queue_, "Queue of the runs (default)");
    words.option("--priority", priority_, "Priority: larger numbers run first (0)");
  }

  Result<Done> validate() {
    if (thread_ && !thread_->empty()) BELAY_CHECK(check_thread(*thread_));
    change_.zone = zone_;
    change_.overlap = overlap_;
    change_.thread = thread_;
    change_.queue = queue_;
    if (catch_up_) {
      BELAY_TRY(change_.catch_up_seconds, seconds_from("--catch-up", *catch_up_));
    }
    if (jitter_) {
      BELAY_TRY(change_.jitter_seconds, seconds_from("--jitter", *jitter_));
    }
    if (priority_) {
      constexpr auto least = std::numeric_limits<std::int64_t>::min();
      constexpr auto most = std::numeric_limits<std::int64_t>::max();
      BELAY_TRY(change_.priority, whole_number("--priority", *priority_, least, most));
    }
    return Done{};
  }

  bool has_input() const { return !input_.empty(); }
  bool is_empty() const {
    return input_.empty() && !zone_ && !overlap_ && !catch_up_ && !jitter_ && !thread_ && !queue_ &&
           !priority_;
  }
  // Reads the input of the runs, and checks it against the state of the agent.
  Result<Done> read_input_of(const Definitions& graphs, const std::string& agent) {
    BELAY_TRY(auto graph, scheduled_graph(graphs, agent));
    BELAY_TRY(change_.input, read_run_input(*graph, input_));
    return Done{};
  }
  ScheduleChange& change() { return change_; }

 private:
  std::vector<std::string> input_;
  std::optional<std::string> zone_, overlap_, catch_up_, jitter_, thread_, queue_, priority_;
  ScheduleChange change_;
};

void report_next(CommandContext& world, const ScheduleView& view, std::string_view event) {
  std::string line = "Schedule \"" + one_line(view.schedule.name) + "\" " + std::string(event);
  if (view.schedule.paused) {
    line += ", and paused.";
  } else if (view.next.empty()) {
    line += ". It has no further tick.";
  } else {
    line += ". Next tick: " + tick_time_text(world, view.schedule.zone, view.next.front()) + ".";
  }
  world.output.line(line);
  if (!view.description.empty()) world.output.line("  " + one_line(view.description));
  world.output.document(schedule_document(view));
}

class SchedulesAddCommand final : public Command {
 public:
  void declare(CommandWords& words) override {
    declare_schedule(words, name_);
    words.argument("EXPRESSION", expression_, "Cron expression, in quotes").required();
    words.option("--agent", agent_, "Agent of the runs, as in `agents list`")
        .required()
        .completes(NamesToComplete::agents);
    options_.declare(words);
    words.flag("--paused", paused_, "Add it paused");
  }
  Result<Done> validate(const CommandValidation& inputs) override {
    BELAY_CHECK(check_schedule(name_));
    BELAY_CHECK(options_.validate());
    return options_.read_input_of(inputs.graphs, agent_);
  }

  Task<CommandResult> run(CommandContext& world) override {
    ScheduleChange wanted = std::move(options_.change());
    wanted.expression = expression_;
    wanted.agent = agent_;
    if (paused_) wanted.paused = true;
    UserId user = world.settings.user;
    std::string name = name_;
    BELAY_CO_TRY(ScheduleView view,
                 co_await world.service.schedules().add(world.who, std::move(user), std::move(name),
                                                        std::move(wanted)));
    report_next(world, view, "added");
    co_return ExitCode::done;
  }

 private:
  std::string name_, expression_, agent_;
  ScheduleOptions options_;
  bool paused_ = false;
};

class SchedulesEditCommand final : public Command {
 public:
  void declare(CommandWords& words) override {
    declare_schedule(words, name_);
    words.option("--expression", expression_, "Cron expression, in quotes");
    words.option("--agent", agent_, "Agent of the runs, as in `agents list`")
        .completes(NamesToComplete::agents);
    options_.declare(words);
  }
  Result<Done> validate(const CommandValidation& inputs) override {
    BELAY_CHECK(check_schedule(name_));
    BELAY_CHECK(options_.validate());
    if (!expression_ && !agent_ && options_.is_empty()) {
      return error(ErrorCode::invalid,
                   "Nothing to change. Name an option, such as --overlap buffer_one.");
    }
    if (!agent_) return Done{};
    if (options_.has_input()) return options_.read_input_of(inputs.graphs, *agent_);
    BELAY_CHECK(scheduled_graph(inputs.graphs, *agent_));
    return Done{};
  }

  Task<CommandResult> run(CommandContext& world) override {
    Schedules& schedules = world.service.schedules();
    UserId user = world.settings.user;
    std::string name = name_;
    if (options_.has_input() && !agent_) {
      BELAY_CO_TRY(ScheduleView before,
                   co_await schedules.show(world.who, std::move(user), std::move(name), 1));
      BELAY_CO_CHECK(options_.read_input_of(world.graphs, before.schedule.run.agent));
      user = world.settings.user;
      name = name_;
    }
    ScheduleChange change = std::move(options_.change());
    change.expression = expression_;
    change.agent = agent_;
    BELAY_CO_TRY(ScheduleView view, co_await schedules.edit(world.who, std::move(user),
                                                            std::move(name), std::move(change)));
    report_next(world, view, "changed");
    co_return ExitCode::done;
  }

 private:
  std::string name_;
  std::optional<std::string> expression_, agent_;
  ScheduleOptions options_;
};

}  // namespace

CommandSpec builtin::schedules_add_command(const Program&) {
  return {.path = {"schedules", "add"},
          .line = "Add a schedule",
          .end = kAddScheduleHelp,
          .traits = {.creates_store = true, .uses_server_agents = true},
          .make = make_command<SchedulesAddCommand>};
}

CommandSpec builtin::schedules_edit_command(const Program&) {
  return {.path = {"schedules", "edit"},
          .line = "Change a schedule",
          .end = kEditScheduleHelp,
          .traits = {.uses_server_agents = true},
          .make = make_command<SchedulesEditCommand>};
}

}  // namespace belay::cli
