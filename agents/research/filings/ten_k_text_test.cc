#include "agents/research/filings/ten_k_text.h"

#include <gtest/gtest.h>

#include <fstream>
#include <iterator>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace belay::research {
namespace {

std::vector<std::string> item_names(const TenKText& text) {
  std::vector<std::string> names;
  for (const TenKItem& item : text.items()) names.emplace_back(item.name);
  return names;
}

std::string item_text(const TenKText& text, std::string_view name) {
  const TenKItem* item = text.item(name);
  return item != nullptr ? std::string(item->text.of(text.bytes())) : "no item";
}

std::string filed_report(const char* file_name) {
  std::ifstream file(std::string(BELAY_SOURCE_DIR "/agents/research/data/edgar/10k/") + file_name,
                     std::ios::binary);
  return {std::istreambuf_iterator<char>(file), std::istreambuf_iterator<char>()};
}

using ItemNames = std::vector<std::string>;

TEST(TenKText, AnItemReachesFromItsHeadingToTheNextOne) {
  const TenKText text("Cover\nItem 1. Business\nWe sell.\n\nItem 1A. Risk Factors\nWe may fail.");
  EXPECT_EQ(item_names(text), (ItemNames{"1", "1A"}));
  EXPECT_EQ(item_text(text, "1"), "We sell.\n\n");
  EXPECT_EQ(item_text(text, "1A"), "We may fail.");
  EXPECT_EQ(text.item("1")->heading, (TextSpan{6, 22}));
  EXPECT_EQ(text.item("1")->text.begin, 23u);
  EXPECT_EQ(text.item("2"), nullptr);
  EXPECT_EQ(text.item(""), nullptr);
}

TEST(TenKText, AByteBelongsToTheItemOfItsHeadingOrText) {
  const TenKText text("Cover\nItem 1. Business\nWe sell.\nItem 1A. Risk Factors\nLoss");
  EXPECT_EQ(text.item_at(5), nullptr);
  EXPECT_EQ(text.item_at(6)->name, "1");
  EXPECT_EQ(text.item_at(31)->name, "1");
  EXPECT_EQ(text.item_at(32)->name, "1A");
  EXPECT_EQ(text.item_at(57)->name, "1A");
  EXPECT_EQ(text.item_at(58), nullptr);
}

TEST(TenKText, RowsOfTheTableOfContentsAreNoHeadings) {
  const TenKText text(
      "Item 1. | Business | 3\nItem 1A. | Risk Factors | 9\n"
      "Item 1. Business\nWe sell.\nItem 1A. Risk Factors\nWe may fail.\n");
  EXPECT_EQ(item_text(text, "1"), "We sell.\n");
  EXPECT_EQ(item_text(text, "1A"), "We may fail.\n");
}

TEST(TenKText, TheLastOfSeveralHeadingsCounts) {
  const TenKText text(
      "Item 1. Business\nItem 1A. Risk Factors\nItem 2. Properties\n"  // contents without pages
      "Item 1. Business\nfirst\nItem 1A. Risk Factors\nsecond\nItem 1A. Risk Factors (continued)\n"
      "third\nItem 2. Properties\nfourth\n");
  EXPECT_EQ(item_names(text), (ItemNames{"1", "1A", "2"}));
  EXPECT_EQ(item_text(text, "1"), "first\nItem 1A. Risk Factors\nsecond\n");
  EXPECT_EQ(item_text(text, "1A"), "third\n");
}

TEST(TenKText, AnItemOutOfTheFormsOrderIsDropped) {
  const TenKText text(
      "Item 2. Properties\nhouses\nItem 1. Business\nWe sell.\nItem 7. Management's\nprofit\n"
      "Item 3. Legal Proceedings\nnone\n");
  // Item 2 comes before Item 1. Item 3 comes after Item 1, and with it the last accepted heading
  // is behind that of Item 7.
  EXPECT_EQ(item_names(text), (ItemNames{"1", "3"}));
  EXPECT_EQ(item_text(text, "1"), "We sell.\nItem 7. Management's\nprofit\n");
  EXPECT_EQ(item_text(text, "3"), "none\n");
}

TEST(TenKText, PartLinesAreLeftOutOfItemsButNotOfTheDocument) {
  const TenKText text("Item 4. Mine Safety\nNot applicable.\nPART II\n part iv \nPart II, too.\n");
  EXPECT_EQ(text.item("4")->measures.words, 4u + 1u);        // not applicable, part ii too
  EXPECT_EQ(text.document().words, 3u + 2u + 2u + 2u + 3u);  // item mine safety, ...
}

TEST(TenKText, LinesMayEndInCarriageReturns) {
  const TenKText text(
      "Item 1. Business\r\nWe sell.\r\n\r\nPART II\r\nItem 1A. Risk Factors\r\nWe fail.\r");
  EXPECT_EQ(item_names(text), (ItemNames{"1", "1A"}));
  EXPECT_EQ(text.item("1")->measures.words, 2u);
  EXPECT_EQ(text.item("1")->measures.sentences, 1u);
  EXPECT_EQ(text.item("1A")->measures.sentences, 1u);
  // Of two carriage returns, one is part of the line.
  EXPECT_EQ(TenKText("We sell.\r\r\n").document().sentences, 0u);
}

TEST(TenKText, RowsOfTablesHaveNoWordsAndSentences) {
  const TenKText text("Item 1. Business\nRevenue | ten. | eleven.\nWe sell two things.\n");
  EXPECT_EQ(text.item("1")->measures.words, 4u);
  EXPECT_EQ(text.item("1")->measures.sentences, 1u);
  EXPECT_EQ(text.document().words, 6u);
}

TEST(TenKText, MeasuresAreCountedByHand) {
  const TenKText text(
      "Item 1A. Risk Factors\n"
      "Competition could harm our business. The company's losses may be material!\n"
      "We don't believe that.\n");
  TextMeasures expected;
  expected.words = 15;  // competition could harm our business the company losses may be material
                        // we don believe that
  expected.distinct_words = 15;
  expected.complex_words = 4;  // competition, business, company, material
  expected.sentences = 3;
  expected.in_list[kNegative] = 2;     // harm, losses
  expected.in_list[kUncertainty] = 3;  // could, may, believe
  expected.in_list[kModalWeak] = 2;    // could, may
  expected.in_list[7] = 1;             // competition
  EXPECT_EQ(text.item("1A")->measures, expected);

  expected.words = 18;
  expected.distinct_words = 18;
  expected.in_list[kUncertainty] = 4;  // risk
  expected.sentences = 3;              // "1A." has an end
  ++expected.sentences;
  EXPECT_EQ(text.document(), expected);
}

TEST(TenKText, WordsDoNotReachOverLines) {
  const TenKText text("compe\ntition a\nb");
  EXPECT_EQ(text.document().words, 2u);
  EXPECT_EQ(text.document().distinct_words, 2u);
}

TEST(TenKText, BytesThatAreNotUtf8AreNoLettersAndNoBlanks) {
  const TenKText text(
      "Item 1. Business\nSell\xFF"
      "ing.\xA0\xC2\n\xE2\x80Item 2. Properties\nWe own.\n");
  EXPECT_EQ(item_names(text), ItemNames{"1"});
  EXPECT_EQ(text.item("1")->measures.words, 2u + 2u + 2u);
  EXPECT_EQ(text.item("1")->measures.sentences, 2u);  // "2. Properties" and "own."
}

TEST(TenKText, AnEmptyTextHasNoItems) {
  for (const char* bytes : {"", "\n", "\r\n\r\n", " ", "No headings."}) {
    EXPECT_TRUE(TenKText(bytes).items().empty());
  }
  EXPECT_EQ(TenKText("").document(), TextMeasures());
}

TEST(TenKText, AHeadingMayBeTheLastLine) {
  const TenKText text("Item 1. Business\nWe sell.\nItem 1A. Risk Factors");
  EXPECT_EQ(item_text(text, "1A"), "");
  EXPECT_EQ(text.item("1A")->measures, TextMeasures());
  EXPECT_EQ(text.item("1")->text.end, 26u);
}

TEST(TenKText, AMovedTextKeepsItsItems) {
  TenKText first("Item 1. Business\nWe sell.\n");
  const TenKText second = std::move(first);
  EXPECT_EQ(item_text(second, "1"), "We sell.\n");
}

TEST(TenKText, TenMegabytesWithoutALineFeedAreOneLine) {
  const std::size_t size = 10'000'000;
  EXPECT_EQ(TenKText(std::string(size, 'a')).document().words, 1u);
  EXPECT_EQ(TenKText(std::string(size, '.')).document().sentences, 1u);
  EXPECT_EQ(TenKText(std::string(size, '\0')).document(), TextMeasures());
  EXPECT_EQ(TenKText("Item 1. Business" + std::string(size, ' ')).items().size(), 1u);
  EXPECT_EQ(TenKText("Item 1. Business |" + std::string(size, '7')).items().size(), 0u);

  std::string words;
  while (words.size() < size) words += "risk business. ";
  const TextMeasures measures = TenKText(words).document();
  EXPECT_EQ(measures.words, 2 * (words.size() / 15));
  EXPECT_EQ(measures.sentences, words.size() / 15);
  EXPECT_EQ(measures.distinct_words, 2u);
}

TEST(TenKText, ManyHeadingsAndEmptyLinesAreRead) {
  std::string headings;
  for (int i = 0; i < 100'000; ++i) headings += "Item 1. Business\nItem 1A. Risk Factors\n";
  const TenKText text(headings);
  EXPECT_EQ(item_names(text), (ItemNames{"1", "1A"}));
  EXPECT_EQ(text.item("1A")->heading.end, headings.size() - 1);
  EXPECT_TRUE(TenKText(std::string(5'000'000, '\n')).items().empty());
}

TEST(TenKText, AReportOfAppleHasAllItems) {
  const TenKText text(filed_report("AAPL-10-K-2024-11-01.txt"));
  ASSERT_EQ(text.bytes().size(), 208622u);
  EXPECT_EQ(text.items().size(), 23u);
  EXPECT_EQ(text.item("7")->heading.of(text.bytes()),
            "Item 7. Management\u2019s Discussion and Analysis of Financial Condition and Results "
            "of Operations");
  EXPECT_EQ(text.document().words, 23745u);
  EXPECT_EQ(text.document().sentences, 904u);
  EXPECT_EQ(text.document().distinct_words, 2532u);
  EXPECT_EQ(text.item("1")->measures.words, 2225u);
  EXPECT_EQ(text.item("1A")->measures.words, 9774u);
  EXPECT_EQ(text.item("7")->measures.words, 1894u);
  EXPECT_EQ(text.item("8")->measures.words, 5745u);
}

TEST(TenKText, AReportOfNvidiaHasAllItems) {
  const TenKText text(filed_report("NVDA-10-K-2025-02-26.txt"));
  ASSERT_EQ(text.bytes().size(), 353096u);
  EXPECT_EQ(text.items().size(), 23u);
  EXPECT_EQ(text.item("5")->heading.of(text.bytes()),
            "Item 5. Market for Registrant's Common Equity, Related Stockholder Matters and Issuer "
            "Purchases of Equity Securities");
  EXPECT_EQ(text.document().words, 45624u);
  EXPECT_EQ(text.document().sentences, 1632u);
  EXPECT_EQ(text.document().distinct_words, 3793u);
  EXPECT_EQ(text.item("1")->measures.words, 7812u);
  EXPECT_EQ(text.item("1A")->measures.words, 16410u);
  EXPECT_EQ(text.item("7")->measures.words, 5113u);
  EXPECT_EQ(text.item("8")->measures.words, 24u);
}

}  // namespace
}  // namespace belay::research
