#pragma once
// agents/research/specialists/text_subtask.h - collects the results of a subtask that reads a text.

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <utility>

#include "agents/research/filings/quotes.h"
#include "agents/research/specialists/text_figures.h"

namespace belay::research {

// The counts of a part of a text, or the reason why it is missing.
struct MeasuredPart {
  const TextMeasures* measures = nullptr;
  std::string reason = {};  // if null
};

MeasuredPart measured_document(const TextContext& context);
MeasuredPart measured_item(const TextContext& context, std::string_view item);

// Returns part / whole, or non_positive because of `reason` if the whole is 0.
Quantity share_of(std::uint64_t part, std::uint64_t whole, const char* reason);
// Returns (positive - negative) / (positive + negative), counts of these lists.
Quantity net_tone_of(const TextMeasures& measures);

// Collects figures and findings of one subtask. The context must outlive it.
class TextSubtask {
 public:
  TextSubtask(const TextContext& context, const char* specialist, const char* subtask)
      : context_(context), specialist_(specialist), subtask_(subtask) {}

  // Adds a figure with the text as its source.
  void add(std::string metric, const char* unit, Quantity quantity);
  // Adds `formula(measures)`, a Quantity; no_text if the part is not there.
  template <typename Formula>
  void add(std::string metric, const char* unit, const MeasuredPart& part, Formula formula) {
    add(std::move(metric), unit,
        part.measures != nullptr ? Quantity(formula(*part.measures))
                                 : Quantity::missing(Missing::no_text, part.reason));
  }
  void add_count(std::string metric, const MeasuredPart& part, std::uint64_t TextMeasures::* count);
  // Adds the number of words of a list.
  void add_list_count(std::string metric, const MeasuredPart& part, std::size_t list);
  // Adds the share of a list among the words.
  void add_list_share(std::string metric, const MeasuredPart& part, std::size_t list);

  // Adds a finding with the quote around `part` of the text. Requires a text.
  void add_finding(std::string code, Severity severity, std::string metric, TextSpan part);

  Results take() { return std::move(results_); }

 private:
  const std::string& period_end() const;

  const TextContext& context_;
  const char* const specialist_;
  const char* const subtask_;
  Results results_;
};

}  // namespace belay::research
