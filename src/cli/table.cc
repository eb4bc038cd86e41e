#include "cli/table.h"

#include <algorithm>

namespace belay::cli {
namespace {

// A wider cell moves the rest of its line only.
constexpr std::size_t kColumnMax = 40;

}  // namespace

std::string Table::line_of(const std::vector<std::string>& cells,
                           const std::vector<std::size_t>& widths) const {
  std::string line;
  for (std::size_t i = 0; i < cells.size(); ++i) {
    if (widths[i] == 0) continue;
    std::string cell = one_line(cells[i]);
    bool is_right = std::find(right_.begin(), right_.end(), i) != right_.end();
    std::size_t room = widths[i] - std::min(widths[i], columns(cell));
    if (is_right) cell.insert(0, room, ' ');
    line += (line.empty() ? "" : "  ") + padded(cell, widths[i]);
  }
  line.erase(line.find_last_not_of(' ') + 1);
  return line;
}

void Table::show(belay::Output& output) const {
  if (rows_.empty()) return;
  std::vector<std::size_t> widths(headers_.size());
  for (const auto& row : rows_) {
    for (std::size_t i = 0; i < row.size(); ++i) {
      widths[i] = std::max(widths[i], std::min(columns(row[i]), kColumnMax));
    }
  }
  for (std::size_t i = 0; i < widths.size(); ++i) {
    if (widths[i] > 0) widths[i] = std::max(widths[i], columns(headers_[i]));
  }
  output.line(output.styled(Style::faint, line_of(headers_, widths)));
  for (const auto& row : rows_) output.line(line_of(row, widths));
}

}  // namespace belay::cli
