#pragma once
// cron/english_list.h - words for the sets of values in the description of an expression.

#include <string>
#include <string_view>
#include <vector>

#include "cron/fields.h"

namespace belay::cron {

// a, b and c
std::string joined_words(const std::vector<std::string>& words, std::string_view conjunction);

// 2nd, 3rd, 11th
std::string ordinal(unsigned number);

// "every minute" if the set is `all`, otherwise "minute 5", "minutes 5, 20 and 35 to 40" or "every
// 7th minute from 0 to 56".
std::string counted_values(std::string_view noun, Bits set, Bits all);

// "Monday, Wednesday and Friday", "Monday to Friday"
std::string weekday_words(Bits weekdays, std::string_view conjunction);
std::string weekday_word(unsigned weekday);
// "January", "June to August"
std::string month_words(Bits months);

}  // namespace belay::cron
