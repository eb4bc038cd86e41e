#include "cli/schedule_text.h"

#include "cli/count_text.h"
#include "cli/show.h"

namespace belay::cli {
namespace {

constexpr std::size_t kMinuteColumns = 16;  // "2026-11-22 15:03"
constexpr std::size_t kSecondColumns = 19;  // "2026-11-22 15:03:20"
constexpr std::size_t kDayColumns = 11;     // "2026-11-22 "

std::string local_text(const TimeZone& zone, Instant at) {
  std::string text = zone.text_of(at).substr(0, kSecondColumns);
  if (text.ends_with(":00")) text.resize(kMinuteColumns);
  return text;
}

// Returns the time that `zone` shows at the instant, as if it were UTC.
Instant shown_instant(const TimeZone& zone, Instant at) {
  std::string text = zone.text_of(at);
  text[kDayColumns - 1] = 'T';
  return instant_from(text + "Z").value_or(at);
}

std::string duration_text(std::int64_t seconds) {
  struct Unit {
    std::int64_t seconds;
    const char* name;
  };
  for (Unit unit : {Unit{86'400, "d"}, Unit{3'600, "h"}, Unit{60, "m"}}) {
    if (seconds >= unit.seconds && seconds % unit.seconds == 0) {
      return std::to_string(seconds / unit.seconds) + unit.name;
    }
  }
  return std::to_string(seconds) + "s";
}

std::string counts_text(const Schedule& schedule) {
  return std::to_string(schedule.started) + " started, " + std::to_string(schedule.skipped) +
         " skipped, " + std::to_string(schedule.missed) + " missed, " +
         std::to_string(schedule.failed) + " failed";
}

std::string pause_text(const Schedule& schedule) {
  return schedule.reason.empty() ? "paused" : "paused: " + one_line(schedule.reason);
}

}  // namespace

std::string tick_time_text(const CommandContext& world, const std::string& zone, Instant at) {
  const TimeZone& mine = world.settings.time_zone;
  std::string text = local_text(mine, at) + " " + mine.name();
  std::optional<TimeZone> other;
  if (zone != mine.name()) other = TimeZone::named(zone);
  if (!other) return text;
  std::string there = local_text(*other, at);
  bool is_same_day = mine.day_of(at) == other->day_of(at);
  return text + " (" + (is_same_day ? there.substr(kDayColumns) : there) + " " + zone + ")";
}

std::string schedule_line(const CommandContext& world, const ScheduleView& view,
                          std::size_t name_width) {
  const Schedule& schedule = view.schedule;
  std::string line = padded(one_line(schedule.name), name_width) + "  " +
                     padded(one_line(schedule.run.agent), 17) + "  " +
                     one_line(schedule.expression) + "  ";
  if (schedule.paused) {
    line += pause_text(schedule);
  } else if (view.next.empty()) {
    line += "no further tick";
  } else {
    line += "next " + tick_time_text(world, schedule.zone, view.next.front());
  }
  if (!schedule.last_error.empty()) line += "  error: " + one_line(schedule.last_error);
  return line;
}

std::string tick_line(const CommandContext& world, const std::string& zone,
                      const ScheduleTick& tick) {
  std::string line = tick_time_text(world, zone, tick.at);
  if (tick.count > 1) {
    line += " to " + tick_time_text(world, zone, tick.until) + ", " +
            count_text(static_cast<std::uint64_t>(tick.count), "tick");
  }
  line += "  " + padded(tick.decision, 8);
  if (!tick.thread.empty()) line += "  thread " + one_line(tick.thread);
  if (!tick.reason.empty()) line += "  " + one_line(tick.reason);
  return line;
}

void show_schedule_in_full(CommandContext& world, const ScheduleView& view) {
  const Schedule& schedule = view.schedule;
  Output& output = world.output;
  output.line(output.styled(Style::bold, one_line(schedule.name)) + "  " +
              one_line(schedule.expression) + "  " + one_line(schedule.zone));
  if (!view.description.empty()) output.line("  " + one_line(view.description));
  auto show = [&output](std::string_view name, const std::string& text) {
    output.line("  " + padded(std::string(name) + ":", 12) + text);
  };
  show("agent", one_line(schedule.run.agent) + "  " + to_json(schedule.run.input));
  show("thread", schedule.run.thread.empty() ? std::string("a new one for each tick")
                                             : one_line(schedule.run.thread));
  show("queue",
       one_line(schedule.run.queue) + ", priority " + std::to_string(schedule.run.priority));
  show("overlap", schedule.overlap);
  show("catch-up", duration_text(schedule.catch_up_seconds));
  if (schedule.jitter_seconds > 0) show("jitter", duration_text(schedule.jitter_seconds));
  if (!schedule.module.empty()) show("module", one_line(schedule.module));
  if (schedule.paused) show("state", pause_text(schedule));
  if (!schedule.last_run.empty()) {
    show("last run", schedule.last_run + " in thread " + one_line(schedule.last_thread));
  }
  if (!schedule.last_error.empty()) show("last error", one_line(schedule.last_error));
  if (schedule.buffered) {
    show("buffered", tick_time_text(world, schedule.zone, *schedule.buffered) +
                         " waits for the end of the last run");
  }
  show("ticks", counts_text(schedule));
  for (std::size_t i = 0; i < view.next.size(); ++i) {
    show(i == 0 ? "next" : "", tick_time_text(world, schedule.zone, view.next[i]));
  }
  if (view.next.empty()) show("next", "no further tick");
}

Result<Instant> moment_from(std::string_view option, const TimeZone& zone, std::string_view text) {
  if (auto instant = instant_from(text)) return *instant;
  std::string local(text);
  if (local.size() == kDayColumns - 1) local += " 00:00";
  if (local.size() == kMinuteColumns) local += ":00";
  if (local.size() > kDayColumns && local[kDayColumns - 1] == ' ') local[kDayColumns - 1] = 'T';
  auto wanted = local.size() == kSecondColumns ? instant_from(local + "Z") : std::nullopt;
  if (!wanted) {
    return error(ErrorCode::invalid, std::string(option) + " is " + shown_value(text) +
                                         ". Provide a time such as \"2026-11-22 15:03\" or "
                                         "2026-11-22T15:03:00Z.");
  }
  // The offset of the zone a day before the wanted time, and a day after it: one of the two
  // applies.
  for (std::chrono::hours distance : {std::chrono::hours(-24), std::chrono::hours(24)}) {
    Instant near = *wanted + distance;
    Instant at = *wanted - (shown_instant(zone, near) - near);
    if (shown_instant(zone, at) == *wanted) return at;
  }
  return error(ErrorCode::invalid, std::string(option) + " is " + shown_value(text) +
                                       ", a time that does not exist in " + zone.name() +
                                       ". Provide another one, or a time in UTC such as "
                                       "2026-11-22T15:03:00Z.");
}

Result<std::int64_t> seconds_from(std::string_view option, std::string_view text) {
  if (text == "0") return std::int64_t{0};
  BELAY_TRY(std::chrono::milliseconds duration, duration_from(option, text));
  if (duration.count() % 1'000 == 0) return duration.count() / 1'000;
  return error(ErrorCode::invalid, std::string(option) + " is " + shown_value(text) +
                                       ". Provide whole seconds, such as 30s.");
}

}  // namespace belay::cli
