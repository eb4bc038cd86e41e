#include "agents/research/specialists/text_figures.h"

#include <gtest/gtest.h>

#include <cmath>
#include <map>
#include <set>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "agents/research/filings/filing_text_file.h"

namespace belay::research {
namespace {

TextContext text_context(const TenKText& text) {
  return {.text = &text,
          .input = filing_text_input(text.bytes().size(), *Date::parse("2024-11-01")),
          .period_end = "2024-09-28",
          .fiscal_year_end = "2025-09-27"};
}

TextContext without_text() { return {.fiscal_year_end = "2025-09-27"}; }

std::vector<Results> all_text_results(const TextContext& context) {
  return {item_statistics(context),
          red_flag_phrases(context),
          business_description(context),
          item_1a_extraction(context),
          risk_taxonomy(context),
          risk_ranking(context),
          tokenization(context),
          tone(context),
          readability(context),
          section_tone(context),
          controls(context)};
}

Quantity text_quantity(const Results& results, std::string_view metric) {
  for (const Figure& figure : results.figures) {
    if (figure.metric == metric) return figure.quantity;
  }
  ADD_FAILURE() << "no figure " << metric;
  return Quantity::missing(Missing::missing_input, "");
}

// Returns the value, or -1000 with a failure.
double text_value(const Results& results, std::string_view metric) {
  const Quantity quantity = text_quantity(results, metric);
  EXPECT_TRUE(quantity.is_available()) << metric << ": " << quantity.reason();
  return quantity.is_available() ? quantity.value() : -1000;
}

std::string text_reason(const Results& results, std::string_view metric) {
  return text_quantity(results, metric).reason();
}

std::vector<std::string> finding_codes(const Results& results) {
  std::vector<std::string> codes;
  for (const Finding& finding : results.findings) codes.push_back(finding.code);
  return codes;
}

using FindingCodes = std::vector<std::string>;

TEST(TextFigures, EveryMetricOfTheDocumentationAppearsOnceWithItsUnit) {
  const std::map<std::string, std::string> units = {
      {"gunning_fog", "score"}, {"log_file_size", "score"}, {"words_per_sentence", "ratio"}};
  const TenKText text("Item 1. Business\nWe sell.\n");
  std::size_t figures = 0;
  std::set<std::pair<std::string, std::string>> metrics;
  for (const Results& results : all_text_results(text_context(text))) {
    for (const Figure& figure : results.figures) {
      ++figures;
      metrics.insert({figure.specialist + "." + figure.subtask, figure.metric});
      const bool is_ratio = figure.metric.ends_with("_share") || figure.metric.ends_with("_tone") ||
                            figure.metric.ends_with("_hhi") ||
                            figure.metric == "risk_share_of_document";
      const auto known = units.find(figure.metric);
      EXPECT_EQ(figure.unit, known != units.end() ? known->second
                             : is_ratio           ? "ratio"
                                                  : "count")
          << figure.metric;
    }
  }
  // 5 of items, 10 phrases, 2 of the business, 3 + 12 + 1 of risks, 3 + 8 + 4 + 10 of sentiment, 3
  // of controls.
  EXPECT_EQ(figures, 61u);
  EXPECT_EQ(metrics.size(), 61u);
}

TEST(TextFigures, WithoutATextEachFigureHasAReason) {
  std::size_t figures = 0;
  for (const Results& results : all_text_results(without_text())) {
    EXPECT_TRUE(results.findings.empty());
    for (const Figure& figure : results.figures) {
      ++figures;
      EXPECT_EQ(figure.quantity.reason(), "no_text: no text of an annual report") << figure.metric;
      EXPECT_EQ(figure.period_end, "2025-09-27");
      EXPECT_TRUE(figure.quantity.inputs().all().empty());
    }
  }
  EXPECT_EQ(figures, 61u);
}

TEST(TextFigures, AFigureHasTheTextAsItsInputAndItsPeriod) {
  const TenKText text("Two words here.\n");
  const TextContext context = text_context(text);
  for (const Results& results : {tokenization(context), red_flag_phrases(context)}) {
    for (const Figure& figure : results.figures) {
      EXPECT_EQ(figure.period_end, "2024-09-28");
      ASSERT_EQ(figure.quantity.inputs().all().size(), 1u) << figure.metric;
      EXPECT_EQ(*figure.quantity.inputs().all().front(), context.input);
      EXPECT_EQ(context.input.value, 16);
    }
  }
}

TEST(TextFigures, ATextWithoutItemsHasAnItemCountOfZero) {
  const TenKText text("No headings here.\n");
  const TextContext context = text_context(text);
  const Results statistics = item_statistics(context);
  EXPECT_EQ(text_value(statistics, "item_count"), 0);
  EXPECT_EQ(text_reason(statistics, "item_1_words"), "no_text: the filing has no Item 1");
  EXPECT_EQ(text_reason(item_1a_extraction(context), "risk_share_of_document"),
            "no_text: the filing has no Item 1A");
  EXPECT_EQ(text_reason(risk_ranking(context), "risk_concentration_hhi"),
            "no_text: the filing has no Item 1A");
  EXPECT_EQ(text_reason(section_tone(context), "item_7_net_tone"),
            "no_text: the filing has no Item 7");
  EXPECT_EQ(text_reason(controls(context), "material_weakness_mentions"),
            "no_text: the filing has no Item 9A");
  EXPECT_TRUE(controls(context).findings.empty());
}

TEST(TextFigures, ItemsAreCounted) {
  const TenKText text(
      "Item 1. Business\nWe sell. We buy, we sell.\nItem 1A. Risk Factors\nLoss.\n"
      "Item 7. Management\nOne two three.\nItem 8. Financial\nOne two three four.\n");
  const Results statistics = item_statistics(text_context(text));
  EXPECT_EQ(text_value(statistics, "item_count"), 4);
  EXPECT_EQ(text_value(statistics, "item_1_words"), 6);
  EXPECT_EQ(text_value(statistics, "item_1a_words"), 1);
  EXPECT_EQ(text_value(statistics, "item_7_words"), 3);
  EXPECT_EQ(text_value(statistics, "item_8_words"), 4);
  const Results business = business_description(text_context(text));
  EXPECT_EQ(text_value(business, "business_sentences"), 2);
  EXPECT_EQ(text_value(business, "business_distinct_words"), 3);
}

TEST(TextFigures, TonesAreSharesOfTheWords) {
  // Ten words: two negative, one positive, one uncertain and weak, one strong, one constraining.
  const TenKText text("Losses harm the best firm. It could be that limits hold.\n");
  const Results tones = tone(text_context(text));
  EXPECT_DOUBLE_EQ(text_value(tones, "negative_share"), 2.0 / 11);
  EXPECT_DOUBLE_EQ(text_value(tones, "positive_share"), 1.0 / 11);
  EXPECT_DOUBLE_EQ(text_value(tones, "uncertainty_share"), 1.0 / 11);
  EXPECT_DOUBLE_EQ(text_value(tones, "modal_weak_share"), 1.0 / 11);
  EXPECT_DOUBLE_EQ(text_value(tones, "modal_strong_share"), 1.0 / 11);
  EXPECT_DOUBLE_EQ(text_value(tones, "constraining_share"), 1.0 / 11);
  EXPECT_EQ(text_value(tones, "litigious_share"), 0);
  EXPECT_DOUBLE_EQ(text_value(tones, "net_tone"), -1.0 / 3);
}

TEST(TextFigures, SectionsHaveTonesOfTheirOwnWords) {
  const TenKText text(
      "Item 1A. Risk Factors\nLoss or damage, uncertain law.\n"
      "Item 7. Management\nGood results.\n");
  const Results tones = section_tone(text_context(text));
  EXPECT_DOUBLE_EQ(text_value(tones, "item_1a_negative_share"), 2.0 / 5);
  EXPECT_EQ(text_value(tones, "item_1a_positive_share"), 0);
  EXPECT_DOUBLE_EQ(text_value(tones, "item_1a_uncertainty_share"), 1.0 / 5);
  EXPECT_DOUBLE_EQ(text_value(tones, "item_1a_litigious_share"), 1.0 / 5);
  EXPECT_EQ(text_value(tones, "item_1a_net_tone"), -1);
  EXPECT_DOUBLE_EQ(text_value(tones, "item_7_positive_share"), 0.5);
  EXPECT_EQ(text_value(tones, "item_7_net_tone"), 1);
}

TEST(TextFigures, ReadabilityIsCalculatedByHand) {
  // Seven words, two sentences; complex: company, materially.
  const TenKText text("The company fell.\nIt fell materially | no |\nIt fell. Materially so");
  const Results figures = readability(text_context(text));
  EXPECT_DOUBLE_EQ(text_value(figures, "gunning_fog"), 0.4 * (7.0 / 2 + 100 * 2.0 / 7));
  EXPECT_DOUBLE_EQ(text_value(figures, "words_per_sentence"), 3.5);
  EXPECT_DOUBLE_EQ(text_value(figures, "complex_word_share"), 2.0 / 7);
  EXPECT_DOUBLE_EQ(text_value(figures, "log_file_size"), std::log(66.0));
  const Results counts = tokenization(text_context(text));
  EXPECT_EQ(text_value(counts, "words_total"), 7);
  EXPECT_EQ(text_value(counts, "sentences_total"), 2);
  EXPECT_EQ(text_value(counts, "distinct_words"), 6);
}

TEST(TextFigures, ADenominatorOfZeroIsNonPositive) {
  const TenKText empty("");
  const Results counts = tokenization(text_context(empty));
  EXPECT_EQ(text_value(counts, "words_total"), 0);
  const Results figures = readability(text_context(empty));
  EXPECT_EQ(text_reason(figures, "gunning_fog"),
            "non_positive: the text has no sentences or no words");
  EXPECT_EQ(text_reason(figures, "words_per_sentence"), "non_positive: the text has no sentences");
  EXPECT_EQ(text_reason(figures, "complex_word_share"), "non_positive: the text has no words");
  EXPECT_EQ(text_reason(figures, "log_file_size"), "non_positive: the file is empty");
  EXPECT_EQ(text_reason(tone(text_context(empty)), "net_tone"),
            "non_positive: the text has no positive or negative words");

  const TenKText no_risks("Item 1A. | Risk Factors\n");
  const Results risks = item_1a_extraction(text_context(no_risks));
  EXPECT_EQ(text_value(risks, "risk_words"), 0);
  EXPECT_EQ(text_reason(risks, "risk_share_of_document"),
            "non_positive: the document has no words");
  EXPECT_EQ(text_reason(risks, "risk_modal_weak_share"), "non_positive: the text has no words");
  const Results ranking = risk_ranking(text_context(no_risks));
  EXPECT_EQ(text_reason(ranking, "risk_concentration_hhi"),
            "non_positive: no words of risk categories");
  EXPECT_TRUE(ranking.findings.empty());
}

TEST(TextFigures, RisksAreCountedByCategory) {
  const TenKText text(
      "Customers of ours.\nItem 1A. Risk Factors\nCustomers and Demand. Vendors may fail.\n"
      "Customers | Customers\nTax, tax; breaches might harm.\n");
  const Results risks = item_1a_extraction(text_context(text));
  EXPECT_EQ(text_value(risks, "risk_words"), 11);
  EXPECT_DOUBLE_EQ(text_value(risks, "risk_share_of_document"), 11.0 / 17);
  EXPECT_DOUBLE_EQ(text_value(risks, "risk_modal_weak_share"), 2.0 / 11);
  const Results counts = risk_taxonomy(text_context(text));
  EXPECT_EQ(text_value(counts, "risk_demand_count"), 2);
  EXPECT_EQ(text_value(counts, "risk_supply_chain_count"), 0);
  EXPECT_EQ(text_value(counts, "risk_tax_accounting_count"), 2);
  EXPECT_EQ(text_value(counts, "risk_cyber_privacy_count"), 1);
  EXPECT_EQ(text_value(counts, "risk_people_count"), 0);
  EXPECT_DOUBLE_EQ(text_value(risk_ranking(text_context(text)), "risk_concentration_hhi"),
                   0.4 * 0.4 + 0.2 * 0.2 + 0.4 * 0.4);
}

TEST(TextFigures, TheTopRisksAreTheGreatestThreeInTheOrderOfTheirCounts) {
  const TenKText text(
      "Item 1A. Risk Factors\n"
      "Tax and Customers\n"
      "A war. We pay tax. Sell to customers. Our rivals win. Tax again.\n");
  const Results ranking = risk_ranking(text_context(text));
  // Tax three times, customers twice; competition and geopolitics once, competition comes first.
  ASSERT_EQ(finding_codes(ranking),
            (FindingCodes{"top_risk_tax_accounting", "top_risk_demand", "top_risk_competition"}));
  const Finding& tax = ranking.findings[0];
  EXPECT_EQ(tax.severity, Severity::low);
  EXPECT_EQ(tax.period_end, "2024-09-28");
  EXPECT_EQ(tax.metric, "risk_tax_accounting_count");
  EXPECT_EQ(tax.quote, "We pay tax.");  // the headline before is not a sentence
  EXPECT_EQ(tax.item, "1A");
  EXPECT_EQ(tax.offset, text.bytes().find("We pay tax."));
  EXPECT_EQ(ranking.findings[2].quote, "Our rivals win.");
}

TEST(TextFigures, ATopRiskOnlyInAHeadlineQuotesIt) {
  const TenKText text("Item 1A. Risk Factors\nPART II\nTax and Customers\n");
  const Results ranking = risk_ranking(text_context(text));
  EXPECT_EQ(finding_codes(ranking), (FindingCodes{"top_risk_demand", "top_risk_tax_accounting"}));
  EXPECT_EQ(ranking.findings[0].quote, "Tax and Customers");
}

TEST(TextFigures, PhrasesAreCountedAndQuoted) {
  const TenKText text(
      "About antitrust.\nItem 1. Business\nGoing | Concern, 10% or\nmore. We got a subpoena. "
      "Impairments, related\nparty. Material weakness.\nThere is Substantial\tDoubt today.\n");
  const Results flags = red_flag_phrases(text_context(text));
  EXPECT_EQ(text_value(flags, "phrase_going_concern"), 0);
  EXPECT_EQ(text_value(flags, "phrase_substantial_doubt"), 1);
  EXPECT_EQ(text_value(flags, "phrase_material_weakness"), 1);
  EXPECT_EQ(text_value(flags, "phrase_not_effective"), 0);
  EXPECT_EQ(text_value(flags, "phrase_subpoena"), 1);
  EXPECT_EQ(text_value(flags, "phrase_restatement"), 0);
  EXPECT_EQ(text_value(flags, "phrase_antitrust"), 1);
  EXPECT_EQ(text_value(flags, "phrase_impairment"), 1);
  EXPECT_EQ(text_value(flags, "phrase_related_party"), 1);
  EXPECT_EQ(text_value(flags, "phrase_significant_customer"), 1);
  ASSERT_EQ(finding_codes(flags),
            (FindingCodes{"phrase_substantial_doubt", "phrase_subpoena", "phrase_antitrust"}));
  const Finding& doubt = flags.findings[0];
  EXPECT_EQ(doubt.severity, Severity::medium);
  EXPECT_EQ(doubt.metric, "phrase_substantial_doubt");
  EXPECT_EQ(doubt.quote, "There is Substantial\tDoubt today.");
  EXPECT_EQ(doubt.item, "1");
  EXPECT_EQ(doubt.offset, text.bytes().find("There is"));
  EXPECT_EQ(flags.findings[2].item, "");
  EXPECT_EQ(flags.findings[2].quote, "About antitrust.");
}

TEST(TextFigures, ControlsAreThoseOfItem9A) {
  const TenKText text(
      "They were not effective.\nItem 9A. Controls and Procedures\n"
      "Controls were effective. It is effective\nand was\neffective | are effective.\n"
      "Item 9B. Other Information\nA material weakness.\n");
  const Results results = controls(text_context(text));
  EXPECT_EQ(text_value(results, "controls_effective_mentions"), 4);
  EXPECT_EQ(text_value(results, "controls_not_effective_mentions"), 0);
  EXPECT_EQ(text_value(results, "material_weakness_mentions"), 0);
  EXPECT_TRUE(results.findings.empty());
}

TEST(TextFigures, AControlWeaknessIsAFindingWithItsFirstMention) {
  const TenKText text(
      "Item 9A. Controls and Procedures\nWe found a material weakness. "
      "Controls were not effective.\n");
  const Results results = controls(text_context(text));
  EXPECT_EQ(text_value(results, "controls_effective_mentions"), 0);
  EXPECT_EQ(text_value(results, "controls_not_effective_mentions"), 1);
  EXPECT_EQ(text_value(results, "material_weakness_mentions"), 1);
  ASSERT_EQ(finding_codes(results), FindingCodes{"control_weakness_disclosed"});
  EXPECT_EQ(results.findings[0].severity, Severity::high);
  EXPECT_EQ(results.findings[0].quote, "We found a material weakness.");
  EXPECT_EQ(results.findings[0].item, "9A");
  EXPECT_EQ(results.findings[0].metric, "material_weakness_mentions");
}

}  // namespace
}  // namespace belay::research
