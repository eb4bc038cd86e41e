// `belay schedules`: lists schedules; shows one, its next ticks and its decided ones.

#include <algorithm>

#include "belay/command.h"
#include "cli/command_context.h"
#include "cli/command_list.h"
#include "cli/schedule_text.h"
#include "cli/shared_options.h"
#include "cli/show.h"
#include "service/schedule_documents.h"

namespace belay::cli {
namespace {

constexpr const char* kSchedulesHelp =
    R"(A schedule starts runs of an agent at the ticks of a cron expression in a time zone. Workers
and servers decide the ticks, each exactly once. Times are shown in your time zone, and in that of
the schedule if it is another one.

Examples:
  {p} schedules add letters "0 9 * * MON-FRI" --agent assistant --zone Europe/Madrid
  {p} schedules
  {p} schedules show letters
  {p} schedules pause letters --reason "holidays"
  {p} schedules backfill letters --after 2026-11-01 --until 2026-11-08
)";
constexpr const char* kShowScheduleHelp =
    R"(`show` prints the members of a schedule, its next ticks and the last decided ones; `next` the
next ticks, without their jitter; `ticks` the decided ones, newest first.

Examples:
  {p} schedules show letters
  {p} schedules next letters --count 20
  {p} schedules ticks letters --limit 100
)";

constexpr std::size_t kNameWidthMax = 30;
constexpr std::size_t kShownTicks = 5;  // of `show`: next ones, and decided ones

class SchedulesListCommand final : public Command {
 public:
  void declare(CommandWords& words) override {
    words.option("--limit", limit_, "Maximum number of schedules")
        .range(std::size_t{1}, limits::list_rows_max)
        .shows_default();
    words.option("--after", after_, "\"next\" of the previous page");
    words.flag("--all-users", all_users_, "Also schedules of other users");
  }

  Task<CommandResult> run(CommandContext& world) override {
    SchedulePage page;
    if (!all_users_) page.user = world.settings.user;
    // The user of a key is that of the server.
    if (!world.local && world.settings.user == UserId("local")) page.user.reset();
    page.after = after_;
    page.limit = limit_;
    BELAY_CO_TRY(ListedSchedules listed,
                 co_await world.service.schedules().list(world.who, std::move(page)));
    if (listed.schedules.empty()) {
      world.output.line("No schedules. Add one: " +
                        command(world, {"schedules", "add", "NAME", "EXPRESSION", "--agent", "A"}));
    }
    std::size_t width = 0;
    for (const ScheduleView& view : listed.schedules) {
      width = std::max(width, columns(view.schedule.name));
    }
    width = std::min(width, kNameWidthMax);
    bool has_several_users = std::any_of(
        listed.schedules.begin(), listed.schedules.end(), [&listed](const ScheduleView& view) {
          return view.schedule.user != listed.schedules.front().schedule.user;
        });
    for (const ScheduleView& view : listed.schedules) {
      std::string line = schedule_line(world, view, width);
      if (has_several_users) line += "  user " + one_line(view.schedule.user);
      world.output.line(line);
    }
    if (!listed.next.empty()) {
      world.output.line("More: " + command(world, {"schedules", "list", "--after", listed.next}));
    }
    world.output.document(schedules_document(listed));
    co_return ExitCode::done;
  }

 private:
  std::size_t limit_ = 100;
  std::string after_;
  bool all_users_ = false;
};

class SchedulesShowCommand final : public Command {
 public:
  void declare(CommandWords& words) override { declare_schedule(words, name_); }
  Result<Done> validate(const CommandValidation&) override { return check_schedule(name_); }

  Task<CommandResult> run(CommandContext& world) override {
    Schedules& schedules = world.service.schedules();
    UserId user = world.settings.user;
    std::string name = name_;
    BELAY_CO_TRY(ScheduleView view,
                 co_await schedules.show(world.who, std::move(user), std::move(name), kShownTicks));
    user = world.settings.user;
    name = name_;
    BELAY_CO_TRY(ScheduleTicks last, co_await schedules.ticks(world.who, std::move(user),
                                                              std::move(name), "", kShownTicks));
    show_schedule_in_full(world, view);
    if (!last.ticks.empty()) world.output.line("  decided ticks, newest first:");
    Value::Array ticks;
    for (const ScheduleTick& tick : last.ticks) {
      world.output.line("    " + tick_line(world, view.schedule.zone, tick));
      ticks.push_back(schedule_tick_document(tick));
    }
    Value document = schedule_document(view);
    document.as_object()->emplace("ticks", std::move(ticks));
    world.output.document(document);
    co_return ExitCode::done;
  }

 private:
  std::string name_;
};

class SchedulesNextCommand final : public Command {
 public:
  void declare(CommandWords& words) override {
    declare_schedule(words, name_);
    words.option("--count", count_, "Number of ticks")
        .range(std::size_t{1}, limits::shown_ticks_max)
        .shows_default();
  }
  Result<Done> validate(const CommandValidation&) override { return check_schedule(name_); }

  Task<CommandResult> run(CommandContext& world) override {
    UserId user = world.settings.user;
    std::string name = name_;
    BELAY_CO_TRY(ScheduleView view, co_await world.service.schedules().show(
                                        world.who, std::move(user), std::move(name), count_));
    for (Instant at : view.next) {
      world.output.line(tick_time_text(world, view.schedule.zone, at));
    }
    if (view.next.empty()) world.output.line("No further tick.");
    if (view.schedule.paused) world.output.progress("The schedule is paused.");
    world.output.document(schedule_document(view));
    co_return ExitCode::done;
  }

 private:
  std::string name_;
  std::size_t count_ = 10;
};

class SchedulesTicksCommand final : public Command {
 public:
  void declare(CommandWords& words) override {
    declare_schedule(words, name_);
    declare_limit(words, limit_);
    words.option("--after", after_, "\"next\" of the previous page");
  }
  Result<Done> validate(const CommandValidation&) override { return check_schedule(name_); }

  Task<CommandResult> run(CommandContext& world) override {
    Schedules& schedules = world.service.schedules();
    UserId user = world.settings.user;
    std::string name = name_;
    BELAY_CO_TRY(ScheduleView view,
                 co_await schedules.show(world.who, std::move(user), std::move(name), 1));
    user = world.settings.user;
    name = name_;
    BELAY_CO_TRY(ScheduleTicks page,
                 co_await schedules.ticks(world.who, std::move(user), std::move(name),
                                          std::move(after_), limit_));
    if (page.ticks.empty()) world.output.line("No decided ticks.");
    for (const ScheduleTick& tick : page.ticks) {
      world.output.line(tick_line(world, view.schedule.zone, tick));
    }
    if (!page.next.empty()) {
      world.output.line("More: " +
                        command(world, {"schedules", "ticks", name_, "--after", page.next}));
    }
    world.output.document(schedule_ticks_document(page));
    co_return ExitCode::done;
  }

 private:
  std::string name_;
  std::size_t limit_ = 20;
  std::string after_;
};

}  // namespace

CommandSpec builtin::schedules_command(const Program&) {
  return {.path = {"schedules"},
          .line = "List, add, change and remove schedules of runs",
          .end = kSchedulesHelp,
          .make = make_command<SchedulesListCommand>};
}

CommandSpec builtin::schedules_list_command(const Program&) {
  return {.path = {"schedules", "list"},
          .line = "List the schedules",
          .end = kSchedulesHelp,
          .make = make_command<SchedulesListCommand>};
}

CommandSpec builtin::schedules_show_command(const Program&) {
  return {.path = {"schedules", "show"},
          .line = "Show a schedule with its next ticks and the last decided ones",
          .end = kShowScheduleHelp,
          .make = make_command<SchedulesShowCommand>};
}

CommandSpec builtin::schedules_next_command(const Program&) {
  return {.path = {"schedules", "next"},
          .line = "Show the next ticks of a schedule",
          .end = kShowScheduleHelp,
          .make = make_command<SchedulesNextCommand>};
}

CommandSpec builtin::schedules_ticks_command(const Program&) {
  return {.path = {"schedules", "ticks"},
          .line = "Show the decided ticks of a schedule, newest first",
          .end = kShowScheduleHelp,
          .make = make_command<SchedulesTicksCommand>};
}

}  // namespace belay::cli
