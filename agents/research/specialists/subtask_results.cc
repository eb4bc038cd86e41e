#include "agents/research/specialists/subtask_results.h"

#include <algorithm>
#include <iterator>

namespace belay::research {

SubtaskResults::SubtaskResults(const Company& company, std::string specialist, std::string subtask)
    : company_(company), specialist_(std::move(specialist)), subtask_(std::move(subtask)) {}

void SubtaskResults::add_at(std::string_view metric, std::string_view unit, std::string period_end,
                            Quantity quantity) {
  results_.figures.push_back({specialist_, subtask_, std::string(metric), std::move(period_end),
                              company_.unit(unit), std::move(quantity)});
}

void SubtaskResults::add(std::string_view metric, std::string_view unit, std::size_t year,
                         Quantity quantity) {
  add_at(metric, unit, company_.year_end(year).text(), std::move(quantity));
}

void SubtaskResults::add_latest_for(ForBanks banks, std::string_view metric, std::string_view unit,
                                    Quantity quantity) {
  std::optional<Quantity> other = company_.not_applicable(banks);
  add_latest(metric, unit, other ? std::move(*other) : std::move(quantity));
}

void SubtaskResults::add_formulas() {
  const std::vector<std::size_t> years = company_.reported_years();
  for (const Metric* metric : MetricCatalogue::built_in().of(specialist_, subtask_)) {
    std::size_t count = years.size();
    if (metric->latest_years > 0) {
      count = std::min(count, static_cast<std::size_t>(metric->latest_years));
    }
    for (std::size_t i = years.size() - count; i < years.size(); ++i) {
      add(metric->name, metric->unit, years[i], company_.value(metric->name, years[i]));
    }
  }
}

void SubtaskResults::find(std::string_view code, Severity severity, std::size_t year,
                          std::string_view metric) {
  Finding finding;
  finding.specialist = specialist_;
  finding.subtask = subtask_;
  finding.code = code;
  finding.severity = severity;
  finding.period_end = company_.year_end(year).text();
  finding.metric = metric;
  results_.findings.push_back(std::move(finding));
}

void SubtaskResults::append(Results results) {
  std::move(results.figures.begin(), results.figures.end(), std::back_inserter(results_.figures));
  std::move(results.findings.begin(), results.findings.end(),
            std::back_inserter(results_.findings));
}

}  // namespace belay::research
