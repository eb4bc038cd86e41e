#include "cron/expression.h"

#include <algorithm>
#include <array>
#include <utility>
#include <vector>

#include "base/in_quotes.h"
#include "cron/field_reader.h"
#include "cron/local_times.h"
#include "cron/shown_text.h"

namespace belay::cron {
namespace {

struct Macro {
  std::string_view name;
  std::string_view fields;
};
constexpr std::array<Macro, 7> kMacros = {{{"@yearly", "0 0 1 1 *"},
                                           {"@annually", "0 0 1 1 *"},
                                           {"@monthly", "0 0 1 * *"},
                                           {"@weekly", "0 0 * * 0"},
                                           {"@daily", "0 0 * * *"},
                                           {"@midnight", "0 0 * * *"},
                                           {"@hourly", "0 * * * *"}}};
constexpr std::string_view kEvery = "@every";

Error invalid(std::string_view text, const std::string& fault) {
  return error(ErrorCode::invalid,
               "Invalid cron expression " + in_quotes(shown_text(text)) + ": " + fault);
}

char lower(char c) { return c >= 'A' && c <= 'Z' ? static_cast<char>(c - 'A' + 'a') : c; }

bool equal_in_any_case(std::string_view one, std::string_view other) {
  return std::equal(one.begin(), one.end(), other.begin(), other.end(),
                    [](char a, char b) { return lower(a) == lower(b); });
}

std::vector<std::string_view> words_of(std::string_view text) {
  constexpr std::string_view kSpace = " \t";
  std::vector<std::string_view> words;
  for (std::size_t at = text.find_first_not_of(kSpace); at != text.npos;
       at = text.find_first_not_of(kSpace, at)) {
    std::size_t end = std::min(text.find_first_of(kSpace, at), text.size());
    words.push_back(text.substr(at, end - at));
    at = end;
  }
  return words;
}

// Returns the fault of a text with a word that begins with @ and is not a complete expression.
std::string macro_fault(std::string_view word) {
  for (const Macro& each : kMacros) {
    if (equal_in_any_case(word, each.name)) {
      return in_quotes(word) + " is a complete expression. Remove the text after it.";
    }
  }
  return in_quotes(shown_text(word)) +
         " is not the name of a schedule. Use @yearly, @monthly, @weekly, @daily, @hourly, or an "
         "interval such as @every 90s.";
}

Result<Done> check_shape(const std::vector<std::string_view>& words) {
  auto refuse = [](std::string fault) { return error(ErrorCode::invalid, std::move(fault)); };
  if (words.empty()) {
    return refuse("it is empty. Write 5 fields such as 0 9 * * MON-FRI, or a name such as @daily.");
  }
  if (words.front().starts_with('@')) return refuse(macro_fault(words.front()));
  if (words.front().find('=') != words.front().npos) {
    return refuse(in_quotes(shown_text(words.front())) +
                  " is not a field. Set the time zone in the schedule, not in its expression.");
  }
  if (words.size() != 5 && words.size() != 6) {
    return refuse(
        "it has " + std::to_string(words.size()) + (words.size() == 1 ? " field" : " fields") +
        ". Write 5 (minute, hour, day of month, month, day of week) or 6 (second first).");
  }
  return Done{};
}

// True if a date matches. The search ends after 400 years, when the calendar repeats.
bool can_match(const Fields& fields) {
  return next_match(fields, LocalTime(std::chrono::local_days(std::chrono::year(2000) / 1 / 1)))
      .has_value();
}

}  // namespace

Result<CronExpression> CronExpression::parse(std::string_view text) {
  if (text.size() > expression_bytes_max) {
    return invalid(text, "it has " + std::to_string(text.size()) + " bytes. Write at most " +
                             std::to_string(expression_bytes_max) + ".");
  }
  std::vector<std::string_view> words = words_of(text);
  if (words.size() == 2 && equal_in_any_case(words.front(), kEvery)) {
    auto interval = read_interval(words.back());
    if (!interval.ok()) return invalid(text, interval.error().message);
    return CronExpression(*interval);
  }
  if (words.size() == 1) {
    for (const Macro& macro : kMacros) {
      if (equal_in_any_case(words.front(), macro.name)) words = words_of(macro.fields);
    }
  }
  if (auto shape = check_shape(words); !shape.ok()) return invalid(text, shape.error().message);
  auto fields = read_fields(words);
  if (!fields.ok()) return invalid(text, fields.error().message);
  if (!can_match(*fields)) {
    return invalid(text,
                   "no date matches its day of month, month and day of week, so that it never "
                   "fires. Change one of these fields.");
  }
  return CronExpression(*fields);
}

}  // namespace belay::cron
