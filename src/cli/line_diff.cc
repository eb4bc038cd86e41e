#include "cli/line_diff.h"

#include <algorithm>
#include <cstdint>

namespace belay::cli {
namespace {

using Lines = std::vector<std::string_view>;

Lines lines_of(std::string_view text) {
  Lines lines;
  while (!text.empty()) {
    std::size_t end = std::min(text.find('\n'), text.size());
    lines.push_back(text.substr(0, end));
    text.remove_prefix(std::min(end + 1, text.size()));
  }
  return lines;
}

struct MarkedLine {
  char mark = ' ';
  std::string_view text;
};

// The longest common subsequence, by dynamic programming over the suffixes.
std::vector<MarkedLine> marked_lines(const Lines& before, const Lines& after) {
  std::size_t width = after.size() + 1;
  std::vector<std::uint32_t> common((before.size() + 1) * width);
  for (std::size_t i = before.size(); i-- > 0;) {
    for (std::size_t j = after.size(); j-- > 0;) {
      std::uint32_t longer = std::max(common[(i + 1) * width + j], common[i * width + j + 1]);
      common[i * width + j] = before[i] == after[j] ? common[(i + 1) * width + j + 1] + 1 : longer;
    }
  }
  std::vector<MarkedLine> lines;
  std::size_t i = 0, j = 0;
  while (i < before.size() || j < after.size()) {
    if (i < before.size() && j < after.size() && before[i] == after[j]) {
      lines.push_back({' ', before[i++]});
      ++j;
    } else if (j == after.size() ||
               (i < before.size() && common[(i + 1) * width + j] >= common[i * width + j + 1])) {
      lines.push_back({'-', before[i++]});
    } else {
      lines.push_back({'+', after[j++]});
    }
  }
  return lines;
}

}  // namespace

std::vector<std::string> line_diff(std::string_view before, std::string_view after,
                                   std::size_t around, std::size_t lines_max) {
  Lines former = lines_of(before), now = lines_of(after);
  // A line break at the end of only one text is a difference: an empty line.
  bool both = !before.empty() && !after.empty();
  if (both && before.ends_with('\n') && !after.ends_with('\n')) former.emplace_back();
  if (both && after.ends_with('\n') && !before.ends_with('\n')) now.emplace_back();
  std::vector<MarkedLine> lines;
  if (former.size() > lines_max || now.size() > lines_max) {
    for (std::string_view line : former) lines.push_back({'-', line});
    for (std::string_view line : now) lines.push_back({'+', line});
  } else {
    lines = marked_lines(former, now);
  }
  std::vector<bool> is_shown(lines.size());
  for (std::size_t at = 0; at < lines.size(); ++at) {
    if (lines[at].mark == ' ') continue;
    std::size_t first = at - std::min(at, around);
    std::size_t last = std::min(at + around, lines.size() - 1);
    std::fill(is_shown.begin() + static_cast<std::ptrdiff_t>(first),
              is_shown.begin() + static_cast<std::ptrdiff_t>(last) + 1, true);
  }
  std::vector<std::string> shown;
  bool skips = false;
  for (std::size_t at = 0; at < lines.size(); ++at) {
    if (is_shown[at]) {
      shown.push_back(std::string(1, lines[at].mark) + " " + std::string(lines[at].text));
    } else if (!skips) {
      shown.emplace_back("...");
    }
    skips = !is_shown[at];
  }
  return shown;
}

}  // namespace belay::cli
