// Figures and findings of Item 1A, the risk factors.

#include <algorithm>
#include <array>
#include <numeric>
#include <optional>
#include <string>
#include <vector>

#include "agents/research/filings/item_headings.h"
#include "agents/research/filings/text_words.h"
#include "agents/research/specialists/text_figures.h"
#include "agents/research/specialists/text_subtask.h"

namespace belay::research {
namespace {

constexpr const char* kRiskSpecialist = "risk_factors";
constexpr std::string_view kRiskItem = "1A";
constexpr std::size_t kTopRisks = 3;

std::uint64_t category_words(const TextMeasures& measures) {
  return std::accumulate(measures.in_list.begin() + kToneLists, measures.in_list.end(),
                         std::uint64_t{0});
}

// Herfindahl's index of the categories' shares.
Quantity concentration(const TextMeasures& measures) {
  const std::uint64_t total = category_words(measures);
  if (total == 0) return Quantity::missing(Missing::non_positive, "no words of risk categories");
  double sum = 0;
  for (std::size_t list = kToneLists; list < kWordLists; ++list) {
    const double share = static_cast<double>(measures.in_list[list]) / static_cast<double>(total);
    sum += share * share;
  }
  return Quantity::of(sum);
}

// Returns the lists of the categories with the greatest counts above 0, the greatest first; equal
// counts in the order of the lists.
std::vector<std::size_t> top_categories(const TextMeasures& measures) {
  std::vector<std::size_t> lists;
  for (std::size_t list = kToneLists; list < kWordLists; ++list) {
    if (measures.in_list[list] > 0) lists.push_back(list);
  }
  std::sort(lists.begin(), lists.end(), [&](std::size_t a, std::size_t b) {
    if (measures.in_list[a] != measures.in_list[b])
      return measures.in_list[a] > measures.in_list[b];
    return a < b;
  });
  if (lists.size() > kTopRisks) lists.resize(kTopRisks);
  return lists;
}

// Returns the first word of `part` that is in the list.
std::optional<TextSpan> first_listed(std::string_view text, TextSpan part, std::size_t list) {
  std::optional<TextSpan> found;
  for_each_word(part.of(text), [&](TextSpan word) {
    const TextSpan here{part.begin + word.begin, part.begin + word.end};
    if (found || (WordLists::built_in().lists_with(here.of(text)) & bit_of(list)) == 0) return;
    found = here;
  });
  return found;
}

// Returns the first word of the list in the sentences of the item, or else in its other prose.
std::optional<TextSpan> first_listed_of_item(const TenKText& text, const TenKItem& item,
                                             std::size_t list) {
  const std::string_view until_end = std::string_view(text.bytes()).substr(0, item.text.end);
  std::optional<TextSpan> in_headline;
  for (std::size_t at = item.text.begin; at < item.text.end;) {
    const TextLine line = line_at(until_end, at);
    at = line.next;
    if (!is_prose(line.span.of(until_end)) || is_part_line(line.span.of(until_end))) continue;
    if (!first_listed(until_end, line.span, list)) continue;
    TextSpan rest = line.span;
    while (const auto sentence = next_sentence(until_end, rest)) {
      if (const auto found = first_listed(until_end, *sentence, list)) return found;
      rest.begin = sentence->end;
    }
    if (!in_headline) in_headline = first_listed(until_end, rest, list);
  }
  return in_headline;
}

std::string category_metric(std::size_t list) {
  return "risk_" + std::string(kWordListNames[list]) + "_count";
}

}  // namespace

Results item_1a_extraction(const TextContext& context) {
  TextSubtask subtask(context, kRiskSpecialist, "item_1a_extraction");
  const MeasuredPart risks = measured_item(context, kRiskItem);
  const MeasuredPart document = measured_document(context);
  subtask.add_count("risk_words", risks, &TextMeasures::words);
  subtask.add("risk_share_of_document", "ratio", risks, [&document](const TextMeasures& measures) {
    return share_of(measures.words, document.measures->words, "the document has no words");
  });
  subtask.add_list_share("risk_modal_weak_share", risks, kModalWeak);
  return subtask.take();
}

Results risk_taxonomy(const TextContext& context) {
  TextSubtask subtask(context, kRiskSpecialist, "risk_taxonomy");
  const MeasuredPart risks = measured_item(context, kRiskItem);
  for (std::size_t list = kToneLists; list < kWordLists; ++list) {
    subtask.add_list_count(category_metric(list), risks, list);
  }
  return subtask.take();
}

Results risk_ranking(const TextContext& context) {
  TextSubtask subtask(context, kRiskSpecialist, "risk_ranking");
  const MeasuredPart risks = measured_item(context, kRiskItem);
  subtask.add("risk_concentration_hhi", "ratio", risks, concentration);
  if (risks.measures == nullptr) return subtask.take();
  const TenKItem& item = *context.text->item(kRiskItem);
  for (const std::size_t list : top_categories(*risks.measures)) {
    const auto first = first_listed_of_item(*context.text, item, list);
    if (!first) continue;
    subtask.add_finding("top_risk_" + std::string(kWordListNames[list]), Severity::low,
                        category_metric(list), *first);
  }
  return subtask.take();
}

}  // namespace belay::research
