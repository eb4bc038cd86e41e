#include "tests/cron/random_expression.h"

#include <algorithm>

namespace belay::cron {
namespace {

constexpr std::array<const char*, 7> kWeekdays = {"SUN", "MON", "TUE", "WED", "THU", "FRI", "SAT"};
constexpr std::array<const char*, 12> kMonths = {"JAN", "FEB", "MAR", "APR", "MAY", "JUN",
                                                 "JUL", "AUG", "SEP", "OCT", "NOV", "DEC"};

class Maker {
 public:
  Maker(std::mt19937_64& random, Syntax syntax)
      : random_(random), is_portable_(syntax == Syntax::portable) {}

  RandomExpression make() {
    if (chance(4)) {
      made_.has_seconds = true;
      made_.text += times(made_.seconds, 30) + " ";
    } else {
      made_.seconds[0] = true;
    }
    made_.text += times(made_.minutes, 60) + " ";
    made_.text += times(made_.hours, 40) + " ";
    made_.text += day_field() + " ";
    made_.text += month_field() + " ";
    made_.text += weekday_field();
    return made_;
  }

 private:
  int number(int first, int last) {
    return std::uniform_int_distribution<int>(first, last)(random_);
  }
  bool chance(int one_in) { return number(1, one_in) == 1; }
  bool percent(int share) { return number(1, 100) <= share; }

  // Writes some letters of a name in lower case.
  std::string name(const char* text) {
    std::string made(text);
    for (char& c : made) {
      if (chance(3)) c = static_cast<char>(c - 'A' + 'a');
    }
    return made;
  }

  // An item such as 5, 5-20, */15, 5-20/3, 5/10 or 50-10; sets its values from `min` on.
  template <std::size_t N>
  std::string item(std::array<bool, N>& values, int min, int max, bool* repeats) {
    const int size = max - min + 1;
    int first = number(min, max);
    int last = number(min, max);
    const int kind = number(1, 6);
    if (kind <= 3) {
      values[static_cast<std::size_t>(first)] = true;
      return std::to_string(first);
    }
    int step = kind == 4 ? 1 : number(1, std::max(1, size / 2));
    std::string text;
    const bool is_wildcard = kind == 6 && chance(2);
    if (is_wildcard) {
      first = min;
      last = max;
      text = "*";
      // croner takes the days */1 for a restriction.
      if (is_portable_) step = std::max(step, 2);
      if (step == 1) permits_all_ = true;
    } else if (kind == 6 && !is_portable_) {
      last = max;
      text = std::to_string(first);
    } else {
      if (is_portable_ && last < first) std::swap(first, last);
      // For croner, a step that yields one value repeats, too.
      if (is_portable_ && kind >= 5) {
        last = max;
        step = std::min(step, std::max(1, last - first));
        if (last == first) first = min;
      }
      text = std::to_string(first) + "-" + std::to_string(last);
    }
    int count = 0;
    for (int value = first;; value += step) {
      int beyond = last >= first ? last : last + size;
      if (value > beyond) break;
      values[static_cast<std::size_t>((value - min) % size + min)] = true;
      ++count;
    }
    if (kind >= 5) text += "/" + std::to_string(step);
    if (repeats != nullptr && (is_wildcard || (kind >= 5 && count > 1))) *repeats = true;
    return text;
  }

  template <std::size_t N>
  std::string times(std::array<bool, N>& values, int wildcards) {
    if (percent(wildcards / 4)) {
      values.fill(true);
      made_.repeats = true;
      return "*";
    }
    std::string text = item(values, 0, static_cast<int>(N) - 1, &made_.repeats);
    while (chance(3)) text += "," + item(values, 0, static_cast<int>(N) - 1, &made_.repeats);
    return text;
  }

  std::string month_field() {
    if (!chance(3)) {
      made_.months.fill(true);
      return "*";
    }
    std::string text;
    do {
      if (!text.empty()) text += ",";
      if (chance(3)) {
        int month = number(1, 12);
        made_.months[static_cast<std::size_t>(month)] = true;
        text += name(kMonths[static_cast<std::size_t>(month - 1)]);
      } else {
        text += item(made_.months, 1, 12, nullptr);
      }
    } while (chance(3));
    return text;
  }

  std::string special_day() {
    int day = number(1, 31);
    switch (number(1, is_portable_ ? 3 : 4)) {
      case 1:
        made_.days.push_back({DayItem::Kind::before_last, 0});
        return "L";
      case 2:
        made_.days.push_back({DayItem::Kind::last_workday});
        return "LW";
      case 3:
        made_.days.push_back({DayItem::Kind::near_day, day});
        return std::to_string(day) + "W";
      default:
        day = number(1, 30);
        made_.days.push_back({DayItem::Kind::before_last, day});
        return "L-" + std::to_string(day);
    }
  }

  std::string day_field() {
    if (!chance(3)) return !is_portable_ && chance(4) ? "?" : "*";
    if (chance(3)) return special_day();
    std::array<bool, 32> values{};
    permits_all_ = false;
    std::string text = item(values, 1, 31, nullptr);
    while (chance(2)) text += "," + item(values, 1, 31, nullptr);
    if (permits_all_) return text;  // */1 is a wildcard, which permits every day
    for (int day = 1; day <= 31; ++day) {
      if (values[static_cast<std::size_t>(day)]) {
        made_.days.push_back({DayItem::Kind::day, day});
      }
    }
    return !is_portable_ && chance(5) ? text + "," + special_day() : text;
  }

  std::string weekday_item() {
    int first = number(0, 7);
    auto written = [&](int weekday) {
      return chance(2) ? name(kWeekdays[static_cast<std::size_t>(weekday % 7)])
                       : std::to_string(weekday);
    };
    auto add = [&](int weekday) {
      made_.weekdays.push_back({DayItem::Kind::weekday, weekday % 7});
    };
    switch (number(1, 6)) {
      case 1: {
        int which = number(1, 5);
        made_.weekdays.push_back({DayItem::Kind::nth_weekday, first % 7, which});
        return written(first) + "#" + std::to_string(which);
      }
      case 2: {
        made_.weekdays.push_back({DayItem::Kind::last_weekday, first % 7});
        return written(first) + (!is_portable_ && chance(2) ? "L" : "#L");
      }
      case 3: {
        first = number(0, 5);
        int last = number(first + 1, 6);
        for (int day = first; day <= last; ++day) add(day);
        return std::to_string(first) + "-" + std::to_string(last);
      }
      case 4: {
        if (is_portable_) break;
        first = number(0, 6);
        int length = number(1, 5);
        for (int day = first; day <= first + length; ++day) add(day);
        return name(kWeekdays[static_cast<std::size_t>(first)]) + "-" +
               name(kWeekdays[static_cast<std::size_t>((first + length) % 7)]);
      }
      default:
        break;
    }
    add(first);
    return written(first);
  }

  std::string weekday_field() {
    if (!chance(3)) return !is_portable_ && chance(4) ? "?" : "*";
    std::string text = weekday_item();
    while (chance(3)) text += "," + weekday_item();
    made_.requires_both = chance(3);
    return (made_.requires_both ? "+" : "") + text;
  }

  std::mt19937_64& random_;
  const bool is_portable_;
  RandomExpression made_;
  bool permits_all_ = false;  // the item of the field's list was */1
};

bool matches_item(const DayItem& item, int year, int month, int day) {
  const int length = days_in_month(year, month);
  const int weekday = weekday_of(year, month, day);
  auto is_workday = [&](int each) {
    int other = weekday_of(year, month, each);
    return other != 0 && other != 6;
  };
  switch (item.kind) {
    case DayItem::Kind::day:
      return day == item.number;
    case DayItem::Kind::before_last:
      return day == length - item.number;
    case DayItem::Kind::last_workday: {
      int last = length;
      while (!is_workday(last)) --last;
      return day == last;
    }
    case DayItem::Kind::near_day:
      if (item.number > length) return false;
      for (int distance : {0, -1, 1, -2, 2}) {
        int near = item.number + distance;
        if (near >= 1 && near <= length && is_workday(near)) return day == near;
      }
      return false;
    case DayItem::Kind::weekday:
      return weekday == item.number;
    case DayItem::Kind::nth_weekday:
      return weekday == item.number && (day - 1) / 7 + 1 == item.which;
    case DayItem::Kind::last_weekday:
      return weekday == item.number && day + 7 > length;
  }
  return false;
}

}  // namespace

int days_in_month(int year, int month) {
  constexpr std::array<int, 12> kDays = {31, 28, 31, 30, 31, 30, 31, 31, 30, 31, 30, 31};
  const bool is_leap = year % 4 == 0 && (year % 100 != 0 || year % 400 == 0);
  return kDays[static_cast<std::size_t>(month - 1)] + (month == 2 && is_leap ? 1 : 0);
}

// Sakamoto's method.
int weekday_of(int year, int month, int day) {
  constexpr std::array<int, 12> kOffsets = {0, 3, 2, 5, 0, 3, 5, 1, 4, 6, 2, 4};
  if (month < 3) --year;
  return (year + year / 4 - year / 100 + year / 400 +
          kOffsets[static_cast<std::size_t>(month - 1)] + day) %
         7;
}

bool RandomExpression::matches_day(int year, int month, int day) const {
  if (!months[static_cast<std::size_t>(month)]) return false;
  auto any_of = [&](const std::vector<DayItem>& items) {
    return std::any_of(items.begin(), items.end(),
                       [&](const DayItem& item) { return matches_item(item, year, month, day); });
  };
  if (days.empty() && weekdays.empty()) return true;
  if (days.empty()) return any_of(weekdays);
  if (weekdays.empty()) return any_of(days);
  return requires_both ? any_of(days) && any_of(weekdays) : any_of(days) || any_of(weekdays);
}

bool RandomExpression::matches(const CivilTime& time) const {
  return seconds[static_cast<std::size_t>(time.second)] &&
         minutes[static_cast<std::size_t>(time.minute)] &&
         hours[static_cast<std::size_t>(time.hour)] && matches_day(time.year, time.month, time.day);
}

RandomExpression random_expression(std::mt19937_64& random, Syntax syntax) {
  return Maker(random, syntax).make();
}

}  // namespace belay::cron
