#include "agents/research/filings/item_headings.h"

#include <algorithm>

#include "agents/research/filings/text_lines.h"
#include "agents/research/filings/text_words.h"

namespace belay::research {
namespace {

constexpr int kItemNumberMax = 16;

// Removes `keyword`, ignoring case, and the blanks after it, at least one. Returns whether they
// were there.
bool take_keyword(std::string_view& line, std::string_view keyword) {
  if (!starts_with_ignoring_case(line, keyword)) return false;
  line.remove_prefix(keyword.size());
  if (blank_size(line, 0) == 0) return false;
  while (const std::size_t size = blank_size(line, 0)) line.remove_prefix(size);
  return true;
}

// Removes "1a" and returns the index in kItemTitles; kTenKItems if there is no such item.
std::size_t take_item(std::string_view& line) {
  int number = 0;
  std::size_t size = 0;
  while (size < line.size() && size < 2 && is_ascii_digit(line[size])) {
    number = number * 10 + (line[size++] - '0');
  }
  const bool is_number = size > 0 && line[0] != '0' && number <= kItemNumberMax;
  if (!is_number) return kTenKItems;
  const char letter = size < line.size() ? lower_ascii(line[size]) : '\0';
  if (letter == 'a' || letter == 'b' || letter == 'c') ++size;
  const std::string_view item = line.substr(0, size);
  line.remove_prefix(size);
  if (!line.empty() && (is_ascii_letter(line[0]) || is_ascii_digit(line[0]))) return kTenKItems;
  const auto is_this = [item](const ItemTitle& title) {
    return std::equal(item.begin(), item.end(), title.item.begin(), title.item.end(),
                      [](char a, char b) { return lower_ascii(a) == lower_ascii(b); });
  };
  const auto found = std::find_if(kItemTitles.begin(), kItemTitles.end(), is_this);
  return static_cast<std::size_t>(found - kItemTitles.begin());
}

bool is_contents_row(std::string_view line) {
  std::size_t end = line.size();
  while (end > 0 && is_ascii_digit(line[end - 1])) --end;
  if (end == line.size()) return false;
  return trimmed_blanks(line.substr(0, end)).ends_with('|');
}

}  // namespace

std::optional<std::size_t> item_of_heading(std::string_view line) {
  const std::string_view whole = trimmed_blanks(line);
  std::string_view rest = whole;
  if (!take_keyword(rest, "item")) return std::nullopt;
  const std::size_t item = take_item(rest);
  if (item == kTenKItems) return std::nullopt;
  const auto letter = std::find_if(rest.begin(), rest.end(), is_ascii_letter);
  rest.remove_prefix(static_cast<std::size_t>(letter - rest.begin()));
  const ItemTitle& title = kItemTitles[item];
  const bool has_title =
      starts_with_ignoring_case(rest, title.start) ||
      (!title.other_start.empty() && starts_with_ignoring_case(rest, title.other_start));
  if (!has_title || is_contents_row(whole)) return std::nullopt;
  if (count_code_points(whole) > kHeadingCodePointsMax) return std::nullopt;
  return item;
}

bool is_part_line(std::string_view line) {
  std::string_view rest = trimmed_blanks(line);
  if (!take_keyword(rest, "part")) return false;
  return !rest.empty() && std::all_of(rest.begin(), rest.end(), [](char c) {
    const char lower = lower_ascii(c);
    return lower == 'i' || lower == 'v' || lower == 'x';
  });
}

}  // namespace belay::research
