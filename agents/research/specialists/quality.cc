#include "agents/research/specialists/quality.h"

#include <functional>

namespace belay::research {
namespace {

// Adds a finding for each reported year in which the metric fulfils the condition.
void find_years(const Company& company, std::string_view metric, std::string_view code,
                Severity severity, const std::function<bool(double)>& condition,
                SubtaskResults& results) {
  for (std::size_t year : company.reported_years()) {
    Quantity value = company.value(metric, year);
    if (value.is_available() && condition(value.value())) {
      results.find(code, severity, year, metric);
    }
  }
}

}  // namespace

Results calculate_m_score(const Company& company) {
  SubtaskResults results(company, "earnings_quality", "beneish_m_score");
  results.add_formulas();
  for (std::size_t year : company.reported_years()) {
    results.add("beneish_depi", "ratio", year, company.value("beneish_depi", year));
  }
  find_years(
      company, "beneish_m_score", "beneish_above_threshold", Severity::medium,
      [](double score) { return score > -1.78; }, results);
  return results.take();
}

Results calculate_f_score(const Company& company) {
  SubtaskResults results(company, "earnings_quality", "piotroski_f_score");
  results.add_formulas();
  find_years(
      company, "piotroski_f_score", "weak_fundamentals", Severity::medium,
      [](double score) { return score <= 3; }, results);
  return results.take();
}

Results calculate_z_score(const Company& company) {
  SubtaskResults results(company, "credit", "altman_z_score");
  results.add_formulas();
  find_years(
      company, "altman_z_1968", "distress_zone", Severity::high,
      [](double score) { return score < 1.81; }, results);
  find_years(
      company, "altman_z2_1995", "distress_zone_book", Severity::high,
      [](double score) { return score < 1.10; }, results);
  return results.take();
}

}  // namespace belay::research
