#pragma once
// agents/research/report/provenance.h - inputs, reasons and filings behind the figures of a report.

#include <cstddef>
#include <map>
#include <memory>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "agents/research/report/figure_index.h"

namespace belay::research::report {

// Available figures that have the same inputs and the same items taken as zero.
struct InputSet {
  std::vector<FigureNumber> figures;
  std::vector<std::shared_ptr<const Input>> inputs;  // at most kInputLimit
  std::size_t inputs_left_out = 0;
  std::set<std::string> assumed_zero;
};

// One metric that is not available, for the same reason in all these periods.
struct UnavailableMetric {
  std::vector<FigureNumber> figures;  // never empty
  std::string reason;
};

// An item that was taken as zero, and the metrics that needed it.
struct ZeroItem {
  std::string item;
  std::vector<std::vector<FigureNumber>> metrics;  // periods of one metric each
  // Figures of the comparison with peers, the projection and the sensitivity, which are too many
  // to name.
  std::size_t in_special_tables = 0;
};

// A filing with its page at EDGAR.
struct FilingRow {
  std::string accn;
  std::string form;
  std::string filed;
  std::string url;  // empty: the filer is not known, or the accession number is malformed
};

// A series of market data, and the days that were used.
struct SeriesRow {
  std::string name;
  std::string first;
  std::string last;
};

// In the order of figures; the bounds of report_limits.h hold. Each available figure is in exactly
// one InputSet, each other one in exactly one UnavailableMetric.
struct Provenance {
  std::vector<InputSet> input_sets;
  std::vector<UnavailableMetric> unavailable;
  std::vector<ZeroItem> zero_items;  // by item
  std::vector<FilingRow> filings;    // the newest first
  std::size_t filings_left_out = 0;
  std::vector<SeriesRow> series;            // by name
  std::map<std::string, std::string> urls;  // of accession numbers
};
Provenance provenance_of(const FigureIndex& index);

// Returns the address of a filing's index page; empty if `cik` is not one to ten digits that are
// not all zero, or `accn` is not 0000000000-00-000000.
std::string edgar_filing_url(std::string_view cik, std::string_view accn);
// Returns the address of a company's filings; empty for a malformed CIK.
std::string edgar_company_url(std::string_view cik);

}  // namespace belay::research::report
