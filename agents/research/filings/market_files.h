#pragma once
// agents/research/filings/market_files.h - reads the CSV files of prices and rates.
//
// Files come from outside: any bytes are accepted, and what cannot be used is skipped and
// described. The layout is that of agents/research/data/prices. The caller reads the files. Not
// thread-safe.

#include <cstddef>
#include <functional>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "agents/research/finance/market_data.h"

namespace belay::research {

enum class MarketFileKind {
  prices,    // monthly_adjclose*.csv: Date, then a column per ticker
  shiller,   // sp500_shiller_monthly.csv: 0.0 is an unknown value
  treasury,  // us_treasury_10y_monthly.csv: Date, Rate
};

// `name` is a file name without folders. Empty if it is not a market file.
std::optional<MarketFileKind> market_file_kind(std::string_view name);

// Limits of one file. A file that exceeds them is not read at all, because a part of it could pass
// for the whole.
inline constexpr std::size_t kMarketColumnsMax = 20'000;
inline constexpr std::size_t kMarketValuesMax = 2'000'000;  // in the columns that are read

// Of all files. Further problems of lines are counted, not described.
inline constexpr std::size_t kMarketLineProblemsMax = 100;

struct MarketProblems {
  // Sentences for a reader, such as "a.csv, line 7: the date \"7/1\" is not YYYY-MM-DD". Of each
  // file at most one concerns the file as a whole.
  std::vector<std::string> texts;
  std::size_t line_texts = 0;  // those that concern a line
  std::size_t count = 0;       // also those without a text
};

class MarketFiles {
 public:
  // Of files of prices, only the columns of `tickers` are kept; of all tickers if it is empty.
  explicit MarketFiles(std::set<std::string, std::less<>> tickers = {});

  // Reads a file of any kind. Files must come in the order of the folders, and within a folder in
  // that of their names: of two values of a series for the same month the later one is kept. A cell
  // without a number replaces nothing. `shown_name` names the file in problems().
  void read(MarketFileKind kind, std::string_view shown_name, std::string_view bytes);

  const MarketData& data() const { return data_; }

  const MarketProblems& problems() const { return problems_; }

 private:
  std::set<std::string, std::less<>> tickers_;
  MarketData data_;
  MarketProblems problems_;
};

}  // namespace belay::research
