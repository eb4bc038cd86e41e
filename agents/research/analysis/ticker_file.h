#pragma once
// agents/research/analysis/ticker_file.h - the file of a batch: one company a line.
//
//     # a comment
//     AAPL
//     ZZZZ=99     # a company that the bundled data does not have, with its number at the SEC

#include <string>
#include <string_view>
#include <vector>

#include "belay/limits.h"
#include "belay/result.h"

namespace belay::research {

inline constexpr std::size_t kCompaniesMax = 1'000;            // companies of a batch
inline constexpr std::size_t kTickerFileBytesMax = 256 << 10;  // of the file

struct BatchTicker {
  std::string ticker;
  std::string cik;  // as given; empty: none
  friend bool operator==(const BatchTicker&, const BatchTicker&) = default;
};

// Returns the companies in the order of the file. Blank lines, comments, the line ends of Windows
// and a byte order mark are allowed; a repeated line counts once. Fails with `invalid`, naming the
// line, for anything else.
Result<std::vector<BatchTicker>> tickers_in(std::string_view text);

// Parses one entry: TICKER, or TICKER=CIK.
Result<BatchTicker> batch_ticker_from(std::string_view entry);

// Fails with `invalid` unless the text has the form of a ticker.
Result<Done> check_ticker(std::string_view ticker);

// Collects entries. Fails with `invalid` for a ticker with two different numbers, and for too many.
class BatchTickers {
 public:
  Result<Done> add(BatchTicker entry);
  std::vector<BatchTicker> take() { return std::move(all_); }

 private:
  std::vector<BatchTicker> all_;
};

}  // namespace belay::research
