#pragma once
// agents/research/report/report_fixture.h - documents for tests of the report.

#include <string>
#include <string_view>
#include <vector>

#include "agents/research/report/analysis_document.h"

namespace belay::research {

// A document with figures of all specialists, every metric of docs/research.md, ten fiscal years,
// findings with quotes, and texts. Main line items and ratios are Apple's; the other values are
// made up from the names, the same ones at each call.
AnalysisDocument sample_document();

// A document of a few figures, whose report can be read as a whole.
AnalysisDocument small_document();

// The sample document with names, quotes and texts that try to leave their place in the report.
AnalysisDocument hostile_document();

// Returns a fact of the small and the sample document.
Input report_fact(std::string concept_name, std::string start, std::string end, double value,
                  std::string accn);

// Names of metrics that have one specialist, subtask, kind, and unit.
struct SampleMetrics {
  std::string_view specialist;
  std::string_view subtask;
  // 'A' annual, 'F' the last three fiscal years, 'L' the last one, 'M' market data.
  char kind = 'A';
  std::string_view unit;   // "CUR" and "CUR/shares" stand for the currency
  std::string_view names;  // separated by spaces
};
// All metrics, without those of peers, the projection, and the sensitivity tables.
const std::vector<SampleMetrics>& sample_metrics();

// The figures of the sample document.
Results sample_figures();

std::vector<std::string_view> report_words_of(std::string_view text);

}  // namespace belay::research
