#include "cron/english_list.h"

#include <array>
#include <functional>

#include "cron/value_runs.h"

namespace belay::cron {
namespace {

constexpr std::array<std::string_view, 7> kWeekdays = {"Sunday",   "Monday", "Tuesday", "Wednesday",
                                                       "Thursday", "Friday", "Saturday"};
constexpr std::array<std::string_view, 13> kMonths = {
    "",     "January", "February",  "March",   "April",    "May",     "June",
    "July", "August",  "September", "October", "November", "December"};

// Returns the values with each run of three or more as "first to last".
std::vector<std::string> run_words(Bits set, const std::function<std::string(unsigned)>& word) {
  std::vector<std::string> words;
  for (const Progression& run : runs_of(set)) {
    if (run.size() >= 3) {
      words.push_back(word(run.first) + " to " + word(run.last));
      continue;
    }
    for (unsigned value = run.first; value <= run.last; ++value) words.push_back(word(value));
  }
  return words;
}

}  // namespace

std::string joined_words(const std::vector<std::string>& words, std::string_view conjunction) {
  std::string text;
  for (std::size_t i = 0; i < words.size(); ++i) {
    if (i > 0 && i + 1 == words.size()) {
      text += " " + std::string(conjunction) + " ";
    } else if (i > 0) {
      text += ", ";
    }
    text += words[i];
  }
  return text;
}

std::string ordinal(unsigned number) {
  constexpr std::array<std::string_view, 4> kEndings = {"th", "st", "nd", "rd"};
  const bool is_teen = number / 10 % 10 == 1;
  const unsigned last = number % 10;
  return std::to_string(number) + std::string(kEndings[is_teen || last > 3 ? 0 : last]);
}

std::string counted_values(std::string_view noun, Bits set, Bits all) {
  if (set == all) return "every " + std::string(noun);
  if (auto steps = complete_progression(set); steps && steps->size() >= 4) {
    return "every " + ordinal(steps->step) + " " + std::string(noun) + " from " +
           std::to_string(steps->first) + " to " + std::to_string(steps->last);
  }
  auto number = [](unsigned value) { return std::to_string(value); };
  return std::string(noun) + (count_of(set) > 1 ? "s " : " ") +
         joined_words(run_words(set, number), "and");
}

std::string weekday_word(unsigned weekday) { return std::string(kWeekdays[weekday % 7]); }

std::string weekday_words(Bits weekdays, std::string_view conjunction) {
  return joined_words(run_words(from_monday(weekdays), weekday_word), conjunction);
}

std::string month_words(Bits months) {
  auto word = [](unsigned month) { return std::string(kMonths[month]); };
  return joined_words(run_words(months, word), "and");
}

}  // namespace belay::cron
