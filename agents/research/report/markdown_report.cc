#include "agents/research/report/markdown_report.h"

#include "agents/research/report/markdown_sections.h"

namespace belay::research {

std::string markdown_report(const AnalysisDocument& document) {
  using namespace report;
  const ReportContent content(document);
  std::string text;
  write_summary(text, content);
  write_key_figures(text, content);
  write_findings(text, content);
  write_specialists(text, content);
  write_unavailable(text, content);
  write_assumptions(text, content);
  write_notes(text, content);
  write_sources(text, content);
  write_provenance(text, content);
  return text;
}

}  // namespace belay::research
