#include "agents/research/report/html_report.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <map>
#include <set>
#include <string>
#include <vector>

#include "agents/research/report/figure_index.h"
#include "agents/research/report/html_checker.h"
#include "agents/research/report/report_fixture.h"
#include "agents/research/report/report_limits.h"
#include "agents/research/specialists/specialists.h"

namespace belay::research {
namespace {

const std::string& sample_html() {
  static const std::string kHtml = html_report(sample_document());
  return kHtml;
}

const CheckedHtml& sample_elements() {
  static const CheckedHtml kElements = check_html(sample_html());
  return kElements;
}

std::map<std::string, int> ids_of(const CheckedHtml& html) {
  std::map<std::string, int> ids;
  for (const HtmlElement& element : html.elements) {
    const std::string id = element.attribute("id");
    if (!id.empty()) ++ids[id];
  }
  return ids;
}

// Links that lead nowhere.
std::vector<std::string> dangling_links(const CheckedHtml& html) {
  const auto ids = ids_of(html);
  std::vector<std::string> dangling;
  for (const HtmlElement* link : html.all("a")) {
    const std::string target = link->attribute("href");
    if (target.starts_with("https://www.sec.gov/")) continue;
    if (!target.starts_with("#") || !ids.contains(target.substr(1))) dangling.push_back(target);
  }
  return dangling;
}

// Lower-case words of texts that the report itself writes.
std::set<std::string> own_words(const CheckedHtml& html) {
  std::set<std::string> words;
  for (const HtmlElement& element : html.elements) {
    if (element.name == "style" || element.is_inside("blockquote")) continue;
    std::string word;
    for (const char c : element.text + " ") {
      const char lower = c >= 'A' && c <= 'Z' ? static_cast<char>(c - 'A' + 'a') : c;
      if ((lower >= 'a' && lower <= 'z') || lower == '_') {
        word += lower;
      } else if (!word.empty()) {
        words.insert(std::move(word));
        word.clear();
      }
    }
  }
  return words;
}

TEST(HtmlReport, IsWellFormed) {
  for (const AnalysisDocument& document :
       {sample_document(), small_document(), hostile_document(), AnalysisDocument{}}) {
    const CheckedHtml html = check_html(html_report(document));
    EXPECT_TRUE(html.faults.empty()) << html.faults.front();
  }
}

TEST(HtmlReport, IdsAreUniqueAndEachLinkHasATarget) {
  for (const AnalysisDocument& document :
       {sample_document(), small_document(), hostile_document()}) {
    const CheckedHtml html = check_html(html_report(document));
    for (const auto& [id, count] : ids_of(html)) EXPECT_EQ(count, 1) << id;
    EXPECT_EQ(dangling_links(html), std::vector<std::string>());
  }
}

TEST(HtmlReport, EachFigureHasAnAnchorAndALinkToIt) {
  const AnalysisDocument document = sample_document();
  const auto ids = ids_of(sample_elements());
  std::set<std::string> targets;
  for (const HtmlElement* link : sample_elements().all("a")) {
    targets.insert(link->attribute("href"));
  }
  for (std::size_t i = 0; i < document.results.figures.size(); ++i) {
    const std::string anchor = report::FigureIndex::anchor(i);
    EXPECT_TRUE(ids.contains(anchor)) << anchor;
    EXPECT_TRUE(targets.contains("#" + anchor)) << anchor;
  }
}

TEST(HtmlReport, ANumberLeadsToConceptPeriodAndAccession) {
  const std::string html = html_report(small_document());
  EXPECT_NE(html.find("<td><a href=\"#f2\" title=\"0.4050222762251924 ratio\">40.5%</a></td>"),
            std::string::npos);
  const std::size_t target = html.find("<p id=\"f2\">");
  ASSERT_NE(target, std::string::npos);
  EXPECT_NE(
      html.find("<li><b>GrossProfit</b> 2024-01-01 to 2024-12-31: 500,000,000, 10-K filed "
                "2024-11-01, <a href=\"https://www.sec.gov/Archives/edgar/data/42/"
                "000000004225000001/0000000042-25-000001-index.htm\">0000000042-25-000001</a></li>",
                target),
      std::string::npos);
}

TEST(HtmlReport, AFigureWithoutAValueLeadsToItsReason) {
  const std::string html = html_report(small_document());
  EXPECT_NE(html.find("<td class=\"na\"><a href=\"#f0\" title=\"missing_input: revenue\">n/a</a>"),
            std::string::npos);
  const std::size_t section = html.find("<section id=\"not-available\">");
  const std::size_t row = html.find("missing_input: revenue</td>", section);
  EXPECT_NE(row, std::string::npos);
  EXPECT_NE(html.find("<span id=\"f0\">2023-12-31</span>", row), std::string::npos);
}

TEST(HtmlReport, TheHeatMapHas25Cells) {
  std::size_t heat = 0;
  std::size_t coloured = 0;
  std::size_t base = 0;
  for (const HtmlElement* cell : sample_elements().all("td")) {
    if (!cell->has_class("cell")) continue;
    ++heat;
    for (int level = 0; level <= 6; ++level) {
      if (cell->has_class("h" + std::to_string(level))) ++coloured;
    }
    if (cell->has_class("base")) ++base;
  }
  EXPECT_EQ(heat, 50U);  // values per share and enterprise values
  EXPECT_EQ(coloured, 25U);
  EXPECT_EQ(base, 2U);
}

TEST(HtmlReport, WithoutValuesPerShareTheColoursShowEnterpriseValues) {
  AnalysisDocument document = sample_document();
  for (Figure& figure : document.results.figures) {
    if (figure.metric.find("per_share") != std::string::npos) {
      figure.quantity = Quantity::missing(Missing::missing_input, "short_term_investments");
    }
  }
  const std::string html = html_report(document);
  const std::size_t table = html.find("<table class=\"heat\">");
  ASSERT_NE(table, std::string::npos);
  EXPECT_TRUE(html.substr(table).starts_with("<table class=\"heat\">\n<caption>Enterprise value"));
  EXPECT_NE(html.find("No range of values per share can be drawn"), std::string::npos);
}

TEST(HtmlReport, HasASectionForEachSpecialist) {
  const auto ids = ids_of(sample_elements());
  for (const auto& specialist : specialists()) {
    EXPECT_TRUE(ids.contains("section-" + std::string(specialist.name))) << specialist.name;
  }
}

TEST(HtmlReport, ShowsQuotesWithTheirPlace) {
  const auto quotes = sample_elements().all("blockquote");
  EXPECT_EQ(quotes.size(), 3U) << "two of findings, one of a sentence of a model";
  EXPECT_NE(sample_html().find("Item 1A, byte 2048 of the annual report"), std::string::npos);
  EXPECT_NE(sample_html().find("Item 1A, annual report for 2025-09-27, at byte 118204"),
            std::string::npos);
}

TEST(HtmlReport, NamesAssumptionsZeroItemsAndFailures) {
  const std::string& html = sample_html();
  EXPECT_NE(html.find("<strong>overridden</strong>"), std::string::npos);
  EXPECT_NE(html.find("<th scope=\"row\"><code>inventory</code></th>"), std::string::npos);
  EXPECT_NE(html.find("The file of index prices has no row after 2023-12."), std::string::npos);
  EXPECT_NE(html.find("retained earnings (hence no Altman score)"), std::string::npos);
  EXPECT_NE(html.find("No cost of debt could be measured"), std::string::npos);
  EXPECT_NE(html.find("Equity research report as of 2026-01-30"), std::string::npos);
  EXPECT_NE(html.find("<dd>2026-02-02 08:15 UTC</dd>"), std::string::npos);
}

TEST(HtmlReport, AnItemTakenAsZeroHasOneRow) {
  const std::string& html = sample_html();
  const std::string row = "<tr><th scope=\"row\"><code>inventory</code></th>";
  const std::size_t first = html.find(row);
  ASSERT_NE(first, std::string::npos);
  EXPECT_EQ(html.find(row, first + 1), std::string::npos);
  EXPECT_NE(html.find(" periods)", first), std::string::npos);
}

TEST(HtmlReport, ATimeInAnotherFormIsShownUnchanged) {
  AnalysisDocument document = small_document();
  document.generated_at = "yesterday, at 08:15:00";
  EXPECT_NE(html_report(document).find("<dd>yesterday, at 08:15:00</dd>"), std::string::npos);
}

TEST(HtmlReport, AUnitStandsAfterAmountsOnly) {
  const std::string& html = sample_html();
  EXPECT_NE(html.find(">Revenue <small>USD</small></th>"), std::string::npos);
  EXPECT_NE(html.find(">Current ratio</th>"), std::string::npos);
  EXPECT_EQ(html.find("<small>ratio</small>"), std::string::npos);
  EXPECT_EQ(html.find("<small>count</small>"), std::string::npos);
}

TEST(HtmlReport, AChartOfOneSeriesHasNoLegend) {
  const std::string& html = sample_html();
  const std::size_t one = html.find("<figcaption>Net debt to EBITDA</figcaption>");
  const std::size_t three = html.find("<figcaption>Revenue and income</figcaption>");
  ASSERT_NE(one, std::string::npos);
  ASSERT_NE(three, std::string::npos);
  EXPECT_GT(html.find("class=\"legend\"", one), html.find("</figure>", one));
  EXPECT_LT(html.find("class=\"legend\"", three), html.find("</figure>", three));
}

TEST(HtmlReport, ContainsNoScriptAndNoExternalResource) {
  const std::set<std::string> allowed = {
      "a",     "article", "b",       "blockquote", "body",   "caption", "code",  "dd",  "desc",
      "div",   "dl",      "dt",      "figcaption", "figure", "footer",  "h1",    "h2",  "h3",
      "head",  "header",  "html",    "li",         "line",   "main",    "meta",  "nav", "p",
      "path",  "rect",    "section", "small",      "span",   "strong",  "style", "svg", "table",
      "tbody", "td",      "text",    "th",         "thead",  "title",   "tr",    "ul"};
  for (const HtmlElement& element : check_html(html_report(hostile_document())).elements) {
    EXPECT_TRUE(allowed.contains(element.name)) << element.name;
    for (const auto& [name, value] : element.attributes) {
      EXPECT_FALSE(name.starts_with("on")) << name;
      EXPECT_NE(name, "src");
      EXPECT_NE(name, "style");
    }
    const std::string href = element.attribute("href");
    EXPECT_TRUE(href.empty() || href[0] == '#' || href.starts_with("https://www.sec.gov/")) << href;
  }
  EXPECT_NE(sample_html().find("default-src 'none'"), std::string::npos);
}

TEST(HtmlReport, HostileTextsStayTexts) {
  const std::string html = html_report(hostile_document());
  EXPECT_EQ(html.find("<script"), std::string::npos);
  EXPECT_EQ(html.find("<img"), std::string::npos);
  EXPECT_EQ(html.find("\xE2\x80\xAE"), std::string::npos);
  EXPECT_EQ(html.find('\x01'), std::string::npos);
  EXPECT_NE(html.find("&lt;script&gt;alert(1)&lt;/script&gt;"), std::string::npos);
  EXPECT_EQ(check_html(html).all("style").size(), 1U);
}

TEST(HtmlReport, RatesNothingAndAsksNobodyToTrade) {
  AnalysisDocument document = sample_document();
  document.texts.clear();  // words of the filing are not those of the report
  const auto words = own_words(check_html(html_report(document)));
  for (const auto* word :
       {"buy",          "buys",           "buying",     "sell",        "sells",
        "selling",      "hold",           "overweight", "underweight", "outperform",
        "underperform", "undervalued",    "overvalued", "upside",      "downside",
        "recommend",    "recommendation", "rating",     "ratings",     "bullish",
        "bearish",      "target_price",   "attractive", "cheap",       "expensive"}) {
    EXPECT_FALSE(words.contains(word)) << word;
  }
  EXPECT_TRUE(words.contains("advice"));
  EXPECT_NE(sample_html().find("Not investment advice"), std::string::npos);
}

TEST(HtmlReport, TablesHaveCaptionsAndHeaders) {
  std::size_t tables = 0;
  for (const HtmlElement& element : sample_elements().elements) {
    if (element.name == "table") ++tables;
    if (element.name == "th") {
      EXPECT_FALSE(element.attribute("scope").empty());
    }
  }
  EXPECT_EQ(sample_elements().all("caption").size(), tables);
  EXPECT_GT(tables, 40U);
}

TEST(HtmlReport, ChartsHaveNamesAndDescriptions) {
  const auto ids = ids_of(sample_elements());
  const auto charts = sample_elements().all("svg");
  EXPECT_GE(charts.size(), 18U);
  for (const HtmlElement* chart : charts) {
    EXPECT_TRUE(ids.contains(chart->attribute("aria-labelledby")));
    EXPECT_TRUE(ids.contains(chart->attribute("aria-describedby")));
  }
}

TEST(HtmlReport, EqualDocumentsGiveEqualBytes) {
  EXPECT_EQ(html_report(sample_document()), sample_html());
}

TEST(HtmlReport, TenYearsOfAllMetricsAreAFewMegabytes) {
  EXPECT_GT(sample_document().results.figures.size(), 2'000U);
  EXPECT_LT(sample_html().size(), 4'000'000U);
}

TEST(HtmlReport, NoDocumentMakesItGrowWithoutBounds) {
  AnalysisDocument document = sample_document();
  const std::string filler(3'000'000, '<');
  document.entity_name = filler;
  document.peers.assign(5'000, filler.substr(0, 300));
  document.texts[0].text = filler;
  document.failures.assign(3'000, {"growth", filler.substr(0, 3'000)});
  document.results.findings.assign(5'000, document.results.findings[3]);
  for (Finding& finding : document.results.findings) finding.quote = filler.substr(0, 4'000);
  EXPECT_LT(html_report(document).size(), 40'000'000U);
}

TEST(HtmlReport, ASpecialistOutsideOfTheAnalysisIsNamed) {
  const std::string html = html_report(small_document());
  const std::size_t section = html.find("<section id=\"section-credit\">");
  EXPECT_NE(html.find("This specialist is not part of the analysis.", section), std::string::npos);
}

}  // namespace
}  // namespace belay::research
