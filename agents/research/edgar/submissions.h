#pragma once
// agents/research/edgar/submissions.h - the filings of a company, as EDGAR's "submissions" files
// list them.
//
// The first file (https://data.sec.gov/submissions/CIK##########.json) has a year of filings, at
// least 1,000, and names the files of older ones. Pure.

#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

#include "agents/research/finance/date.h"
#include "belay/result.h"

namespace belay::research {

// An annual report: form 10-K, 10-KT, 20-F or 40-F, without amendments.
struct AnnualFiling {
  std::string accession;  // "0000320193-24-000123"
  std::string form;
  Date filed;
  std::string document;  // the name of its primary document; empty: it has none
};

// A file of older filings.
struct OlderFilings {
  std::string name;  // "CIK0000320193-submissions-001.json"
  Date first;        // dates of the filings that it contains
  Date last;
};

struct Submissions {
  std::string entity;                 // the company's name; empty in files of older filings
  std::vector<AnnualFiling> filings;  // the newest first
  std::vector<OlderFilings> older;    // likewise
  std::size_t malformed = 0;          // filings and files that are ignored
};

// Reads the first file, or one of older filings. Fails with `corrupt` if it is not such a file.
// Names of documents and files are safe as parts of a path and a URL.
Result<Submissions> parse_submissions(std::string_view text);

// Returns the newest `count` filings until `until`, the newest first.
std::vector<AnnualFiling> newest_filings(const Submissions& all, std::size_t count, Date until);

// Returns "320193/000032019324000123/NAME", below https://www.sec.gov/Archives/edgar/data/.
std::string archive_path(std::string_view cik, const AnnualFiling& filing);

}  // namespace belay::research
