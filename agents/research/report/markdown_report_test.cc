#include "agents/research/report/markdown_report.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <map>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "agents/research/report/figure_index.h"
#include "agents/research/report/report_fixture.h"
#include "agents/research/specialists/specialists.h"

namespace belay::research {
namespace {

const std::string& sample_markdown() {
  static const std::string kText = markdown_report(sample_document());
  return kText;
}

std::vector<std::string_view> lines_of(std::string_view text) {
  std::vector<std::string_view> lines;
  while (!text.empty()) {
    const std::size_t end = std::min(text.find('\n'), text.size());
    lines.push_back(text.substr(0, end));
    text.remove_prefix(std::min(end + 1, text.size()));
  }
  return lines;
}

// All texts between `before` and `after`.
std::vector<std::string> between(std::string_view text, std::string_view before,
                                 std::string_view after) {
  std::vector<std::string> found;
  for (std::size_t at = text.find(before); at != std::string_view::npos;
       at = text.find(before, at)) {
    at += before.size();
    const std::size_t end = text.find(after, at);
    if (end == std::string_view::npos) break;
    found.emplace_back(text.substr(at, end - at));
  }
  return found;
}

// Cells of a table's row: bars that no backslash precedes, less one.
std::size_t cells_of(std::string_view row) {
  std::size_t bars = 0;
  bool is_escaped = false;
  for (const char c : row) {
    if (c == '|' && !is_escaped) ++bars;
    is_escaped = c == '\\' && !is_escaped;
  }
  return bars - 1;
}

// Whether the position is inside a code span, in which a text is shown verbatim.
bool is_in_code(std::string_view text, std::size_t at) {
  bool is_code = false;
  for (std::size_t i = text.rfind('\n', at) + 1; i < at; ++i) {
    if (text[i] == '`' && (is_code || text[i - 1] != '\\')) is_code = !is_code;
  }
  return is_code;
}

constexpr std::string_view kSmallReport =
    "# Example &amp; Sons (EXM)\n"
    "\n"
    "> Not investment advice. This report contains computed figures and no opinion about the "
    "price of a security.\n"
    "\n"
    "- As-of date: 2025-03-01\n"
    "- Ticker: EXM\n"
    "- CIK: [0000000042](https://www.sec.gov/edgar/browse/?CIK=42)\n"
    "- Currency: USD\n"
    "- Fiscal years: 2, ending 2023-12-31 to 2024-12-31\n"
    "- Peers: none\n"
    "- Specialists: 1 of 13 delivered\n"
    "- Analysis: a1\n"
    "- Generated: 2025-03-02T00:00:00Z\n"
    "\n"
    "## Key figures\n"
    "\n"
    "Each number is a link to its inputs.\n"
    "\n"
    "| Specialist | Metric | 2023-12-31 | 2024-12-31 |\n"
    "|---|---|--:|--:|\n"
    "| Financial statements | Revenue (USD) | [n/a](#f0) | [1.234 bn](#f1) |\n"
    "| Financial statements | Gross margin |  | [40.5%](#f2) |\n"
    "\n"
    "## Red flags\n"
    "\n"
    "- **Gross margin drop** (medium, Financial statements): The gross margin fell by more "
    "than 3 points. [2024-12-31](#f2)\n"
    "  > Margins fell. (Item 7)\n"
    "\n"
    "\n"
    "## Financial statements\n"
    "\n"
    "### Statements and annual report as filed\n"
    "\n"
    "| Metric | 2023-12-31 | 2024-12-31 |\n"
    "|---|--:|--:|\n"
    "| Revenue (USD) | [n/a](#f0) | [1.234 bn](#f1) |\n"
    "\n"
    "### Ratios\n"
    "\n"
    "| Metric | Period end | Value |\n"
    "|---|---|--:|\n"
    "| Gross margin | 2024-12-31 | [40.5%](#f2) |\n"
    "\n"
    "## Figures that are not available\n"
    "\n"
    "| Metric | Specialist | Reason | Periods |\n"
    "|---|---|---|---|\n"
    "| `revenue` | Financial statements | missing\\_input: revenue | <a "
    "id=\"f0\"></a>2023-12-31 |\n"
    "\n"
    "## Declared assumptions\n"
    "\n"
    "These are assumptions, not measurements. Defaults instead of measurements are among the "
    "findings.\n"
    "\n"
    "| Constant | Meaning | Set by | Value |\n"
    "|---|---|---|--:|\n"
    "| <a id=\"k0\"></a>`beta_default` | Beta if it cannot be measured: that of the market | "
    "default | 1 |\n"
    "| <a id=\"k1\"></a>`growth_max` | Greatest initial growth | **overridden** | 0.12 |\n"
    "\n"
    "### Items taken as zero\n"
    "\n"
    "None.\n"
    "\n"
    "## Notes for the reader\n"
    "\n"
    "- Numbers are computed from filed facts and market data; no number is asked of a model. "
    "Formulas and rules are those of docs/research.md.\n"
    "- Only facts that were filed on or before the as-of date are used. Of several filings of "
    "a fact, the latest one counts. Share figures are adjusted to the splits known at that "
    "date.\n"
    "- All constants are declared assumptions, not measurements.\n"
    "- The facts have no segments, customers or market shares: the competitive position is "
    "measured by its results.\n"
    "- Not investment advice. This report contains computed figures and no opinion about the "
    "price of a security.\n"
    "\n"
    "## Sources\n"
    "\n"
    "| Form | Filed | Accession number |\n"
    "|---|---|---|\n"
    "| 10-K | 2024-11-01 | [0000000042-25-000001](https://www.sec.gov/Archives/edgar/data/42/0"
    "00000004225000001/0000000042-25-000001-index.htm) |\n"
    "\n"
    "## Inputs of every figure\n"
    "\n"
    "<a id=\"f1\"></a>`financial.revenue` 2024-12-31: **1234500000** USD  \n"
    "\n"
    "- Revenues 2024-01-01 to 2024-12-31: 1,234,500,000, 10-K filed 2024-11-01, "
    "[0000000042-25-000001](https://www.sec.gov/Archives/edgar/data/42/000000004225000001/0000"
    "000042-25-000001-index.htm)\n"
    "\n"
    "<a id=\"f2\"></a>`financial.gross_margin` 2024-12-31: **0.4050222762251924** ratio  \n"
    "\n"
    "- GrossProfit 2024-01-01 to 2024-12-31: 500,000,000, 10-K filed 2024-11-01, "
    "[0000000042-25-000001](https://www.sec.gov/Archives/edgar/data/42/000000004225000001/0000"
    "000042-25-000001-index.htm)\n"
    "- Revenues 2024-01-01 to 2024-12-31: 1,234,500,000, 10-K filed 2024-11-01, "
    "[0000000042-25-000001](https://www.sec.gov/Archives/edgar/data/42/000000004225000001/0000"
    "000042-25-000001-index.htm)\n"
    "\n";

TEST(MarkdownReport, ASmallReportAsAWhole) {
  std::string text = markdown_report(small_document());
  // Eleven sections that only differ in their titles.
  for (const auto& specialist : specialists()) {
    const std::string section = "## " + std::string(specialist.title) +
                                "\n\nThis specialist is not part of the analysis.\n\n";
    const std::size_t at = text.find(section);
    if (specialist.name == "financial") {
      EXPECT_EQ(at, std::string::npos);
      continue;
    }
    ASSERT_NE(at, std::string::npos) << specialist.name;
    text.erase(at, section.size());
  }
  EXPECT_EQ(text, kSmallReport);
}

TEST(MarkdownReport, EachLinkHasAnAnchorAndEachAnchorIsUnique) {
  for (const AnalysisDocument& document :
       {sample_document(), small_document(), hostile_document()}) {
    const std::string text = markdown_report(document);
    std::map<std::string, int> anchors;
    for (const std::string& anchor : between(text, "<a id=\"", "\"></a>")) ++anchors[anchor];
    for (const auto& [anchor, count] : anchors) EXPECT_EQ(count, 1) << anchor;
    for (const std::string& target : between(text, "](#", ")")) {
      EXPECT_TRUE(anchors.contains(target)) << target;
    }
  }
}

TEST(MarkdownReport, EachFigureHasAnAnchor) {
  std::set<std::string> anchors;
  for (std::string& anchor : between(sample_markdown(), "<a id=\"", "\"></a>")) {
    anchors.insert(std::move(anchor));
  }
  const std::size_t count = sample_document().results.figures.size();
  for (std::size_t i = 0; i < count; ++i) {
    EXPECT_TRUE(anchors.contains(report::FigureIndex::anchor(i))) << i;
  }
}

TEST(MarkdownReport, RowsOfATableHaveEquallyManyCells) {
  for (const AnalysisDocument& document : {sample_document(), hostile_document()}) {
    const std::string text = markdown_report(document);
    std::size_t cells = 0;  // of the table; 0 outside of one
    std::size_t tables = 0;
    for (const std::string_view line : lines_of(text)) {
      if (!line.starts_with("|")) {
        cells = 0;
        continue;
      }
      if (cells == 0) {
        cells = cells_of(line);
        ++tables;
      }
      EXPECT_EQ(cells_of(line), cells) << line;
    }
    EXPECT_GT(tables, 40U);
  }
}

TEST(MarkdownReport, HostileTextsStayTexts) {
  const std::string text = markdown_report(hostile_document());
  EXPECT_EQ(text.find("\xE2\x80\xAE"), std::string::npos);
  // The only tags are the anchors of the report.
  for (std::size_t at = text.find('<'); at != std::string::npos; at = text.find('<', at + 1)) {
    const std::string_view tag = std::string_view(text).substr(at, 9);
    EXPECT_TRUE(is_in_code(text, at) || tag.starts_with("<a id=\"") || tag.starts_with("</a>"))
        << tag;
  }
  // No link leads anywhere but to the report and to EDGAR.
  for (std::size_t at = text.find("]("); at != std::string::npos; at = text.find("](", at + 1)) {
    const std::string_view target = std::string_view(text).substr(at + 2, 20);
    const bool is_known = target.starts_with("#") || target.starts_with("https://www.sec.gov/");
    EXPECT_TRUE(is_known || text[at - 1] == '\\' || is_in_code(text, at)) << target;
  }
  for (const std::string_view line : lines_of(text)) {
    EXPECT_FALSE(line.starts_with("# heading"));
  }
}

TEST(MarkdownReport, HasTheTablesOfTheValuationAndOfPeers) {
  const std::string& text = sample_markdown();
  EXPECT_NE(text.find("| Range | Low | Base | High |"), std::string::npos);
  EXPECT_NE(text.find("| Discount rate | g-50 | g-25 | g+0 | g+25 | g+50 |"), std::string::npos);
  EXPECT_NE(text.find("| Metric | Company | Median of the peers | Rank | Percentile |"),
            std::string::npos);
  EXPECT_NE(text.find("> For example, the Company is subject to antitrust"), std::string::npos);
}

TEST(MarkdownReport, HasASectionForEachSpecialist) {
  for (const auto& specialist : specialists()) {
    EXPECT_NE(sample_markdown().find("\n## " + std::string(specialist.title) + "\n"),
              std::string::npos)
        << specialist.name;
  }
}

TEST(MarkdownReport, EqualDocumentsGiveEqualBytes) {
  EXPECT_EQ(markdown_report(sample_document()), sample_markdown());
}

TEST(MarkdownReport, AnEmptyDocumentHasAReport) {
  const std::string text = markdown_report(AnalysisDocument{});
  EXPECT_NE(text.find("Not investment advice"), std::string::npos);
}

}  // namespace
}  // namespace belay::research
