#pragma once
// agents/research/specialists/subtask_results.h - collects the figures and findings of a subtask.

#include <string>
#include <string_view>

#include "agents/research/specialists/company.h"

namespace belay::research {

class SubtaskResults {
 public:
  // The company must outlive the object.
  SubtaskResults(const Company& company, std::string specialist, std::string subtask);

  // Adds a figure of a fiscal year. `unit` as in metric_catalogue.h.
  void add(std::string_view metric, std::string_view unit, std::size_t year, Quantity quantity);
  // The same for the last fiscal year.
  void add_latest(std::string_view metric, std::string_view unit, Quantity quantity) {
    add(metric, unit, company_.last_year(), std::move(quantity));
  }
  void add_at(std::string_view metric, std::string_view unit, std::string period_end,
              Quantity quantity);
  // The same, or not_applicable for such a company.
  void add_latest_for(ForBanks banks, std::string_view metric, std::string_view unit,
                      Quantity quantity);
  // Adds the metrics that formulas define for this subtask.
  void add_formulas();

  void find(std::string_view code, Severity severity, std::size_t year,
            std::string_view metric = {});
  void append(Results results);

  const Results& results() const { return results_; }
  Results take() { return std::move(results_); }

 private:
  const Company& company_;
  const std::string specialist_;
  const std::string subtask_;
  Results results_;
};

}  // namespace belay::research
