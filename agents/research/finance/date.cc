#include "agents/research/finance/date.h"

#include <chrono>
#include <cstddef>
#include <cstdio>

namespace belay::research {
namespace {

constexpr std::size_t kMonthLength = 7;  // "YYYY-MM"
constexpr std::size_t kDateLength = 10;  // "YYYY-MM-DD"

std::chrono::year_month_day calendar_day(Date date) {
  return std::chrono::year_month_day{std::chrono::sys_days{std::chrono::days{date.days}}};
}

// Empty unless `text` consists of digits.
std::optional<int> calendar_number(std::string_view text) {
  int number = 0;
  for (const char digit : text) {
    if (digit < '0' || digit > '9') return std::nullopt;
    number = number * 10 + (digit - '0');
  }
  return number;
}

// `text` must have at least 7 characters.
std::optional<Month> calendar_month(std::string_view text) {
  const auto year = calendar_number(text.substr(0, 4));
  const auto month = calendar_number(text.substr(5, 2));
  if (!year || !month || text[4] != '-') return std::nullopt;
  if (*year < 1 || *month < 1 || *month > 12) return std::nullopt;
  return Month{*year * 12 + *month - 1};
}

}  // namespace

std::optional<Date> Date::parse(std::string_view text) {
  if (text.size() != kDateLength || text[kMonthLength] != '-') return std::nullopt;
  const auto month = calendar_month(text);
  const auto day = calendar_number(text.substr(kMonthLength + 1));
  if (!month || !day) return std::nullopt;
  const std::chrono::year_month_day date{
      std::chrono::year{month->months / 12},
      std::chrono::month{static_cast<unsigned>(month->months % 12 + 1)},
      std::chrono::day{static_cast<unsigned>(*day)}};
  if (!date.ok()) return std::nullopt;
  return Date{static_cast<std::int32_t>(std::chrono::sys_days{date}.time_since_epoch().count())};
}

std::string Date::text() const {
  char buffer[32];
  std::snprintf(buffer, sizeof buffer, "%04d-%02d-%02d", year(), month(), day());
  return buffer;
}

int Date::year() const { return static_cast<int>(calendar_day(*this).year()); }

int Date::month() const {
  return static_cast<int>(static_cast<unsigned>(calendar_day(*this).month()));
}

int Date::day() const { return static_cast<int>(static_cast<unsigned>(calendar_day(*this).day())); }

std::optional<Month> Month::parse(std::string_view text) {
  if (text.size() == kMonthLength) return calendar_month(text);
  const auto date = Date::parse(text);
  if (!date) return std::nullopt;
  return of(*date);
}

Month Month::of(Date date) { return Month{date.year() * 12 + date.month() - 1}; }

std::string Month::text() const {
  char buffer[32];
  std::snprintf(buffer, sizeof buffer, "%04d-%02d", months / 12, months % 12 + 1);
  return buffer;
}

}  // namespace belay::research
