#pragma once
// agents/research/report/readable_number.h - numbers as people read them, and exactly.

#include <string>
#include <string_view>

namespace belay::research::report {

// Returns the shortest text that reads back as the same double: "0.4690516410716045". Numbers of
// a common size have no power of ten.
std::string exact_number(double value);
// Returns the same with a comma after each three digits: "195,201,000,000".
std::string grouped_number(double value);

// Returns two to four significant digits of a figure, without its unit unless that is a percent
// sign or a magnitude (mn, bn, tn): 416161000000 USD is "416.2 bn", a ratio of 0.469 is "46.9%" if
// `as_percentage`, else "0.469". Whole numbers of counts, days and scores are shown unchanged. A
// negative number begins with U+2212. Numbers of more than 15 digits have a power of ten.
std::string readable_number(double value, std::string_view unit, bool as_percentage);

// Returns the unit as people read it: "USD per share" for "USD/shares".
std::string readable_unit(std::string_view unit);

// Whether the unit is an amount of money: three capital letters.
bool is_currency(std::string_view unit);

}  // namespace belay::research::report
