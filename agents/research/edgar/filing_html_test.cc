// The text of documents, compared with the bundled annual reports.

#include "agents/research/edgar/filing_html.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "agents/research/edgar/edgar_fixture.h"
#include "agents/research/filings/ten_k_text.h"
#include "belay/value.h"

namespace belay::research {
namespace {

using ::testing::EndsWith;
using ::testing::HasSubstr;
using ::testing::StartsWith;

std::string text_of(std::string_view html) {
  FilingText read = text_of_html(html);
  EXPECT_TRUE(read.is_whole);
  EXPECT_EQ(first_invalid_utf8(read.text), std::nullopt);
  return read.text;
}

void replace_all(std::string& text, std::string_view from, std::string_view to) {
  for (std::size_t at = text.find(from); at != text.npos; at = text.find(from, at + to.size())) {
    text.replace(at, from.size(), to);
  }
}

std::string escaped(std::string text) {
  replace_all(text, "&", "&amp;");
  replace_all(text, "<", "&lt;");
  replace_all(text, " ", "&#160; ");
  return "<span style=\"font-size:9pt\"><ix:nonNumeric id=\"f-1\">" + text +
         "</ix:nonNumeric></span>";
}

// Returns the cells of a row as filings have them: the sign of a currency, ")" and "%" are cells.
std::string row_of(std::string line) {
  std::string cells;
  for (std::size_t begin = 0; begin <= line.size();) {
    std::size_t end = std::min(line.find(" | ", begin), line.size());
    std::string cell = line.substr(begin, end - begin);
    begin = end + 3;
    std::string sign;
    if (cell.size() > 1 && cell.front() == '$' && cell[1] >= '0' && cell[1] <= '9') {
      sign = "<td><span>$</span></td>";
      cell.erase(0, 1);
    }
    std::string ending;
    if (cell.size() > 1 && cell.ends_with('%') && cell[cell.size() - 2] <= '9') {
      ending = "<td>%</td>";
      cell.pop_back();
    }
    cells += "<td colspan=\"3\"/>" + sign + "<td style=\"width:1.0%\">" + escaped(cell) + "</td>" +
             ending;
  }
  return "<tr>" + cells + "</tr>";
}

// Returns a document with the lines of a text, as programs for filings write it.
std::string document_with(const std::string& text) {
  std::string html =
      "<?xml version='1.0' encoding='ASCII'?>\n<html><head><title>t</title></head>"
      "<body><div style=\"display: none\"><ix:header>hidden</ix:header></div>\n";
  bool is_table = false;
  std::size_t begin = 0;
  while (begin < text.size()) {
    std::size_t end = std::min(text.find('\n', begin), text.size());
    std::string line = text.substr(begin, end - begin);
    begin = end + 1;
    if (line.empty()) continue;
    bool is_row = line.find(" | ") != line.npos;
    if (is_row != is_table) html += is_row ? "<div><table>" : "</table></div>";
    is_table = is_row;
    html += is_row ? row_of(line) : "<div id=\"x\">" + escaped(line) + "</div><hr/>";
  }
  return html + (is_table ? "</table></div>" : "") + "</body></html>\n";
}

TEST(FilingHtml, OfTheBundledReportsHasTheirTexts) {
  for (const char* name : {"AAPL-10-K-2024-11-01.txt", "NVDA-10-K-2025-02-26.txt"}) {
    std::string text = bundled_file("10k/" + std::string(name));
    ASSERT_GT(text.size(), 100'000u);
    EXPECT_TRUE(text_of(document_with(text)) == text) << name;
  }
}

TEST(FilingHtml, HasARowOfATableInOneLine) {
  std::string html = R"(<body><div>Net sales:</div><div><table style="width:100%">
    <tr><td style="width:1.0%"/><td style="width:59.2%"/></tr>
    <tr><td colspan="3"/><td colspan="3"><span>September 28,<br/>2024</span></td>
        <td colspan="3"/><td>September 30,<br/>2023</td></tr>
    <tr><td>ASSETS:</td><td/><td/></tr>
    <tr><td>iPhone</td><td>$</td><td>201,183&#160;</td><td/><td>(2)</td><td>%</td>
        <td>&#8212;&#160;</td><td>%</td></tr>
    <tr><td><div><span>Services </span><span>(1)</span></div></td><td>$</td><td>(4,638</td>
        <td>)</td></tr>
    <tr style="height:3pt"><td/><td/></tr>
    <tr><td><div>(State or other jurisdiction</div><div>of incorporation)</div></td>
        <td>% Change</td></tr></table></div><div>(1)As of 2024.</div></body>)";
  EXPECT_EQ(text_of(html),
            "Net sales:\n"
            "September 28, 2024 | September 30, 2023\n"
            "\n"
            "ASSETS:\n"
            "iPhone | $201,183 | (2)% | \u2014%\n"
            "Services (1) | $(4,638)\n"
            "(State or other jurisdiction of incorporation) | % Change\n"
            "\n"
            "(1)As of 2024.\n");
}

TEST(FilingHtml, HasTheSignOfACurrencyAloneIfNoNumberFollows) {
  EXPECT_EQ(text_of("<table><tr><td>$</td><td>% Change</td><td>$</td></tr></table>"),
            "$ | % Change | $\n");
  EXPECT_EQ(text_of("<table><tr><td>Total</td><td>%</td><td>)</td></tr></table>"),
            "Total | % | )\n");
}

TEST(FilingHtml, HasTheRowsOfANestedTableBetweenThoseOfTheOuterOne) {
  std::string html =
      "<table><tr><td>a</td><td>b<table><tr><td>c</td><td>d</td></tr><tr><td>e</td><td>f</td></tr>"
      "</table>g</td><td>h</td></tr><tr><td>i</td><td>j</td></tr></table>";
  EXPECT_EQ(text_of(html), "a | b\nc | d\ne | f\ng | h\ni | j\n");
}

TEST(FilingHtml, HasNoHiddenElements) {
  std::string html =
      "<head><title>t</title><style>p{}</style></head><body><script>s()</script>"
      "<ix:header><ix:hidden>x<div>y</div></ix:hidden></ix:header>"
      "<div style='color:red; DISPLAY : none'><p>x</p><table><tr><td>y</td></tr></table></div>"
      "<p hidden>x</p><p style=\"visibility:hidden\">y</p><img alt=\"z\" src=\"z.jpg\"/>"
      "<p>seen <ix:nonFraction contextRef=\"c-1\">98,016</ix:nonFraction></p></body>";
  EXPECT_EQ(text_of(html), "seen 98,016\n");
}

TEST(FilingHtml, HasTheCharactersOfItsEntities) {
  EXPECT_EQ(text_of("<p>A&amp;B &lt;1&gt; &eacute; &#8217; &#x2019; &ldquo;q&rdquo; &sect; "
                    "&#9746;&nbsp;&bogus;</p>"),
            "A&B <1> \u00e9 \u2019 \u2019 \u201cq\u201d \u00a7 \u2612 &bogus;\n");
}

TEST(FilingHtml, IsReadAsWindows1252IfItIsNotUtf8) {
  EXPECT_EQ(text_of("<p>Apple\x92s \x93q\x94 caf\xe9 \xa7</p>"),
            "Apple\u2019s \u201cq\u201d caf\u00e9 \u00a7\n");
  EXPECT_EQ(text_of("<p>Apple&#146;s &#150; \x01&#129;x</p>"), "Apple\u2019s \u2013 x\n");
}

TEST(FilingHtml, HasOneSpaceForWhiteSpace) {
  EXPECT_EQ(text_of("<p>\n a \t\r\n&#160;&#160;b<span> c</span> <b>d</b>e\ufeff</p>text<br>more"),
            "a b c de\n\ntext\n\nmore\n");
}

TEST(FilingHtml, HasTheLinesOfPreformattedText) {
  EXPECT_EQ(
      text_of("<p>x</p><pre>Item 1.   Business\n\n\n  Sales  10\r\n  Costs   9\n</pre><p>y</p>"),
      "x\n\nItem 1.   Business\n\n  Sales  10\n  Costs   9\n\ny\n");
}

TEST(FilingHtml, ThatIsBrokenHasItsText) {
  EXPECT_EQ(text_of("<table><tr><td>a<td>b<tr><td>c</table></div></p><b>d<p>e</i>"),
            "a | b\n\nc\n\nd\n\ne\n");
  EXPECT_EQ(text_of("<p>a</td></tr></table>b <tr><td>c"), "ab\n\nc\n");
  EXPECT_EQ(text_of("no tags <"), "no tags <\n");
  EXPECT_EQ(text_of(std::string_view("<p>a\0b</p>", 10)), "a b\n");
  EXPECT_EQ(text_of("<!-- only a comment"), "");
  EXPECT_EQ(text_of(""), "");
}

TEST(FilingHtml, HasTheTextBelowTenThousandLevels) {
  std::string html;
  for (int i = 0; i < 10'000; ++i) html += "<div><span>";
  EXPECT_EQ(text_of(html + "deep"), "deep\n");
  std::string tables;
  for (int i = 0; i < 10'000; ++i) tables += "<table><tr><td>";
  EXPECT_EQ(text_of(tables + "deep"), "deep\n");
}

TEST(FilingHtml, HasTheTextOfAHugeCell) {
  std::string cell;
  for (int i = 0; i < 200'000; ++i) cell += "word ";
  std::string text = text_of("<table><tr><td>" + cell + "</td><td>b</td></tr></table>");
  EXPECT_EQ(text.size(), cell.size() - 1 + 5);
  EXPECT_THAT(text, EndsWith("word | b\n"));
}

TEST(FilingHtml, ThatIsTooIrregularIsNotWhole) {
  auto repeated = [](std::string_view part, int times) {
    std::string text;
    for (int i = 0; i < times; ++i) text += part;
    return text;
  };
  EXPECT_FALSE(text_of_html(repeated("<b>", 200'000)).is_whole);
  EXPECT_FALSE(text_of_html(repeated("<b>", 90'000) + repeated("</i>x", 20'000)).is_whole);
  std::string attributes = "<p ";
  for (int i = 0; i < 100'000; ++i) attributes += "a" + std::to_string(i % 5'000) + "=1 ";
  EXPECT_FALSE(text_of_html(attributes + ">x</p>").is_whole);
}

TEST(FilingHtml, IsDividedIntoItems) {
  TenKText text(text_of(sample_html()));
  ASSERT_EQ(text.items().size(), 2u);
  EXPECT_EQ(text.items()[0].name, "1");
  EXPECT_EQ(text.items()[1].name, "1A");
  TenKText bundled(bundled_file("10k/AAPL-10-K-2024-11-01.txt"));
  TenKText again(text_of(document_with(bundled.bytes())));
  EXPECT_EQ(again.items().size(), bundled.items().size());
  EXPECT_GT(again.items().size(), 20u);
}

TEST(PlainFiling, KeepsItsLines) {
  FilingText read = text_of_plain("\r\n<PAGE>\r\nITEM 1.  BUSINESS\r\n\r\n\r\n  Sales   10\r\n");
  EXPECT_EQ(read.text, "<PAGE>\nITEM 1.  BUSINESS\n\n  Sales   10\n");
  EXPECT_THAT(text_of_plain("caf\xe9").text, StartsWith("caf\u00e9"));
  EXPECT_EQ(text_of_plain("\n\n").text, "");
}

}  // namespace
}  // namespace belay::research
