#pragma once
// cli/table.h - Table: rows under a header, in columns as wide as their widest cell.

#include <string>
#include <vector>

#include "belay/output.h"

namespace belay::cli {

class Table {
 public:
  // `headers`: upper case, by convention. `right`: the columns whose cells are numbers.
  explicit Table(std::vector<std::string> headers, std::vector<std::size_t> right = {})
      : headers_(std::move(headers)), right_(std::move(right)) {}

  // Each cell is shown as one line. REQUIRES: one cell per header.
  void add(std::vector<std::string> cells) { rows_.push_back(std::move(cells)); }
  bool empty() const { return rows_.empty(); }
  // Prints nothing without rows, and leaves out the columns without any text.
  void show(belay::Output& output) const;

 private:
  std::string line_of(const std::vector<std::string>& cells,
                      const std::vector<std::size_t>& widths) const;

  std::vector<std::string> headers_;
  std::vector<std::size_t> right_;
  std::vector<std::vector<std::string>> rows_;
};

}  // namespace belay::cli
