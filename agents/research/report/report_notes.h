#pragma once
// agents/research/report/report_notes.h - statements that a reader of the numbers must know.

#include <string>
#include <string_view>
#include <vector>

#include "agents/research/report/figure_index.h"

namespace belay::research::report {

inline constexpr std::string_view kNoAdvice =
    "Not investment advice. This report contains computed figures and no opinion about the price "
    "of a security.";

// Returns the notes that apply to the figures of the document, as plain sentences.
std::vector<std::string> report_notes(const FigureIndex& index);

// A finding that occurs in several periods.
struct FindingGroup {
  std::vector<const Finding*> findings;  // never empty; the newest first; one code, one severity
};
// Returns the findings of at least `least` and at most `greatest` severity: the severest first,
// then in the order of specialists. At most kFindingLimit findings are used.
std::vector<FindingGroup> finding_groups(const AnalysisDocument& document, Severity least,
                                         Severity greatest);

// Returns specialists with figures, findings or texts and without a failure.
std::size_t delivered_specialists(const AnalysisDocument& document);

// The figure that a finding is based on, if the document has it.
std::optional<FigureNumber> figure_of(const FigureIndex& index, const Finding& finding);

}  // namespace belay::research::report
