#pragma once
// agents/research/specialists/text_figures.h - the subtasks that read the text of an annual report.
//
// docs/research.md defines every figure (sections 6, 8 and 9). Each function returns all figures of
// its subtask that come from text: with a number, or with the reason why it is missing. Pure
// functions.

#include <string>

#include "agents/research/filings/ten_k_text.h"
#include "agents/research/finance/figure.h"
#include "agents/research/finance/quantity.h"

namespace belay::research {

struct TextContext {
  const TenKText* text = nullptr;  // null: not known at the analysis' date
  Input input = {};                // the source of all figures: see filing_text_input()
  std::string period_end = {};     // of figures from the text: see filing_text_period_end()
  std::string fiscal_year_end;     // the latest one: period_end of all figures if there is no text
};

// financial
Results item_statistics(const TextContext& context);   // the part of 10k_parsing from the text
Results red_flag_phrases(const TextContext& context);  // likewise of red_flag_detection

// business_model
Results business_description(const TextContext& context);

// risk_factors
Results item_1a_extraction(const TextContext& context);
Results risk_taxonomy(const TextContext& context);
Results risk_ranking(const TextContext& context);

// filing_sentiment
Results tokenization(const TextContext& context);
Results tone(const TextContext& context);
Results readability(const TextContext& context);
Results section_tone(const TextContext& context);

// governance
Results controls(const TextContext& context);

}  // namespace belay::research
