#pragma once
// agents/research/analysis/results_json.h - figures and findings as JSON.

#include "agents/research/finance/figure.h"
#include "belay/value.h"

namespace belay::research {

// The stored form: each input once, figures refer to it by its index.
Value stored_results(const Results& results);
// Fails with `invalid` for a value that stored_results() does not return.
Result<Results> results_from(const Value& stored);

// Returns the findings alone; members of another type are empty.
std::vector<Finding> findings_in(const Value& stored);

// The form of `research show --json`.
Value figure_document(const Figure& figure);
Value finding_document(const Finding& finding);
// Returns null for an empty text.
Value text_or_null(const std::string& text);

}  // namespace belay::research
