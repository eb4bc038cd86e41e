// Responses of the SEC: the text of a document, lists of filings and tickers, and pages.

#include <algorithm>
#include <string>

#include "agents/research/edgar/edgar_faults.h"
#include "agents/research/edgar/filing_html.h"
#include "agents/research/edgar/submissions.h"
#include "agents/research/edgar/ticker_table.h"
#include "belay/value.h"
#include "tests/fuzz/target.h"

namespace belay::fuzz {
namespace {

constexpr std::size_t kGrowthMax = 4;  // " | " or an empty line for each cell or line

void require_lines(const std::string& text, std::size_t document_bytes) {
  require(!first_invalid_utf8(text), "the text of a document is UTF-8");
  require(text.empty() || text.ends_with('\n'), "a line ends with a line break");
  require(!text.starts_with('\n') && text.find("\n\n\n") == text.npos,
          "at most one line in a row is empty");
  require(text.find(" \n") == text.npos, "no line ends with a space");
  require(std::all_of(text.begin(), text.end(),
                      [](char c) {
                        auto byte = static_cast<unsigned char>(c);
                        return c == '\n' || (byte >= ' ' && byte != 0x7f);
                      }),
          "the text of a document has no control character");
  require(text.size() <= kGrowthMax * document_bytes + kGrowthMax, "the text is bounded");
}

void require_submissions(std::string_view input) {
  auto all = research::parse_submissions(input);
  if (!all.ok()) return require_sound(all.error());
  for (const research::AnnualFiling& filing : all->filings) {
    std::string path = research::archive_path("0000320193", filing);
    require(path.find("..") == path.npos || filing.document.find("..") != path.npos,
            "a path has no other folder than that of its filing");
    require(std::count(path.begin(), path.end(), '/') == 2, "a path has two folders");
  }
}

}  // namespace
}  // namespace belay::fuzz

BELAY_FUZZ_TARGET(FilingHtml, "filing_html") {
  using namespace belay;
  fuzz::require_lines(research::text_of_html(input).text, input.size());
  fuzz::require_lines(research::text_of_plain(input).text, input.size());
  fuzz::require_submissions(input);
  auto tickers = research::parse_company_tickers(input);
  if (!tickers.ok()) fuzz::require_sound(tickers.error());
  std::string title = research::page_title(input);
  fuzz::require(!first_invalid_utf8(title) && title.find('\n') == title.npos,
                "a title is one line");
  research::delay_of(input, Instant());
}
