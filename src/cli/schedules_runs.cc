// `belay schedules pause`, `resume`, `run-now`, `backfill` and `remove`.

#include "belay/command.h"
#include "cli/command_context.h"
#include "cli/command_list.h"
#include "cli/count_text.h"
#include "cli/documents.h"
#include "cli/schedule_text.h"
#include "cli/shared_options.h"
#include "cli/show.h"
#include "service/schedule_documents.h"

namespace belay::cli {
namespace {

constexpr const char* kPauseScheduleHelp =
    R"(A paused schedule has no ticks. A resumed one continues with the first tick after now; use
{p} schedules backfill for the ticks between.

Examples:
  {p} schedules pause letters --reason "holidays"
  {p} schedules resume letters
)";
constexpr const char* kRunNowHelp =
    R"(Adds a run of the schedule to its queue, whatever its overlap policy, also if the schedule is
paused. The ticks are not changed. The same --key again finds the run of the first.

Examples:
  {p} schedules run-now letters
  {p} schedules run-now letters --key monday
)";
constexpr const char* kBackfillHelp =
    R"(Starts the runs of the past ticks after --after and up to --until, one for each tick that has
none, in the queue of the schedule. Repeated, it starts nothing. Without --yes, only shows their
number. Times are in your time zone, or in UTC: 2026-11-22T15:03:00Z.

Examples:
  {p} schedules backfill letters --after 2026-11-01 --until 2026-11-08
  {p} schedules backfill letters --after "2026-11-01 12:00" --yes
)";
constexpr const char* kRemoveScheduleHelp =
    R"(Removes the schedule with its ticks. Runs that it has started continue.

Examples:
  {p} schedules remove letters
)";

// `pause` and `resume`.
class SchedulesPauseCommand final : public Command {
 public:
  explicit SchedulesPauseCommand(bool pauses) : pauses_(pauses) {}

  void declare(CommandWords& words) override {
    declare_schedule(words, name_);
    if (pauses_) words.option("--reason", reason_, "Reason, which `show` and `list` display");
  }
  Result<Done> validate(const CommandValidation&) override { return check_schedule(name_); }

  Task<CommandResult> run(CommandContext& world) override {
    ScheduleChange change;
    change.paused = pauses_;
    if (pauses_) change.reason = reason_;
    UserId user = world.settings.user;
    std::string name = name_;
    BELAY_CO_TRY(ScheduleView view,
                 co_await world.service.schedules().edit(world.who, std::move(user),
                                                         std::move(name), std::move(change)));
    std::string line = "Schedule \"" + one_line(name_) + "\"";
    line += view.schedule.paused ? " paused." : " resumed.";
    if (!view.schedule.paused && !view.next.empty()) {
      line += " Next tick: " + tick_time_text(world, view.schedule.zone, view.next.front()) + ".";
    }
    world.output.line(line);
    world.output.document(schedule_document(view));
    co_return ExitCode::done;
  }

 private:
  bool pauses_;
  std::string name_;
  std::optional<std::string> reason_;
};

class SchedulesRunNowCommand final : public Command {
 public:
  void declare(CommandWords& words) override {
    declare_schedule(words, name_);
    words.option("--key", key_, "Idempotency key: the same key again finds the run");
  }
  Result<Done> validate(const CommandValidation&) override {
    if (!key_.empty()) BELAY_CHECK(check_name("key after --key", key_));
    return check_schedule(name_);
  }

  Task<CommandResult> run(CommandContext& world) override {
    if (key_.empty()) key_ = random_uuid(world.random).text();
    UserId user = world.settings.user;
    std::string name = name_, key = key_;
    BELAY_CO_TRY(RunView view, co_await world.service.schedules().run_now(
                                   world.who, std::move(user), std::move(name), std::move(key)));
    show_headline(world, view);
    world.output.document(run_document(world.program, view));
    co_return ExitCode::done;
  }

 private:
  std::string name_;
  std::string key_;
};

class SchedulesBackfillCommand final : public Command {
 public:
  void declare(CommandWords& words) override {
    declare_schedule(words, name_);
    words.option("--after", after_text_, "Only ticks after this time").required();
    words.option("--until", until_text_, "Only ticks up to this time (now)");
    words.flag("--yes", yes_, "Start the runs");
  }
  Result<Done> validate(const CommandValidation& inputs) override {
    BELAY_CHECK(check_schedule(name_));
    const TimeZone& zone = inputs.settings.time_zone;
    BELAY_TRY(after_, moment_from("--after", zone, after_text_));
    if (!until_text_) return Done{};
    BELAY_TRY(until_, moment_from("--until", zone, *until_text_));
    return Done{};
  }

  Task<CommandResult> run(CommandContext& world) override {
    BackfillRange range;
    range.after = after_;
    range.until = until_.value_or(world.clock.now());
    range.dry_run = !yes_;
    std::string until = to_text(range.until);
    UserId user = world.settings.user;
    std::string name = name_;
    BELAY_CO_TRY(Backfill backfill, co_await world.service.schedules().backfill(
                                        world.who, std::move(user), std::move(name), range));
    show_range(world, backfill);
    if (yes_) {
      world.output.line(count_text(static_cast<std::uint64_t>(backfill.started), "run") +
                        " started.");
    } else if (backfill.ticks > 0) {
      world.output.line("Start the runs of those that have none: " +
                        command(world, {"schedules", "backfill", name_, "--after", to_text(after_),
                                        "--until", until, "--yes"}));
    }
    world.output.document(backfill_document(backfill));
    co_return ExitCode::done;
  }

 private:
  void show_range(CommandContext& world, const Backfill& backfill) const {
    std::string line = "Schedule \"" + one_line(name_) +
                       "\": " + count_text(static_cast<std::uint64_t>(backfill.ticks), "tick");
    const TimeZone& zone = world.settings.time_zone;
    if (backfill.first && backfill.last) {
      line += ", from " + moment_text(zone, *backfill.first) + " to " +
              moment_text(zone, *backfill.last);
    }
    world.output.line(line + ".");
  }

  std::string name_, after_text_;
  std::optional<std::string> until_text_;
  bool yes_ = false;
  Instant after_{};
  std::optional<Instant> until_;
};

class SchedulesRemoveCommand final : public Command {
 public:
  void declare(CommandWords& words) override { declare_schedule(words, name_); }
  Result<Done> validate(const CommandValidation&) override { return check_schedule(name_); }

  Task<CommandResult> run(CommandContext& world) override {
    UserId user = world.settings.user;
    std::string name = name_;
    BELAY_CO_CHECK(
        co_await world.service.schedules().remove(world.who, std::move(user), std::move(name)));
    world.output.line("Schedule \"" + one_line(name_) + "\" is removed.");
    world.output.document(Value::object({{"name", name_}}));
    co_return ExitCode::done;
  }

 private:
  std::string name_;
};

CommandSpec pause_spec(std::string name, std::string line, bool pauses) {
  return {.path = {"schedules", std::move(name)},
          .line = std::move(line),
          .end = kPauseScheduleHelp,
          .make = [pauses] { return std::make_unique<SchedulesPauseCommand>(pauses); }};
}

}  // namespace

CommandSpec builtin::schedules_pause_command(const Program&) {
  return pause_spec("pause", "Pause a schedule", true);
}

CommandSpec builtin::schedules_resume_command(const Program&) {
  return pause_spec("resume", "Resume a paused schedule", false);
}

CommandSpec builtin::schedules_run_now_command(const Program&) {
  return {.path = {"schedules", "run-now"},
          .line = "Start a run of a schedule now",
          .end = kRunNowHelp,
          .make = make_command<SchedulesRunNowCommand>};
}

CommandSpec builtin::schedules_backfill_command(const Program&) {
  return {.path = {"schedules", "backfill"},
          .line = "Start the runs of past ticks",
          .end = kBackfillHelp,
          .make = make_command<SchedulesBackfillCommand>};
}

CommandSpec builtin::schedules_remove_command(const Program&) {
  return {.path = {"schedules", "remove"},
          .line = "Remove a schedule",
          .end = kRemoveScheduleHelp,
          .make = make_command<SchedulesRemoveCommand>};
}

}  // namespace belay::cli
