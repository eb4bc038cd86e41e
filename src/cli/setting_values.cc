// Parses the texts of settings and options.

#include <algorithm>
#include <charconv>

#include "belay/limits.h"
#include "cli/settings.h"

namespace belay::cli {
namespace {

constexpr std::chrono::hours kDurationMax{24 * 30};

}  // namespace

std::string shown_value(std::string_view text) { return "\"" + shortened(text, 60, "...") + "\""; }

Result<std::chrono::milliseconds> duration_from(std::string_view what, std::string_view text) {
  std::int64_t number = 0;
  auto [end, fault] = std::from_chars(text.data(), text.data() + text.size(), number);
  std::string_view unit(end, static_cast<std::size_t>(text.data() + text.size() - end));
  std::int64_t factor = 0;
  for (auto [name, milliseconds] : {std::pair<std::string_view, std::int64_t>("ms", 1),
                                    {"s", 1'000},
                                    {"m", 60'000},
                                    {"h", 3'600'000},
                                    {"d", 86'400'000}}) {
    if (unit == name) factor = milliseconds;
  }
  std::int64_t most = std::chrono::milliseconds(kDurationMax).count();
  if (fault == std::errc() && factor > 0 && number > 0 && number <= most / factor) {
    return std::chrono::milliseconds(number * factor);
  }
  return error(ErrorCode::invalid, std::string(what) + " is " + shown_value(text) +
                                       ". Provide a time such as 90s, 30m, 2h or 1d, at most 30d.");
}

Result<int> attempts_from(std::string_view what, std::string_view text) {
  BELAY_TRY(std::int64_t attempts, whole_number(what, text, 1, limits::run_attempts_max));
  return static_cast<int>(attempts);
}

Result<std::chrono::milliseconds> timeout_from(std::string_view what, std::string_view text) {
  std::int64_t most = std::chrono::milliseconds(limits::run_timeout_max).count();
  BELAY_TRY(std::int64_t timeout, whole_number(what, text, 1, most));
  return std::chrono::milliseconds(timeout);
}

Result<bool> truth_from(std::string_view what, std::string_view text) {
  for (std::string_view yes : {"true", "1", "yes", "on"}) {
    if (text == yes) return true;
  }
  for (std::string_view no : {"false", "0", "no", "off"}) {
    if (text == no) return false;
  }
  return error(ErrorCode::invalid,
               std::string(what) + " is " + shown_value(text) + ". Set it to true or false.");
}

}  // namespace belay::cli

namespace belay {

Result<std::int64_t> whole_number(std::string_view what, std::string_view text, std::int64_t least,
                                  std::int64_t most) {
  std::int64_t number = 0;
  auto [rest, fault] = std::from_chars(text.data(), text.data() + text.size(), number);
  if (fault == std::errc() && rest == text.data() + text.size() && number >= least &&
      number <= most) {
    return number;
  }
  return error(ErrorCode::invalid, std::string(what) + " is " + cli::shown_value(text) +
                                       ". Provide a whole number from " + std::to_string(least) +
                                       " to " + std::to_string(most) + ".");
}

Result<std::int64_t> money_from(std::string_view what, std::string_view text) {
  std::size_t point = std::min(text.find('.'), text.size());
  std::string whole(text.substr(0, point));
  std::string part(point < text.size() ? text.substr(point + 1) : "");
  bool is_money = !whole.empty() && part.size() <= 6 && (point == text.size() || !part.empty()) &&
                  (whole + part).find_first_not_of("0123456789") == std::string::npos;
  if (!is_money) {
    return error(ErrorCode::invalid,
                 std::string(what) + " is invalid: expected an amount such as 2 or 1.50.");
  }
  part.resize(6, '0');
  return whole_number(what, whole + part, 0, limits::budget_max);
}

}  // namespace belay
