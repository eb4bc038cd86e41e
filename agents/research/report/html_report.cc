#include "agents/research/report/html_report.h"

#include "agents/research/report/escaped_text.h"
#include "agents/research/report/html_sections.h"
#include "agents/research/report/report_limits.h"
#include "agents/research/report/report_style.h"

namespace belay::research {
namespace report {
namespace {

// Even if a text were not escaped, no script could run and nothing could be loaded.
constexpr std::string_view kReportPolicy =
    "default-src 'none'; style-src 'unsafe-inline'; base-uri 'none'; form-action 'none'";

void append_document_head(std::string& html, const AnalysisDocument& document) {
  html += "<!doctype html>\n<html lang=\"en\">\n<head>\n<meta charset=\"utf-8\">\n";
  html += "<meta http-equiv=\"Content-Security-Policy\" content=\"" + std::string(kReportPolicy) +
          "\">\n<meta name=\"viewport\" content=\"width=device-width, initial-scale=1\">\n"
          "<meta name=\"color-scheme\" content=\"light dark\">\n"
          "<meta name=\"referrer\" content=\"no-referrer\">\n<title>" +
          html_text(report_title(document), kNameLimit) + ", " +
          html_text(document.as_of, kNameLimit) + "</title>\n<style>\n";
  html += report_style();
  html += "</style>\n</head>\n";
}

}  // namespace
}  // namespace report

std::string html_report(const AnalysisDocument& document) {
  using namespace report;
  const ReportContent content(document);
  std::string html;
  append_document_head(html, document);
  html += "<body>\n<a class=\"skip\" href=\"#main\">Skip to the report</a>\n";
  append_header(html, content);
  append_navigation(html, content);
  html += "<main id=\"main\">\n";
  append_key_figures(html, content);
  append_findings(html, content);
  append_specialists(html, content);
  append_unavailable(html, content);
  append_assumptions(html, content);
  append_notes(html, content);
  append_sources(html, content);
  append_provenance(html, content);
  html += "</main>\n<footer>\n<p>" + std::string(kNoAdvice) + "</p>\n<p>Generated " +
          html_text(generation_time(document), kNameLimit) + ", as of " +
          html_text(document.as_of, kNameLimit) + ", analysis " +
          html_text(document.analysis_id, kNameLimit) +
          ". <a href=\"#top\">To the top</a></p>\n</footer>\n</body>\n</html>\n";
  return html;
}

}  // namespace belay::research
