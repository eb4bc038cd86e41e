#include <algorithm>

#include "agents/research/report/escaped_text.h"
#include "agents/research/report/html_sections.h"
#include "agents/research/report/metric_labels.h"
#include "agents/research/report/report_limits.h"
#include "agents/research/specialists/specialists.h"

namespace belay::research::report {
namespace {

// The periods of a group, each a link to the figure that it is based on.
std::string periods_html(const FigureIndex& index, const FindingGroup& group) {
  std::string html;
  for (const Finding* finding : group.findings) {
    if (!html.empty()) html += ", ";
    const std::string period = html_text(finding->period_end, kNameLimit);
    const auto number = figure_of(index, *finding);
    html += number ? figure_link(index, *number, period) : period;
  }
  return html;
}

std::string quote_html(const Finding& finding) {
  if (finding.quote.empty()) return {};
  std::string source;
  if (!finding.item.empty()) source += "Item " + html_text(finding.item, kNameLimit) + ", ";
  source += "annual report for " + html_text(finding.period_end, kNameLimit);
  if (finding.offset) source += ", at byte " + std::to_string(*finding.offset) + " of its text";
  return "<figure class=\"quote\"><blockquote><p>" + html_text(finding.quote, kQuoteLimit) +
         "</p></blockquote><figcaption>" + source + "</figcaption></figure>\n";
}

void append_group(std::string& html, const FigureIndex& index, const FindingGroup& group,
                  std::size_t number) {
  const Finding& first = *group.findings.front();
  const std::string severity = severity_name(first.severity);
  html += "<article class=\"finding " + severity + "\" id=\"n" + std::to_string(number) +
          "\">\n<h3>" + html_text(finding_label(first.code), kNameLimit) +
          " <span class=\"severity\">" + severity + "</span></h3>\n<p>" +
          html_text(finding_condition(first.code), kReasonLimit) + " <span class=\"source\">" +
          html_text(specialist_title(first.specialist), kNameLimit) + ": " +
          html_text(subtask_title(first.specialist, first.subtask), kNameLimit) + ", " +
          periods_html(index, group) + "</span></p>\n";
  for (const Finding* finding : group.findings) html += quote_html(*finding);
  html += "</article>\n";
}

}  // namespace

void append_findings(std::string& html, const ReportContent& content) {
  html += "<section id=\"red-flags\">\n<h2>Red flags</h2>\n";
  html +=
      "<p>Findings of severity high and medium follow from fixed conditions; each period is a "
      "link to the figure. Quotes are verbatim from the filing.</p>\n";
  if (content.red_flags.empty()) html += "<p>No condition was met.</p>\n";
  std::size_t number = 0;
  for (const FindingGroup& group : content.red_flags) {
    append_group(html, content.index, group, number++);
  }
  if (!content.observations.empty()) {
    html += "<h2 id=\"observations\">Other findings</h2>\n";
    for (const FindingGroup& group : content.observations) {
      append_group(html, content.index, group, number++);
    }
  }
  html += "</section>\n";
}

}  // namespace belay::research::report
