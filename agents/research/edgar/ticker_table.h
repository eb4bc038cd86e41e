#pragma once
// agents/research/edgar/ticker_table.h - the numbers of companies at the SEC (CIK), by ticker.
//
// The SEC publishes one table of all companies. A data folder has those of the companies that were
// fetched, in edgar/tickers.json: {"AAPL":"0000320193"}.

#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "belay/result.h"

namespace belay::research {

// Ten digits, by ticker in capital letters.
using TickerTable = std::map<std::string, std::string, std::less<>>;

// Returns the ticker in capital letters; empty unless it has 1 to 12 letters, digits, "." and "-",
// and begins with a letter or digit. It is part of file names.
std::optional<std::string> ticker_of(std::string_view text);

// Reads https://www.sec.gov/files/company_tickers.json:
// {"0":{"cik_str":320193,"ticker":"AAPL","title":"Apple Inc."}, ...}. Rows of another shape are
// ignored. Fails with `corrupt` if the text is not such a table, or has no company.
Result<TickerTable> parse_company_tickers(std::string_view text);

// Returns the ticker of the table for `ticker`: that one or, for "BRK.B", the SEC's "BRK-B".
std::optional<std::string> listed_ticker(const TickerTable& table, std::string_view ticker);

// Reads the file edgar/tickers.json of a data folder; empty if it does not exist. Blocks. Fails
// with `corrupt` if it is not such a file.
Result<TickerTable> read_tickers(const std::string& folder);
// Adds a ticker to the file, atomically.
Result<Done> add_ticker(const std::string& folder, const std::string& ticker,
                        const std::string& cik);

// Returns the ten digits of a ticker in edgar/tickers.json of the data folders, of which the later
// ones count; empty if none has it. A file that cannot be read has no tickers. Blocks.
std::string cik_in_folders(const std::vector<std::string>& folders, std::string_view ticker);

}  // namespace belay::research
