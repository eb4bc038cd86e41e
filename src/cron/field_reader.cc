#include "cron/field_reader.h"

#include <algorithm>
#include <charconv>
#include <optional>
#include <utility>

#include "base/in_quotes.h"
#include "cron/expression.h"
#include "cron/shown_text.h"

namespace belay::cron {
namespace {

constexpr std::array<std::string_view, 12> kMonthNames = {"JAN", "FEB", "MAR", "APR", "MAY", "JUN",
                                                          "JUL", "AUG", "SEP", "OCT", "NOV", "DEC"};

constexpr std::string_view kDigits = "0123456789";

struct FieldKind {
  std::string_view name;
  std::string_view permitted;
  unsigned min;
  unsigned max;                             // the highest value of * and of 5/10
  std::span<const std::string_view> names;  // of the values from `min` on
  char interval_unit = '\0';                // of @every, for steps that are too large
};

constexpr FieldKind kSecond{"second", "0 to 59", 0, 59, {}, 's'};
constexpr FieldKind kMinute{"minute", "0 to 59", 0, 59, {}, 'm'};
constexpr FieldKind kHour{"hour", "0 to 23", 0, 23, {}, 'h'};
constexpr FieldKind kDay{"day of month", "1 to 31, L, L-3, LW or 15W", 1, 31, {}, 'd'};
constexpr FieldKind kMonth{"month", "1 to 12 or JAN to DEC", 1, 12, kMonthNames};
constexpr FieldKind kWeekday{"day of week", "0 to 7, SUN to SAT, FRI#2 or FRI#L", 0, 6,
                             weekday_names};

std::string in_capitals(std::string_view text) {
  std::string capitals(text);
  for (char& c : capitals) {
    if (c >= 'a' && c <= 'z') c = static_cast<char>(c - 'a' + 'A');
  }
  return capitals;
}

std::optional<unsigned> number_of(std::string_view text) {
  unsigned number = 0;
  auto [end, failed] = std::from_chars(text.data(), text.data() + text.size(), number);
  if (failed != std::errc() || end != text.data() + text.size()) return std::nullopt;
  return number;
}

// The values of one field. `item` is always a part of the list, in capitals.
class FieldReader {
 public:
  FieldReader(const FieldKind& kind, Fields& fields) : kind_(kind), fields_(fields) {}

  // Adds the values of a comma-separated list.
  Result<Done> read(std::string_view list) {
    const std::string capitals = in_capitals(list);
    for (std::size_t at = 0; at <= capitals.size();) {
      std::size_t comma = std::min(capitals.find(',', at), capitals.size());
      std::string_view item = std::string_view(capitals).substr(at, comma - at);
      if (item.empty()) return fault(list, "has an empty value. Use " + permitted());
      if (item == "?" && item.size() != list.size()) {
        return fault(list, "must be only a ?, or have none");
      }
      BELAY_CHECK(read_item(item));
      at = comma + 1;
    }
    return Done{};
  }

  Bits values() const { return values_; }
  bool repeats() const { return repeats_; }
  // True if every value is permitted because of a wildcard, and not because of a list of all
  // values.
  bool is_unrestricted() const { return is_unrestricted_; }

 private:
  Error fault(std::string_view item, const std::string& problem) const {
    return error(ErrorCode::invalid,
                 std::string(kind_.name) + " " + in_quotes(shown_text(item)) + " " + problem + ".");
  }
  std::string permitted() const { return std::string(kind_.permitted); }
  bool is_day() const { return &kind_ == &kDay; }
  bool is_weekday() const { return &kind_ == &kWeekday; }

  Result<Done> read_item(std::string_view item) {
    if (item == "?") {
      if (is_day() || is_weekday()) return read_range("*", item, std::nullopt);
      return fault(item, "is possible only as day of month or day of week. Use *");
    }
    if (is_day() && (item.find_first_of("LW") != item.npos)) return read_special_day(item);
    if (is_weekday() && item.find('#') != item.npos) return read_nth_weekday(item);
    if (is_weekday() && item.ends_with('L')) return read_last_weekday(item);
    std::size_t slash = item.find('/');
    if (slash == item.npos) return read_range(item, item, std::nullopt);
    auto step = number_of(item.substr(slash + 1));
    if (!step || *step == 0 || *step > kind_.max) return step_fault(item, step);
    return read_range(item.substr(0, slash), item, step);
  }

  Error step_fault(std::string_view item, std::optional<unsigned> step) const {
    std::string problem = "must have a step from 1 to " + std::to_string(kind_.max);
    if (step && *step > 0 && kind_.interval_unit != '\0') {
      problem += ". For an interval, use @every " + std::to_string(*step) + kind_.interval_unit;
    }
    return fault(item, problem);
  }

  // Adds *, 5, 5-20, 5/10 or 5-20/3; `range` is the part of `item` before the step.
  Result<Done> read_range(std::string_view range, std::string_view item,
                          std::optional<unsigned> step) {
    unsigned first = kind_.min;
    unsigned last = kind_.max;
    if (range == "*") {
      if (step.value_or(1) == 1) is_unrestricted_ = true;
    } else {
      std::size_t dash = range.find('-');
      BELAY_TRY(first, value_of(range.substr(0, dash), item));
      if (dash != range.npos) {
        BELAY_TRY(last, value_of(range.substr(dash + 1), item));
      } else if (!step) {
        last = first;
      }
    }
    std::size_t added = add_values(first, last, step.value_or(1));
    // A step that yields one value, such as 50/15, repeats nothing.
    if (range == "*" || (step && added > 1)) repeats_ = true;
    return Done{};
  }

  // Adds every `step`-th value from `first` to `last`, and returns their number.
  std::size_t add_values(unsigned first, unsigned last, unsigned step) {
    const unsigned size = kind_.max - kind_.min + 1;
    if (is_weekday() && first == 7 && last != 7) first = 0;
    // Beyond the highest value, a range continues at the beginning.
    const unsigned length = last >= first ? last - first : last + size - first;
    std::size_t added = 0;
    for (unsigned i = 0; i <= length; i += step) {
      values_ |= bit(kind_.min + (first - kind_.min + i) % size);
      ++added;
    }
    return added;
  }

  Result<unsigned> value_of(std::string_view text, std::string_view item) const {
    unsigned highest = is_weekday() ? 7 : kind_.max;
    if (auto number = number_of(text)) {
      if (*number >= kind_.min && *number <= highest) return *number;
      return fault(item, "is out of range. Use " + permitted());
    }
    if (!text.empty() && text.find_first_not_of(kDigits) == text.npos) {  // more than 32 bits
      return fault(item, "is out of range. Use " + permitted());
    }
    for (std::size_t i = 0; i < kind_.names.size(); ++i) {
      if (text == kind_.names[i]) return static_cast<unsigned>(i) + kind_.min;
    }
    return fault(item, "cannot be read. Use " + permitted());
  }

  // Adds L, L-3, LW or 15W.
  Result<Done> read_special_day(std::string_view item) {
    if (item == "LW") {
      fields_.last_workday = true;
    } else if (item == "L") {
      fields_.days_before_last |= bit(0);
    } else if (item.starts_with("L-")) {
      auto before = number_of(item.substr(2));
      if (!before || *before < 1 || *before > 30) {
        return fault(item, "must have a number from 1 to 30 after L-");
      }
      fields_.days_before_last |= bit(*before);
    } else if (item.ends_with('W')) {
      BELAY_TRY(unsigned day, value_of(item.substr(0, item.size() - 1), item));
      fields_.near_days |= bit(day);
    } else {
      return fault(item, "cannot be read. Use " + permitted());
    }
    return Done{};
  }

  // Adds FRI#2 or FRI#L.
  Result<Done> read_nth_weekday(std::string_view item) {
    std::size_t sign = item.find('#');
    BELAY_TRY(unsigned weekday, value_of(item.substr(0, sign), item));
    std::string_view which = item.substr(sign + 1);
    if (which == "L") {
      fields_.last_weekdays |= bit(weekday % 7);
      return Done{};
    }
    auto number = number_of(which);
    if (!number || *number < 1 || *number > fields_.nth_weekdays.size()) {
      return fault(item, "must have a number from 1 to 5, or L, after the #");
    }
    fields_.nth_weekdays[*number - 1] |= bit(weekday % 7);
    return Done{};
  }

  // Adds FRIL.
  Result<Done> read_last_weekday(std::string_view item) {
    if (item == "L") {
      return fault(item, "lacks its day. Write FRI#L for the last Friday of a month");
    }
    BELAY_TRY(unsigned weekday, value_of(item.substr(0, item.size() - 1), item));
    fields_.last_weekdays |= bit(weekday % 7);
    return Done{};
  }

  const FieldKind& kind_;
  Fields& fields_;
  Bits values_ = 0;
  bool repeats_ = false;
  bool is_unrestricted_ = false;
};

// Sets the members of the two fields of days, so that rules that permit the same days have equal
// members. A list of all values is a restriction that permits every day.
void set_days(Fields& fields, const FieldReader& day, const FieldReader& weekday, bool both) {
  const bool all_listed_days = day.values() == all_days && !day.is_unrestricted();
  const bool all_listed_weekdays = weekday.values() == all_weekdays && !weekday.is_unrestricted();
  fields.any_day = day.is_unrestricted();
  fields.any_weekday = weekday.is_unrestricted();
  if (all_listed_days && (both || weekday.is_unrestricted())) fields.any_day = true;
  if (all_listed_weekdays && (both || day.is_unrestricted())) fields.any_weekday = true;
  if (!fields.any_day && !fields.any_weekday && (all_listed_days || all_listed_weekdays)) {
    fields.any_day = true;
    fields.any_weekday = true;
  }
  fields.both_days = both && !fields.any_day && !fields.any_weekday;
  fields.days = day.values();
  fields.weekdays = weekday.values();
  if (fields.any_day) {
    fields.days = fields.days_before_last = fields.near_days = 0;
    fields.last_workday = false;
  }
  if (fields.any_weekday) {
    fields.weekdays = fields.last_weekdays = 0;
    fields.nth_weekdays = {};
  }
}

Result<Done> read_times(const std::vector<std::string_view>& texts, Fields& fields) {
  std::size_t next = 0;
  if (texts.size() == 6) {
    FieldReader second(kSecond, fields);
    BELAY_CHECK(second.read(texts[next++]));
    fields.seconds = second.values();
    fields.repeats_second = second.repeats();
  }
  FieldReader minute(kMinute, fields);
  BELAY_CHECK(minute.read(texts[next++]));
  fields.minutes = minute.values();
  fields.repeats_minute = minute.repeats();
  FieldReader hour(kHour, fields);
  BELAY_CHECK(hour.read(texts[next]));
  fields.hours = hour.values();
  fields.repeats_hour = hour.repeats();
  return Done{};
}

}  // namespace

Result<Fields> read_fields(const std::vector<std::string_view>& texts) {
  Fields fields;
  BELAY_CHECK(read_times(texts, fields));
  const std::size_t first_day_field = texts.size() - 3;
  FieldReader day(kDay, fields);
  BELAY_CHECK(day.read(texts[first_day_field]));
  FieldReader month(kMonth, fields);
  BELAY_CHECK(month.read(texts[first_day_field + 1]));
  fields.months = month.values();
  std::string_view weekday_text = texts[first_day_field + 2];
  const bool both = weekday_text.starts_with('+');
  if (both) weekday_text.remove_prefix(1);
  FieldReader weekday(kWeekday, fields);
  BELAY_CHECK(weekday.read(weekday_text));
  set_days(fields, day, weekday, both);
  return fields;
}

Result<std::chrono::seconds> read_interval(std::string_view text) {
  auto invalid = [&](std::string_view problem) {
    return error(ErrorCode::invalid,
                 "interval " + in_quotes(shown_text(text)) + " " + std::string(problem));
  };
  struct Unit {
    char letter;
    std::chrono::seconds duration;
  };
  constexpr std::array<Unit, 4> kUnits = {{{'D', std::chrono::days(1)},
                                           {'H', std::chrono::hours(1)},
                                           {'M', std::chrono::minutes(1)},
                                           {'S', std::chrono::seconds(1)}}};
  const std::string capitals = in_capitals(text);
  std::string_view rest = capitals;
  std::chrono::seconds sum{0};
  for (const Unit& unit : kUnits) {
    std::size_t digits = std::min(rest.find_first_not_of(kDigits), rest.size());
    if (digits == 0 || digits == rest.size() || rest[digits] != unit.letter) continue;
    auto number = number_of(rest.substr(0, digits));
    // The longest interval has 31,622,400 seconds; this also prevents an overflow.
    if (!number || *number > 100'000'000) return invalid("is too long. Use at most 366d.");
    sum += *number * unit.duration;
    rest.remove_prefix(digits + 1);
  }
  if (!rest.empty() || capitals.empty()) {
    return invalid(
        "cannot be read. Use whole days, hours, minutes and seconds such as 90s or "
        "1h30m.");
  }
  if (sum < std::chrono::seconds(1)) return invalid("is too short. Use at least 1s.");
  if (sum > interval_max) return invalid("is too long. Use at most 366d.");
  return sum;
}

}  // namespace belay::cron
