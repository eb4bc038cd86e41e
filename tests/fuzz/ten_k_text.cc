// Texts of annual reports: items are in order, quotes are verbatim, and every figure appears.

#include <algorithm>
#include <cmath>
#include <string>
#include <vector>

#include "agents/research/filings/item_headings.h"
#include "agents/research/filings/phrases.h"
#include "agents/research/filings/quotes.h"
#include "agents/research/specialists/extractive_summary.h"
#include "agents/research/specialists/text_figures.h"
#include "tests/fuzz/target.h"

namespace belay::fuzz {
namespace {

using research::TenKItem;
using research::TenKText;
using research::TextContext;

void require_verbatim(const TenKText& text, std::uint64_t offset, const std::string& quote,
                      std::size_t bytes_max) {
  require(!quote.empty() && quote.size() <= bytes_max, "a quote is bounded");
  require(offset <= text.bytes().size() && text.bytes().compare(offset, quote.size(), quote) == 0,
          "a quote is verbatim");
  require(research::is_valid_utf8(quote), "a quote is UTF-8");
}

void require_items(const TenKText& text) {
  std::size_t end = 0;
  std::size_t title = 0;
  std::uint64_t words = 0;
  for (const TenKItem& item : text.items()) {
    while (title < research::kTenKItems && research::kItemTitles[title].item != item.name) ++title;
    require(title < research::kTenKItems, "items are in the order of the form");
    require(item.heading.begin >= end && item.heading.end <= item.text.begin &&
                item.text.begin <= item.text.end && item.text.end <= text.bytes().size(),
            "items are in the order of the text");
    end = item.text.end;
    words += item.measures.words;
    require(item.measures.distinct_words <= item.measures.words &&
                item.measures.complex_words <= item.measures.words,
            "an item has its words");
  }
  require(words <= text.document().words, "the words of items are words of the document");
}

void require_phrases(const TenKText& text) {
  const research::PhraseText phrases(text.bytes());
  for (const char* phrase : {"going concern", "antitrust", "not effective"}) {
    const auto first = phrases.first(phrase);
    require(first.has_value() == (phrases.count(phrase) > 0), "a phrase that is counted is found");
    if (!first) continue;
    const research::PhraseText again(first->of(text.bytes()));
    require(again.count(phrase) == 1, "its bytes contain it once");
  }
}

std::vector<std::string> require_figures(const TextContext& context) {
  std::vector<std::string> metrics;
  for (auto* subtask :
       {research::item_statistics, research::red_flag_phrases, research::business_description,
        research::item_1a_extraction, research::risk_taxonomy, research::risk_ranking,
        research::tokenization, research::tone, research::readability, research::section_tone,
        research::controls}) {
    const research::Results results = subtask(context);
    for (const research::Figure& figure : results.figures) {
      metrics.push_back(figure.metric);
      require(std::isfinite(figure.quantity.value()), "a figure is finite");
    }
    for (const research::Finding& finding : results.findings) {
      require(context.text != nullptr && finding.offset, "a finding is from a text");
      require_verbatim(*context.text, *finding.offset, finding.quote, research::kQuoteBytesMax);
    }
  }
  return metrics;
}

}  // namespace
}  // namespace belay::fuzz

BELAY_FUZZ_TARGET(TenKText, "ten_k_text") {
  using namespace belay;
  const research::TenKText text{std::string(input)};
  fuzz::require_items(text);
  fuzz::require_phrases(text);
  const auto metrics = fuzz::require_figures(
      {.text = &text, .period_end = "2024-12-31", .fiscal_year_end = "2025-12-31"});
  const auto without_text = fuzz::require_figures({.fiscal_year_end = "2025-12-31"});
  fuzz::require(metrics == without_text, "every figure appears with and without a text");
  for (const char* item : {"1", "1A"}) {
    const research::ExtractiveSummary summary = research::extractive_summary(&text, item, 3);
    fuzz::require(summary.sentences.size() <= 3, "a summary is bounded");
    for (const research::Quote& quote : summary.sentences) {
      fuzz::require_verbatim(text, quote.offset, quote.text, research::kSummarySentenceBytesMax);
    }
  }
}
