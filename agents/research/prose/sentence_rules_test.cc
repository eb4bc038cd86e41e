#include "agents/research/prose/sentence_rules.h"

#include <gtest/gtest.h>

#include <string>

namespace belay::research {
namespace {

struct SentenceRules : ::testing::Test {
  ExcerptParagraph paragraph;

  std::vector<QuotePlace> quoting(const std::string& text, TextSpan span) {
    paragraph.text = text;
    return {QuotePlace{&paragraph, span}};
  }
  bool are_numbers_quoted(std::string_view sentence, const std::string& quote) {
    return numbers_are_quoted(sentence, quoting(quote, {0, quote.size()}));
  }
  bool are_characters_quoted(std::string_view sentence, const std::string& quote) {
    return characters_are_quoted(sentence, quoting(quote, {0, quote.size()}));
  }
};

TEST_F(SentenceRules, ANumberIsThatOfAQuote) {
  EXPECT_TRUE(are_numbers_quoted("It has many shops.", "It has 36,000 shops"));
  EXPECT_TRUE(are_numbers_quoted("There are 36,000 of them.", "It has 36,000 shops"));
  EXPECT_FALSE(are_numbers_quoted("There are 36000 of them.", "It has 36,000 shops"));
  EXPECT_FALSE(are_numbers_quoted("There are 6,000 of them.", "It has 36,000 shops"));
  EXPECT_FALSE(are_numbers_quoted("There are 36 of them.", "It has 36,000 shops"));
  EXPECT_FALSE(are_numbers_quoted("It began in 1999.", "It has 36,000 shops"));
  EXPECT_FALSE(numbers_are_quoted("There are 36,000 of them.", {}));
}

TEST_F(SentenceRules, ANumberHasTheUnitSignAndCurrencyOfTheQuote) {
  const std::string quote = "revenue was $391.0 billion, an increase of 5.2%";
  EXPECT_TRUE(are_numbers_quoted("Revenue was $391.0 billion.", quote));
  EXPECT_TRUE(are_numbers_quoted("Revenue rose by 5.2 percent.", quote));
  EXPECT_FALSE(are_numbers_quoted("Revenue was $391.0 million.", quote));
  EXPECT_FALSE(are_numbers_quoted("Revenue was 391.0 billion.", quote));
  EXPECT_FALSE(are_numbers_quoted("Revenue was $391.0.", quote));
  EXPECT_FALSE(are_numbers_quoted("Revenue was \u20AC391.0 billion.", quote));
  EXPECT_FALSE(are_numbers_quoted("Revenue changed by -5.2%.", quote));
  EXPECT_FALSE(are_numbers_quoted("Revenue changed by \u22125.2%.", quote));
  EXPECT_FALSE(are_numbers_quoted("Revenue rose by 5.2 billion.", quote));
}

TEST_F(SentenceRules, ACutQuoteDoesNotRemoveTheUnit) {
  const std::string text = "revenue was $391.0 billion";
  const auto quotes = quoting(text, {0, text.size() - 8});
  EXPECT_FALSE(numbers_are_quoted("Revenue was $391.0.", quotes));
  EXPECT_FALSE(numbers_are_quoted("Revenue was $391.0 million.", quotes));
}

TEST_F(SentenceRules, ANumberInWordsIsThatOfAQuote) {
  EXPECT_TRUE(are_numbers_quoted("It is in Two countries.", "in two countries"));
  EXPECT_FALSE(are_numbers_quoted("It is in three countries.", "in two countries"));
  EXPECT_FALSE(are_numbers_quoted("Revenue doubled.", "revenue increased"));
  EXPECT_FALSE(are_numbers_quoted("It has millions of customers.", "it has many customers"));
  EXPECT_FALSE(are_numbers_quoted("Half of its sales are abroad.", "some sales are abroad"));
  EXPECT_TRUE(are_numbers_quoted("Someone often tends it.", "it is tended"));
}

TEST_F(SentenceRules, AWordWithADigitIsANumber) {
  EXPECT_TRUE(are_numbers_quoted("It makes the H100.", "our H100 and H200 products"));
  EXPECT_FALSE(are_numbers_quoted("It makes the H300.", "our H100 and H200 products"));
  EXPECT_TRUE(are_numbers_quoted("It is a 52-week year.", "the 52- or 53-week period"));
}

TEST_F(SentenceRules, OtherScriptsAreThoseOfAQuote) {
  EXPECT_TRUE(are_characters_quoted("It\u2019s \u201Cold\u201D \u2013 really\u2026", "it is old"));
  EXPECT_TRUE(are_characters_quoted("It is Ren\u00E9.", "it is Ren\u00E9"));
  EXPECT_FALSE(are_characters_quoted("It is Ren\u00E9.", "it is Rene"));
  EXPECT_FALSE(are_characters_quoted("It has \uFF15 shops.", "it has 5 shops")) << "a wide digit";
  EXPECT_FALSE(are_characters_quoted("It has \u00BD of them.", "it has some"));
  EXPECT_FALSE(are_characters_quoted("A b\u0443y.", "a guy")) << "a Cyrillic letter";
  EXPECT_FALSE(are_characters_quoted("It is \xFF damaged.", "it is damaged"));
}

TEST_F(SentenceRules, AdviceIsRecognized) {
  EXPECT_TRUE(has_advice("Investors may Buy the stock."));
  EXPECT_TRUE(has_advice("It is time to SELL."));
  EXPECT_TRUE(has_advice("The price\ttarget is high."));
  EXPECT_TRUE(has_advice("The shares are undervalued."));
  EXPECT_TRUE(has_advice("Analysts rate it overweight."));
  EXPECT_TRUE(has_advice("It should outperform, as investors should know."));
  EXPECT_FALSE(has_advice("The company designs and sells machines to buyers."));
  EXPECT_FALSE(has_advice("It holds shares of other companies."));
  EXPECT_FALSE(has_advice(""));
}

TEST_F(SentenceRules, ASentenceIsOneLineOfPlainText) {
  EXPECT_TRUE(is_plain_sentence("The company makes machines."));
  EXPECT_FALSE(is_plain_sentence(""));
  EXPECT_FALSE(is_plain_sentence("Machines."));
  EXPECT_FALSE(is_plain_sentence("The company makes\nmachines."));
  EXPECT_FALSE(is_plain_sentence("The company makes <b>machines</b>."));
  EXPECT_FALSE(is_plain_sentence("The company makes [machines](x)."));
  EXPECT_FALSE(is_plain_sentence("See https://example.com for the machines."));
  EXPECT_FALSE(is_plain_sentence("The company makes \xFF machines."));
  EXPECT_FALSE(is_plain_sentence("The company makes " + std::string(kSentenceBytesMax, 'a')));
}

}  // namespace
}  // namespace belay::research
