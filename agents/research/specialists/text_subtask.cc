#include "agents/research/specialists/text_subtask.h"

#include <utility>

namespace belay::research {
namespace {

constexpr const char* kNoFilingText = "no text of an annual report";
constexpr const char* kNoWords = "the text has no words";

}  // namespace

MeasuredPart measured_document(const TextContext& context) {
  if (context.text == nullptr) return {nullptr, kNoFilingText};
  return {&context.text->document()};
}

MeasuredPart measured_item(const TextContext& context, std::string_view item) {
  if (context.text == nullptr) return {nullptr, kNoFilingText};
  const TenKItem* found = context.text->item(item);
  if (found == nullptr) return {nullptr, "the filing has no Item " + std::string(item)};
  return {&found->measures};
}

Quantity share_of(std::uint64_t part, std::uint64_t whole, const char* reason) {
  if (whole == 0) return Quantity::missing(Missing::non_positive, reason);
  return Quantity::of(static_cast<double>(part) / static_cast<double>(whole));
}

Quantity net_tone_of(const TextMeasures& measures) {
  const std::uint64_t positive = measures.in_list[kPositive];
  const std::uint64_t negative = measures.in_list[kNegative];
  if (positive + negative == 0) {
    return Quantity::missing(Missing::non_positive, "the text has no positive or negative words");
  }
  return Quantity::of((static_cast<double>(positive) - static_cast<double>(negative)) /
                      static_cast<double>(positive + negative));
}

void TextSubtask::add(std::string metric, const char* unit, Quantity quantity) {
  if (quantity.is_available()) quantity.add_inputs(Inputs(context_.input));
  results_.figures.push_back(
      {specialist_, subtask_, std::move(metric), period_end(), unit, std::move(quantity)});
}

void TextSubtask::add_count(std::string metric, const MeasuredPart& part,
                            std::uint64_t TextMeasures::* count) {
  add(std::move(metric), "count", part, [count](const TextMeasures& measures) {
    return Quantity::of(static_cast<double>(measures.*count));
  });
}

void TextSubtask::add_list_count(std::string metric, const MeasuredPart& part, std::size_t list) {
  add(std::move(metric), "count", part, [list](const TextMeasures& measures) {
    return Quantity::of(static_cast<double>(measures.in_list[list]));
  });
}

void TextSubtask::add_list_share(std::string metric, const MeasuredPart& part, std::size_t list) {
  add(std::move(metric), "ratio", part, [list](const TextMeasures& measures) {
    return share_of(measures.in_list[list], measures.words, kNoWords);
  });
}

void TextSubtask::add_finding(std::string code, Severity severity, std::string metric,
                              TextSpan part) {
  const TenKText& text = *context_.text;
  Quote quote = quote_around(text.bytes(), part);
  const TenKItem* item = text.item_at(part.begin);
  results_.findings.push_back({.specialist = specialist_,
                               .subtask = subtask_,
                               .code = std::move(code),
                               .severity = severity,
                               .period_end = period_end(),
                               .metric = std::move(metric),
                               .quote = std::move(quote.text),
                               .item = item != nullptr ? std::string(item->name) : std::string(),
                               .offset = quote.offset});
}

const std::string& TextSubtask::period_end() const {
  return context_.text != nullptr ? context_.period_end : context_.fiscal_year_end;
}

}  // namespace belay::research
