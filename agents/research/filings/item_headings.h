#pragma once
// agents/research/filings/item_headings.h - recognizes the headings of a 10-K's items.
//
// The items are those of the SEC's Form 10-K (https://www.sec.gov/files/form10-k.pdf), from
// "Item 1. Business" to "Item 16. Form 10-K Summary". All functions are pure.

#include <array>
#include <cstddef>
#include <optional>
#include <string_view>

namespace belay::research {

struct ItemTitle {
  std::string_view item;              // "1A"
  std::string_view start;             // of its title, in lower case
  std::string_view other_start = {};  // likewise; empty: none
};

inline constexpr std::size_t kTenKItems = 23;
// In the order of the form.
inline constexpr std::array<ItemTitle, kTenKItems> kItemTitles = {{
    {"1", "business"},       {"1A", "risk"},         {"1B", "unresolved"},
    {"1C", "cybersecurity"}, {"2", "properties"},    {"3", "legal"},
    {"4", "mine"},           {"5", "market"},        {"6", "reserved", "selected"},
    {"7", "management"},     {"7A", "quantitative"}, {"8", "financial", "consolidated"},
    {"9", "changes"},        {"9A", "controls"},     {"9B", "other"},
    {"9C", "disclosure"},    {"10", "directors"},    {"11", "executive"},
    {"12", "security"},      {"13", "certain"},      {"14", "principal"},
    {"15", "exhibit"},       {"16", "form"},
}};

// Longer lines are no headings.
inline constexpr std::size_t kHeadingCodePointsMax = 250;

// Returns the index in kItemTitles of the item that the line is a heading of. A row of a table of
// contents, which ends in "|" and a page number, is not a heading.
std::optional<std::size_t> item_of_heading(std::string_view line);

// Returns whether the line is only "Part" and a roman numeral.
bool is_part_line(std::string_view line);

}  // namespace belay::research
