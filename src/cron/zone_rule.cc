#include "cron/zone_rule.h"

#include <algorithm>
#include <charconv>
#include <utility>

#include "base/in_quotes.h"

namespace belay::cron {
namespace {

using std::chrono::days;
using std::chrono::hours;
using std::chrono::local_days;
using std::chrono::local_seconds;
using std::chrono::seconds;
using std::chrono::sys_seconds;
using std::chrono::year;

bool is_digit(char c) { return c >= '0' && c <= '9'; }
bool is_letter(char c) { return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z'); }

// Reads the parts of a rule one after another. Each function returns nothing, and the text is
// invalid, if the part is missing or out of range.
class RuleReader {
 public:
  explicit RuleReader(std::string_view text) : rest_(text) {}

  bool is_at_end() const { return rest_.empty(); }
  bool is_next(char c) const { return rest_.starts_with(c); }
  bool take(char c) {
    if (!is_next(c)) return false;
    rest_.remove_prefix(1);
    return true;
  }

  // CET, or <+0330>: the name of a time, which has no other use here.
  bool take_name() {
    bool is_quoted = take('<');
    std::size_t length = 0;
    while (length < rest_.size() && is_in_name(rest_[length], is_quoted)) ++length;
    rest_.remove_prefix(length);
    return length >= 3 && (!is_quoted || take('>'));
  }

  // 0 to `max`.
  std::optional<unsigned> number(unsigned max) {
    unsigned value = 0;
    auto [end, error] = std::from_chars(rest_.data(), rest_.data() + rest_.size(), value);
    if (error != std::errc() || value > max || !is_digit(rest_.front())) return std::nullopt;
    rest_.remove_prefix(static_cast<std::size_t>(end - rest_.data()));
    return value;
  }

  // [+-]hours[:minutes[:seconds]]
  std::optional<seconds> time(unsigned hours_max) {
    bool is_negative = take('-');
    if (!is_negative) take('+');
    auto hour = number(hours_max);
    if (!hour) return std::nullopt;
    seconds sum = hours(*hour);
    for (seconds unit : {seconds(60), seconds(1)}) {
      if (!take(':')) break;
      auto part = number(59);
      if (!part) return std::nullopt;
      sum += *part * unit;
    }
    return is_negative ? -sum : sum;
  }

  // ,M3.5.0/3 or ,J60 or ,59
  std::optional<ZoneRule::YearDay> year_day() {
    if (!take(',')) return std::nullopt;
    ZoneRule::YearDay day;
    if (!(take('M') ? month_week(day) : day_number(day))) return std::nullopt;
    day.time = hours(2);
    if (take('/')) {
      auto at = time(167);
      if (!at) return std::nullopt;
      day.time = *at;
    }
    return day;
  }

 private:
  static bool is_in_name(char c, bool is_quoted) {
    return is_letter(c) || (is_quoted && (is_digit(c) || c == '+' || c == '-'));
  }

  bool month_week(ZoneRule::YearDay& day) {
    auto month = number(12);
    if (!month || *month == 0 || !take('.')) return false;
    auto week = number(5);
    if (!week || *week == 0 || !take('.')) return false;
    auto weekday = number(6);
    if (!weekday) return false;
    day.month = *month;
    day.week = *week;
    day.weekday = *weekday;
    return true;
  }

  bool day_number(ZoneRule::YearDay& day) {
    using Kind = ZoneRule::YearDay::Kind;
    day.kind = take('J') ? Kind::without_leap : Kind::with_leap;
    auto number_of_day = number(365);
    if (!number_of_day || (day.kind == Kind::without_leap && *number_of_day == 0)) return false;
    day.day = *number_of_day;
    return true;
  }

  std::string_view rest_;
};

local_days weekday_of_month(year in, unsigned month, unsigned weekday, unsigned week) {
  std::chrono::weekday day(weekday);
  auto of = in / static_cast<int>(month);
  return week == 5 ? local_days(of / day[std::chrono::last]) : local_days(of / day[week]);
}

}  // namespace

local_seconds ZoneRule::YearDay::in(year in) const {
  local_days first(in / 1 / 1);
  switch (kind) {
    case Kind::month_week:
      return weekday_of_month(in, month, weekday, week) + time;
    case Kind::without_leap:
      return first + days(in.is_leap() && day >= 60 ? day : day - 1) + time;
    case Kind::with_leap:
      return first + days(day) + time;
  }
  return first;
}

Result<ZoneRule> ZoneRule::parse(std::string_view text) {
  auto invalid = [&] {
    return error(ErrorCode::invalid, "Invalid time zone rule " + in_quotes(text.substr(0, 100)) +
                                         ": expected one such as CET-1CEST,M3.5.0,M10.5.0/3.");
  };
  RuleReader reader(text);
  ZoneRule rule;
  if (!reader.take_name()) return invalid();
  auto west = reader.time(24);  // the sign is that of POSIX: positive to the west of Greenwich
  if (!west) return invalid();
  rule.standard_ = -*west;
  if (reader.is_at_end()) return rule;

  if (!reader.take_name()) return invalid();
  rule.daylight_ = rule.standard_ + hours(1);
  if (!reader.is_next(',')) {
    auto daylight_west = reader.time(24);
    if (!daylight_west) return invalid();
    rule.daylight_ = -*daylight_west;
  }
  auto begin = reader.year_day();
  auto end = begin ? reader.year_day() : std::nullopt;
  if (!end || !reader.is_at_end()) return invalid();
  rule.daylight_begin_ = *begin;
  rule.daylight_end_ = *end;
  return rule;
}

std::array<ZoneRule::Change, 2> ZoneRule::changes_in(year in) const {
  // Each change is written in the time that applies before it.
  sys_seconds begin(daylight_begin_.in(in).time_since_epoch() - standard_);
  sys_seconds end(daylight_end_.in(in).time_since_epoch() - *daylight_);
  std::array<Change, 2> changes{Change{begin, *daylight_}, Change{end, standard_}};
  if (end < begin) std::swap(changes[0], changes[1]);
  return changes;
}

}  // namespace belay::cron
