#include "agents/research/filings/quotes.h"

#include <gtest/gtest.h>

#include <string>
#include <string_view>
#include <vector>

namespace belay::research {
namespace {

// Returns the quote around the first `part` of `text`, after checks that it is verbatim.
std::string quoted(std::string_view text, std::string_view part) {
  const std::size_t at = text.find(part);
  const Quote quote = quote_around(text, {at, at + part.size()});
  EXPECT_EQ(text.substr(quote.offset, quote.text.size()), quote.text);
  EXPECT_LE(quote.text.size(), kQuoteBytesMax);
  EXPECT_TRUE(is_valid_utf8(quote.text));
  return quote.text;
}

std::vector<std::string> sentences_in(std::string_view text) {
  std::vector<std::string> found;
  TextSpan rest{0, text.size()};
  while (const auto sentence = next_sentence(text, rest)) {
    found.emplace_back(sentence->of(text));
    rest.begin = sentence->end;
  }
  return found;
}

using SentenceTexts = std::vector<std::string>;

TEST(Quotes, AQuoteIsTheSentenceAroundThePart) {
  const std::string_view text = "We sell. There is doubt about us! We hope?\nNext line.";
  EXPECT_EQ(quoted(text, "doubt"), "There is doubt about us!");
  EXPECT_EQ(quoted(text, "We"), "We sell.");
  EXPECT_EQ(quoted(text, "hope"), "We hope?");
  EXPECT_EQ(quoted(text, "line"), "Next line.");
}

TEST(Quotes, AQuoteStaysInItsLineUnlessThePartDoesNot) {
  EXPECT_EQ(quoted("One\n\n  a doubt here \r\nTwo", "doubt"), "a doubt here");
  EXPECT_EQ(quoted("A going\nconcern of ours\nTwo", "going\nconcern"), "A going\nconcern of ours");
}

TEST(Quotes, AbbreviationsEndNoSentence) {
  const std::string_view text = "Apple Inc. and the U.S. Department of J. Smith have doubt. End.";
  EXPECT_EQ(quoted(text, "doubt"), text.substr(0, text.size() - 5));
}

TEST(Quotes, OfALongSentenceAQuoteIsWholeWords) {
  std::string text = "First. ";
  for (int i = 0; i < 100; ++i) text += "word" + std::to_string(i) + " ";
  text += "the doubt ";
  for (int i = 0; i < 100; ++i) text += "text" + std::to_string(i) + " ";
  const std::string quote = quoted(text, "doubt");
  EXPECT_GT(quote.size(), kQuoteBytesMax - 10);
  EXPECT_TRUE(quote.starts_with("word")) << quote;
  EXPECT_NE(quote.find(" the doubt text0 "), std::string::npos) << quote;
  EXPECT_NE(quote.back(), ' ');
  const std::size_t after = text.find(quote) + quote.size();
  EXPECT_EQ(text[after], ' ');
}

TEST(Quotes, AQuoteIsValidUtf8) {
  const std::string marks = [] {
    std::string text;
    for (int i = 0; i < 200; ++i) text += "\u2019";
    return text;
  }();
  EXPECT_EQ(quoted(marks + "doubt" + marks, "doubt").substr(0, 8), "doubt\u2019");
  EXPECT_EQ(quoted("one \xFF two doubt three \xC2 four", "doubt"), "two doubt three");
  EXPECT_EQ(quoted("\x80\x80\x80\x80 doubt\xE2\x80", "doubt"), "doubt");
  EXPECT_EQ(quoted(std::string_view("one\0two doubt\0three", 19), "doubt"), "two doubt");
}

TEST(Quotes, APartThatIsTooLongIsCut) {
  const std::string text(1'000, 'x');
  EXPECT_EQ(quote_around(text, {200, 900}), (Quote{std::string(300, 'x'), 200}));
  std::string wide;
  for (int i = 0; i < 200; ++i) wide += "\u00E9";
  EXPECT_EQ(quoted("x" + wide, wide).size(), kQuoteBytesMax - 1);
}

TEST(Quotes, SentencesOfALineHaveEndsAndNoBlanksAround) {
  EXPECT_EQ(sentences_in("  One two.  Three \xE2\x80\x9C"
                         "four.\xE2\x80\x9D\xC2\xA0"
                         "Five? no end"),
            (SentenceTexts{"One two.", "Three \u201Cfour.\u201D", "Five?"}));
  EXPECT_EQ(sentences_in("\u2022 Apple Inc. sells.\u202F\u2022 It has 3.5 parts (two.) End."),
            (SentenceTexts{"Apple Inc. sells.", "It has 3.5 parts (two.)", "End."}));
  EXPECT_EQ(sentences_in("no end"), SentenceTexts{});
  EXPECT_EQ(sentences_in(""), SentenceTexts{});
  EXPECT_EQ(sentences_in(" \u2022 "), SentenceTexts{});
  EXPECT_EQ(sentences_in("..."), SentenceTexts{"..."});
}

TEST(Quotes, OnlyValidTextWithoutControlCharactersIsQuotable) {
  EXPECT_TRUE(is_quotable("Caf\xC3\xA9\twith \xF0\x9F\x98\x80"));
  EXPECT_FALSE(is_quotable(std::string_view("a\0b", 3)));
  EXPECT_FALSE(is_quotable("a\nb"));
  EXPECT_FALSE(is_quotable("a\x7F"));
  // Overlong, surrogate, beyond U+10FFFF, cut.
  for (const char* wrong : {"\xC0\xAF", "\xE0\x9F\xBF", "\xED\xA0\x80", "\xF0\x8F\xBF\xBF",
                            "\xF4\x90\x80\x80", "\xF5\x80\x80\x80", "\xE2\x82", "\x80", "\xFF"}) {
    EXPECT_FALSE(is_quotable(wrong));
    EXPECT_FALSE(is_valid_utf8(wrong));
  }
  EXPECT_TRUE(is_valid_utf8("a\nb\xED\x9F\xBF\xF4\x8F\xBF\xBF\xE0\xA0\x80"));
}

TEST(Quotes, AVerbatimQuoteOfAnItemIsFound) {
  const TenKText text(
      "We sell.\nItem 1. Business\nWe sell. We buy.\nItem 2. Properties\nWe own.\n");
  const TenKItem& business = *text.item("1");
  EXPECT_EQ(find_quote(text, business, "We sell."), 26u);
  EXPECT_EQ(find_quote(text, business, "We own."), std::nullopt);
  EXPECT_EQ(find_quote(text, business, "we sell."), std::nullopt);
  EXPECT_EQ(find_quote(text, business, ""), std::nullopt);
}

}  // namespace
}  // namespace belay::research
