#include "agents/research/report/escaped_text.h"

#include <gtest/gtest.h>

#include <string>

namespace belay::research {
namespace {

using report::clean_text;
using report::html_text;
using report::markdown_code;
using report::markdown_text;

TEST(CleanText, BlanksAndLineEndsBecomeOneSpace) {
  EXPECT_EQ(clean_text("  a\t\r\n b\xC2\xA0\xC2\xA0 c\xE2\x80\xA8 d  ", 99), "a b c d");
}

TEST(CleanText, MalformedBytesAreReplaced) {
  const std::string mark = "\xEF\xBF\xBD";
  EXPECT_EQ(clean_text("a\xFFz", 99), "a" + mark + "z");
  EXPECT_EQ(clean_text("\xC0\xAF", 99), mark + mark);                        // too long a form
  EXPECT_EQ(clean_text("\xED\xA0\x80", 99), mark + mark + mark);             // half of a pair
  EXPECT_EQ(clean_text("\xF4\x90\x80\x80", 99), mark + mark + mark + mark);  // above U+10FFFF
  EXPECT_EQ(clean_text("\xE2\x82", 99), mark + mark);                        // cut off
}

TEST(CleanText, ControlAndDirectionCharactersAreDropped) {
  EXPECT_EQ(clean_text(std::string_view("a\0\x1B\x7Fz", 5), 99), "az");
  EXPECT_EQ(clean_text("a\xE2\x80\xAE\xE2\x81\xA6\xD8\x9Cz", 99), "az");
  EXPECT_EQ(clean_text("\xEF\xBB\xBFz\xEF\xBF\xBE", 99), "z");
}

TEST(CleanText, OtherScriptsStay) {
  EXPECT_EQ(clean_text("Nestlé 株式会社 😀", 99), "Nestlé 株式会社 😀");
}

TEST(CleanText, ALongTextIsCutBetweenTwoCharacters) {
  EXPECT_EQ(clean_text("abcdefghij", 6), "abcde…");
  EXPECT_EQ(clean_text("äääääääääää", 6), "ää…");
  EXPECT_EQ(clean_text(std::string(1'000'000, 'x'), 10).size(), 9U + 3U);
}

TEST(HtmlText, MarkupBecomesText) {
  EXPECT_EQ(html_text("<a href='x'>\"A&B\"</a>", 99),
            "&lt;a href=&#39;x&#39;&gt;&quot;A&amp;B&quot;&lt;/a&gt;");
}

TEST(MarkdownText, MarkupBecomesText) {
  EXPECT_EQ(markdown_text("a*b_c`d[e](f)|g", 99), "a\\*b\\_c\\`d\\[e\\](f)\\|g");
  EXPECT_EQ(markdown_text("<b>&amp;</b>", 99), "&lt;b&gt;&amp;amp;&lt;/b&gt;");
  EXPECT_EQ(markdown_text("a\\|b", 99), "a\\\\\\|b");
  EXPECT_EQ(markdown_text("$5 to $6, x@y", 99), "\\$5 to \\$6, x\\@y");
}

TEST(MarkdownText, AParagraphIsNoHeadingAndNoList) {
  EXPECT_EQ(markdown_text("# a", 99), "\\# a");
  EXPECT_EQ(markdown_text("- a", 99), "\\- a");
  EXPECT_EQ(markdown_text("+ a", 99), "\\+ a");
  EXPECT_EQ(markdown_text("===", 99), "\\===");
  EXPECT_EQ(markdown_text("12. a", 99), "12\\. a");
  EXPECT_EQ(markdown_text("12) a", 99), "12\\) a");
  EXPECT_EQ(markdown_text("> a", 99), "&gt; a");
  EXPECT_EQ(markdown_text("    a\nb", 99), "a b");
}

TEST(MarkdownText, AnAddressIsNoLink) {
  EXPECT_EQ(markdown_text("https://x.test and www.x.test", 99),
            "https\\://x.test and www\\.x.test");
}

TEST(MarkdownText, OrdinaryProseStaysReadable) {
  EXPECT_EQ(markdown_text("Apple Inc. grew by 3.5% (see Item 7): more - or less.", 99),
            "Apple Inc. grew by 3.5% (see Item 7): more - or less.");
}

TEST(MarkdownCode, ABacktickCannotEndTheSpan) {
  EXPECT_EQ(markdown_code("a`b|c", 99), "`a'b\\|c`");
  EXPECT_EQ(markdown_code("", 99), "` `");
}

}  // namespace
}  // namespace belay::research
