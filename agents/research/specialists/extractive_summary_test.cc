#include "agents/research/specialists/extractive_summary.h"

#include <gtest/gtest.h>

#include <fstream>
#include <iterator>
#include <string>
#include <string_view>
#include <vector>

#include "agents/research/specialists/text_figures.h"

namespace belay::research {
namespace {

std::string report_of_nvidia() {
  std::ifstream file(BELAY_SOURCE_DIR "/agents/research/data/edgar/10k/NVDA-10-K-2025-02-26.txt",
                     std::ios::binary);
  return {std::istreambuf_iterator<char>(file), std::istreambuf_iterator<char>()};
}

void expect_verbatim(const TenKText& text, std::uint64_t offset, std::string_view quote) {
  EXPECT_FALSE(quote.empty());
  EXPECT_EQ(std::string_view(text.bytes()).substr(offset, quote.size()), quote);
  EXPECT_TRUE(is_valid_utf8(quote));
}

TEST(ExtractiveSummary, HasTheFirstInformativeSentences) {
  const TenKText text(
      "Item 1. Business\n"
      "Company Background\n"
      "We sell.\n"
      "This Annual Report on Form 10-K has statements about the future of us.\n"
      "The company designs, makes and sells machines to its customers worldwide.\n"
      "Table | The company designs, makes and sells machines to customers worldwide.\n"
      "price to decline, which would be a rest of a sentence over pages.\n"
      "\u2022 It employs people in many countries, and it pays them well. Short one.\n"
      "Its third line of business is the repair of all old machines.\n"
      "Item 1A. Risk Factors\n");
  const ExtractiveSummary summary = extractive_summary(&text, "1", 2);
  EXPECT_EQ(summary.item, "1");
  ASSERT_EQ(summary.sentences.size(), 2u);
  EXPECT_EQ(summary.sentences[0].text,
            "The company designs, makes and sells machines to its customers worldwide.");
  EXPECT_EQ(summary.sentences[1].text,
            "It employs people in many countries, and it pays them well.");
  for (const Quote& quote : summary.sentences) expect_verbatim(text, quote.offset, quote.text);
  EXPECT_EQ(summary.note,
            "Extractive, without a model: sentences of Item 1 as filed, the first ones that are "
            "informative.");
  EXPECT_EQ(extractive_summary(&text, "1", 9).sentences.size(), 3u);
}

TEST(ExtractiveSummary, OfRisksHasSentencesWithANegativeWord) {
  const TenKText text(
      "Item 1A. Risk Factors\n"
      "Our business depends on many things that are outside of our control.\n"
      "A long downturn could reduce what our customers spend on our machines.\n");
  const ExtractiveSummary summary = extractive_summary(&text, "1A");
  ASSERT_EQ(summary.sentences.size(), 1u);
  EXPECT_TRUE(summary.sentences[0].text.starts_with("A long downturn"));
}

TEST(ExtractiveSummary, LongAndInvalidSentencesAreLeftOut) {
  std::string long_sentence = "The company";
  while (long_sentence.size() < kSummarySentenceBytesMax) long_sentence += " sells many machines";
  const TenKText text("Item 1. Business\n" + long_sentence +
                      ".\nThe company sells \xFF many machines to its many customers.\n");
  const ExtractiveSummary summary = extractive_summary(&text, "1");
  EXPECT_TRUE(summary.sentences.empty());
  EXPECT_EQ(summary.note, "Item 1 has no sentences for an extractive summary.");
}

TEST(ExtractiveSummary, WithoutTheTextOrItemNamesTheReason) {
  const TenKText text("No headings.\n");
  EXPECT_EQ(extractive_summary(nullptr, "1").note, "There is no text of an annual report.");
  EXPECT_EQ(extractive_summary(&text, "1A").note, "The filing has no Item 1A.");
  EXPECT_TRUE(extractive_summary(&text, "1A").sentences.empty());
}

TEST(ExtractiveSummary, OfARealReportIsVerbatim) {
  const TenKText text(report_of_nvidia());
  const ExtractiveSummary business = extractive_summary(&text, "1", 3);
  ASSERT_EQ(business.sentences.size(), 3u);
  EXPECT_EQ(business.sentences[0].text,
            "NVIDIA pioneered accelerated computing to help solve the most challenging "
            "computational problems.");
  for (const ExtractiveSummary& summary : {business, extractive_summary(&text, "1A", 100)}) {
    for (const Quote& quote : summary.sentences) expect_verbatim(text, quote.offset, quote.text);
  }
}

TEST(TextFindings, OfARealReportHaveVerbatimQuotes) {
  const TenKText text(report_of_nvidia());
  const TextContext context{
      .text = &text, .period_end = "2025-01-26", .fiscal_year_end = "2026-01-25"};
  const Results ranking = risk_ranking(context);
  const Results flags = red_flag_phrases(context);
  ASSERT_EQ(ranking.findings.size(), 3u);
  EXPECT_EQ(ranking.findings[0].code, "top_risk_demand");
  EXPECT_EQ(ranking.findings[1].code, "top_risk_supply_chain");
  EXPECT_EQ(ranking.findings[2].code, "top_risk_geopolitics_trade");
  ASSERT_EQ(flags.findings.size(), 1u);
  EXPECT_EQ(flags.findings[0].code, "phrase_antitrust");
  for (const Results& results : {ranking, flags}) {
    for (const Finding& finding : results.findings) {
      ASSERT_TRUE(finding.offset);
      expect_verbatim(text, *finding.offset, finding.quote);
      EXPECT_LE(finding.quote.size(), kQuoteBytesMax);
    }
  }
}

}  // namespace
}  // namespace belay::research
