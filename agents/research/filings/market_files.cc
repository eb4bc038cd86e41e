#include "agents/research/filings/market_files.h"

#include <algorithm>
#include <charconv>
#include <cmath>
#include <unordered_set>
#include <utility>

#include "agents/research/filings/text_lines.h"

namespace belay::research {
namespace {

constexpr std::string_view kDateColumn = "Date";
constexpr std::string_view kRateColumn = "Rate";
constexpr std::string_view kShillerPrefix = "shiller:";
constexpr std::string_view kIndexColumn = "SP500";
constexpr std::string_view kByteOrderMark = "\xEF\xBB\xBF";
constexpr std::size_t kShownBytesMax = 40;  // of a cell in a problem

// A cell without blanks and quotes around it.
std::string_view cell_text(std::string_view cell) {
  constexpr std::string_view kBlanks = " \t\r";
  const std::size_t first = cell.find_first_not_of(kBlanks);
  if (first == std::string_view::npos) return {};
  cell = cell.substr(first, cell.find_last_not_of(kBlanks) - first + 1);
  if (cell.size() >= 2 && cell.front() == '"' && cell.back() == '"') {
    cell = cell.substr(1, cell.size() - 2);
  }
  return cell;
}

// Empty unless `cell` is a finite decimal number.
std::optional<double> cell_number(std::string_view cell) {
  double number = 0;
  const auto [end, error] = std::from_chars(cell.data(), cell.data() + cell.size(), number);
  if (error != std::errc() || end != cell.data() + cell.size() || !std::isfinite(number)) {
    return std::nullopt;
  }
  return number;
}

// A part of text that may be anything, without control characters.
std::string shown_cell(std::string_view cell) {
  std::string shown(cell.substr(0, kShownBytesMax));
  std::replace_if(shown.begin(), shown.end(), [](char c) { return c < ' ' || c > '~'; }, '?');
  return "\"" + shown + (cell.size() > kShownBytesMax ? "...\"" : "\"");
}

// Splits at commas into at most `cells_max` + 1 cells, the last of which may have commas.
void split_cells(std::string_view line, std::size_t cells_max,
                 std::vector<std::string_view>& cells) {
  cells.clear();
  while (cells.size() < cells_max) {
    const std::size_t comma = line.find(',');
    cells.push_back(cell_text(line.substr(0, comma)));
    if (comma == std::string_view::npos) return;
    line.remove_prefix(comma + 1);
  }
  cells.push_back(line);
}

bool is_blank_line(std::string_view line) { return cell_text(line).empty(); }

// The series of a column; empty if the column is not read.
std::string column_series(MarketFileKind kind, std::string_view column,
                          const std::set<std::string, std::less<>>& tickers) {
  if (column.empty() || column == kDateColumn) return {};
  switch (kind) {
    case MarketFileKind::prices:
      return tickers.empty() || tickers.contains(column) ? price_series(column) : std::string();
    case MarketFileKind::shiller: {
      if (column == kIndexColumn) return std::string(kIndexSeries);
      const std::string name = std::string(kShillerPrefix) + std::string(column);
      const bool is_known =
          name == kDividendSeries || name == kConsumerPriceSeries || name == kCapeSeries;
      return is_known ? name : std::string();
    }
    case MarketFileKind::treasury:
      return column == kRateColumn ? std::string(kTreasurySeries) : std::string();
  }
  return {};
}

struct MarketColumn {
  std::size_t cell = 0;  // index in a row
  std::string series;
  std::vector<MarketRow> rows = {};
};

class MarketTable {
 public:
  MarketTable(MarketFileKind kind, std::string_view shown_name, MarketProblems& problems)
      : kind_(kind), shown_name_(shown_name), problems_(problems) {}

  // Returns false, after a report, if the table is not to be used.
  bool read(std::string_view bytes, const std::set<std::string, std::less<>>& tickers);

  std::vector<MarketColumn>& columns() { return columns_; }

 private:
  bool read_header(std::string_view line, const std::set<std::string, std::less<>>& tickers);
  bool read_row(std::string_view line);
  void read_cell(MarketColumn& column, Date date);
  void report_file(const std::string& problem);
  void report_line(std::string_view problem);
  // The problem is `before`, the cell in quotes, and `after`.
  void report_cell(std::string_view before, std::string_view cell, std::string_view after);

  MarketFileKind kind_;
  std::string_view shown_name_;
  MarketProblems& problems_;
  std::vector<MarketColumn> columns_;
  std::size_t date_cell_ = 0;
  std::size_t width_ = 0;  // cells of the header
  std::size_t values_ = 0;
  std::size_t line_number_ = 0;
  std::vector<std::string_view> cells_;  // of the present line
  std::set<Month> months_;               // of the rows
};

void MarketTable::report_file(const std::string& problem) {
  ++problems_.count;
  problems_.texts.push_back(std::string(shown_name_) + ": " + problem);
}

void MarketTable::report_line(std::string_view problem) {
  ++problems_.count;
  if (problems_.line_texts >= kMarketLineProblemsMax) return;
  ++problems_.line_texts;
  std::string text = std::string(shown_name_) + ", line " + std::to_string(line_number_) + ": ";
  problems_.texts.push_back(text.append(problem));
}

void MarketTable::report_cell(std::string_view before, std::string_view cell,
                              std::string_view after) {
  // Files of garbage have millions of such cells.
  const bool is_shown = problems_.line_texts < kMarketLineProblemsMax;
  report_line(is_shown ? std::string(before).append(shown_cell(cell)).append(after)
                       : std::string());
}

bool MarketTable::read(std::string_view bytes, const std::set<std::string, std::less<>>& tickers) {
  if (bytes.starts_with(kByteOrderMark)) bytes.remove_prefix(kByteOrderMark.size());
  bool has_header = false;
  while (!bytes.empty()) {
    const std::string_view line = take_line(bytes);
    ++line_number_;
    if (is_blank_line(line)) continue;
    const bool is_usable = has_header ? read_row(line) : read_header(line, tickers);
    if (!is_usable) return false;
    has_header = true;
  }
  if (!has_header) report_file("the file is empty");
  return has_header;
}

bool MarketTable::read_header(std::string_view line,
                              const std::set<std::string, std::less<>>& tickers) {
  split_cells(line, kMarketColumnsMax, cells_);
  if (cells_.size() > kMarketColumnsMax) {
    report_file("the file has more than " + std::to_string(kMarketColumnsMax) +
                " columns and is not read");
    return false;
  }
  width_ = cells_.size();
  const auto date = std::find(cells_.begin(), cells_.end(), kDateColumn);
  if (date == cells_.end()) {
    report_file("the header has no column Date; the file is not read");
    return false;
  }
  date_cell_ = static_cast<std::size_t>(date - cells_.begin());
  std::unordered_set<std::string_view> seen;
  for (std::size_t cell = 0; cell < width_; ++cell) {
    if (!cells_[cell].empty() && !seen.insert(cells_[cell]).second) {
      report_cell("two columns have the name ", cells_[cell], "");
    }
    std::string series = column_series(kind_, cells_[cell], tickers);
    if (!series.empty()) columns_.push_back({.cell = cell, .series = std::move(series)});
  }
  if (columns_.empty() && kind_ != MarketFileKind::prices) {
    report_file("the header has no column that is known");
  }
  return true;
}

bool MarketTable::read_row(std::string_view line) {
  split_cells(line, width_, cells_);
  if (cells_.size() != width_) {
    // A part of a row could end in a part of a number.
    report_line("the row does not have as many cells as the header and is skipped");
    return true;
  }
  const auto date = Date::parse(cells_[date_cell_]);
  if (!date) {
    report_cell("the date ", cells_[date_cell_], " is not YYYY-MM-DD");
    return true;
  }
  if (!months_.insert(Month::of(*date)).second) {
    report_line("a row of " + Month::of(*date).text() + " came before");
  }
  for (MarketColumn& column : columns_) read_cell(column, *date);
  if (values_ > kMarketValuesMax) {
    report_file("the file has more than " + std::to_string(kMarketValuesMax) +
                " values and is not read");
    return false;
  }
  return true;
}

void MarketTable::read_cell(MarketColumn& column, Date date) {
  const std::string_view cell = cells_[column.cell];
  if (cell.empty()) return;
  const auto number = cell_number(cell);
  if (!number) {
    report_cell("", cell, " is not a number");
    return;
  }
  if (kind_ == MarketFileKind::shiller && *number == 0) return;
  column.rows.push_back({Month::of(date), date, *number});
  ++values_;
}

}  // namespace

std::optional<MarketFileKind> market_file_kind(std::string_view name) {
  if (name == "sp500_shiller_monthly.csv") return MarketFileKind::shiller;
  if (name == "us_treasury_10y_monthly.csv") return MarketFileKind::treasury;
  if (name.starts_with("monthly_adjclose") && name.ends_with(".csv")) return MarketFileKind::prices;
  return std::nullopt;
}

MarketFiles::MarketFiles(std::set<std::string, std::less<>> tickers)
    : tickers_(std::move(tickers)) {}

void MarketFiles::read(MarketFileKind kind, std::string_view shown_name, std::string_view bytes) {
  MarketTable table(kind, shown_name, problems_);
  if (!table.read(bytes, tickers_)) return;
  for (MarketColumn& column : table.columns()) {
    data_.merge(column.series, std::move(column.rows));
  }
}

}  // namespace belay::research
