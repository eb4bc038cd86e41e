#pragma once
// agents/research/filings/filing_text_file.h - the files "TICKER-10-K-<filed>.txt" of annual
// reports.
//
// Pure values: reading the file is the caller's.

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "agents/research/finance/date.h"
#include "agents/research/finance/quantity.h"

namespace belay::research {

inline constexpr std::string_view kFilingTextForm = "10-K";

struct FilingTextName {
  std::string ticker;
  Date filed;
};

// Reads "AAPL-10-K-2024-11-01.txt", without a folder. Empty unless it has a ticker and a date.
std::optional<FilingTextName> parse_filing_text_name(std::string_view file_name);

// Returns the index of the latest text of `ticker` that was filed on `as_of` or before; of several
// with that date, the last one. Empty: no text fits.
std::optional<std::size_t> latest_filing_text(const std::vector<FilingTextName>& names,
                                              std::string_view ticker, Date as_of);

struct FilingTextFile {
  std::string bytes;
  Date filed;
};

// Returns the file as the source of a figure: concept "filing-text", the size in bytes.
Input filing_text_input(std::uint64_t size, Date filed);

// Returns the fiscal year end that figures from a text belong to: the latest one up to its date, or
// else the latest of all. Requires at least one year end, in any order.
Date filing_text_period_end(const std::vector<Date>& year_ends, Date filed);

}  // namespace belay::research
