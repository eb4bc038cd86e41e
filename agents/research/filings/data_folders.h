#pragma once
// agents/research/filings/data_folders.h - finds and reads the files of an analysis.
//
// A folder has edgar/CIK<10 digits>.json, edgar/10k/TICKER-10-K-<filed>.txt, and prices/. Other
// files are not read. Of two files or rows for the same thing, that of the later folder counts.

#include <map>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "agents/research/filings/company_facts.h"
#include "agents/research/filings/filing_text_file.h"
#include "agents/research/finance/market_data.h"

namespace belay::research {

// A file, or the reason why it cannot be used.
template <typename Content>
struct FileRead {
  std::optional<Content> content;
  std::string path;    // empty if no folder has it
  std::string digest;  // of the bytes that were read; see DataFolders
  std::string error;   // names the file and the cause
};

struct MarketRead {
  MarketData data;
  std::map<std::string, std::string> digests;  // of the files, by path
  std::vector<std::string> problems;           // files and rows that cannot be used
};

// A digest is a chain of SHA-256 over the parts of a file, in hexadecimal digits: equal for equal
// bytes. A large file is not held as a whole.
class DataFolders {
 public:
  explicit DataFolders(std::vector<std::string> paths) : paths_(std::move(paths)) {}

  const std::vector<std::string>& paths() const { return paths_; }

  // Reads the facts of a company. `cik` has up to ten digits.
  FileRead<CompanyFacts> company_facts(std::string_view cik) const;
  // Reads the latest annual report of `ticker` filed up to `as_of`. Without one, the content and
  // the error are empty.
  FileRead<FilingTextFile> filing_text(std::string_view ticker, Date as_of) const;
  // Reads the series of rates, of the stock index, and of the prices of `tickers`.
  MarketRead market_data(const std::vector<std::string>& tickers) const;

 private:
  std::vector<std::string> paths_;
};

// Returns the ten digits of a company that the bundled data has; empty for other tickers.
std::string bundled_cik(std::string_view ticker);
// Returns ten digits, or empty if the text is not a number of at most ten digits.
std::string ten_digits(std::string_view cik);

}  // namespace belay::research
