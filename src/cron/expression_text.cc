// The canonical text of an expression.

#include <string>

#include "cron/expression.h"
#include "cron/field_reader.h"
#include "cron/value_runs.h"

namespace belay::cron {
namespace {

void append_item(std::string& list, const std::string& item) {
  if (!list.empty()) list += ',';
  list += item;
}

// 5, 5,6 or 5-7
std::string list_of_runs(Bits set) {
  std::string list;
  for (const Progression& run : runs_of(set)) {
    append_item(list, std::to_string(run.first));
    if (run.size() > 1) list += (run.size() == 2 ? ',' : '-') + std::to_string(run.last);
  }
  return list;
}

// */15, 5/10 or 5-20/3
std::string text_of(const Progression& steps, Bits all) {
  std::string text = std::to_string(steps.first);
  if (steps.last + steps.step <= highest_of(all)) {
    text += '-' + std::to_string(steps.last);
  } else if (steps.first == lowest_of(all)) {
    text = '*';
  }
  return text + '/' + std::to_string(steps.step);
}

// A field of the time of day. A field that repeats must contain a wildcard or a step, another one
// must not.
std::string time_field(Bits set, Bits all, bool repeats) {
  if (!repeats) return list_of_runs(set);
  if (set == all) return "*";
  Progression steps = longest_progression(set);
  std::string list = text_of(steps, all);
  if (Bits rest = set & ~steps.values(); rest != 0) append_item(list, list_of_runs(rest));
  return list;
}

std::string list_of_numbers(Bits set, Bits all) {
  if (set == 0) return "";
  auto steps = complete_progression(set);
  return steps ? text_of(*steps, all) : list_of_runs(set);
}

std::string day_field(const Fields& fields) {
  if (fields.any_day) return "*";
  std::string list = list_of_numbers(fields.days, all_days);
  for (unsigned before = 0; before <= 30; ++before) {
    if (!has(fields.days_before_last, before)) continue;
    append_item(list, before == 0 ? "L" : "L-" + std::to_string(before));
  }
  if (fields.last_workday) append_item(list, "LW");
  for (unsigned day = 1; day <= 31; ++day) {
    if (has(fields.near_days, day)) append_item(list, std::to_string(day) + "W");
  }
  return list;
}

std::string name_of(unsigned weekday) { return std::string(weekday_names[weekday % 7]); }

std::string weekday_field(const Fields& fields) {
  if (fields.any_weekday) return "*";
  std::string list;
  for (const Progression& run : runs_of(from_monday(fields.weekdays))) {
    append_item(list, name_of(run.first));
    if (run.size() > 1) list += (run.size() == 2 ? ',' : '-') + name_of(run.last);
  }
  for (unsigned week = 0; week <= fields.nth_weekdays.size(); ++week) {
    const bool is_last = week == fields.nth_weekdays.size();
    Bits weekdays = is_last ? fields.last_weekdays : fields.nth_weekdays[week];
    for (unsigned weekday = 1; weekday <= 7; ++weekday) {
      if (!has(from_monday(weekdays), weekday)) continue;
      append_item(list, name_of(weekday) + "#" + (is_last ? "L" : std::to_string(week + 1)));
    }
  }
  return (fields.both_days ? "+" : "") + list;
}

std::string interval_text(std::chrono::seconds interval) {
  std::string text = "@every ";
  auto append = [&](std::int64_t number, char unit) {
    if (number > 0) text += std::to_string(number) + unit;
  };
  std::int64_t all = interval.count();
  append(all / 86'400, 'd');
  append(all / 3'600 % 24, 'h');
  append(all / 60 % 60, 'm');
  append(all % 60, 's');
  return text;
}

}  // namespace

std::string CronExpression::to_string() const {
  if (interval_) return interval_text(*interval_);
  std::string text;
  if (fields_.seconds != bit(0) || fields_.repeats_second) {
    text = time_field(fields_.seconds, all_seconds, fields_.repeats_second) + ' ';
  }
  text += time_field(fields_.minutes, all_minutes, fields_.repeats_minute) + ' ';
  text += time_field(fields_.hours, all_hours, fields_.repeats_hour) + ' ';
  text += day_field(fields_) + ' ';
  text += (fields_.months == all_months ? "*" : list_of_numbers(fields_.months, all_months)) + ' ';
  return text + weekday_field(fields_);
}

}  // namespace belay::cron
