#pragma once
// agents/research/specialists/metric_catalogue.h - the metrics that formulas define.

#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "agents/research/finance/formula.h"

namespace belay::research {

enum class ForBanks { no, too, only };

struct Metric {
  std::string specialist;
  std::string subtask;
  std::string name;
  ForBanks banks = ForBanks::no;
  std::string unit;      // "ratio", "cur", "cur/shares", "days", "months", "count", "score"
  int latest_years = 0;  // the last years only; 0: all reported years
  Formula formula;
};

// The metrics of formulas.txt.
class MetricCatalogue {
 public:
  // Reads the text of such a file. Errors are in errors(): the metric is left out.
  explicit MetricCatalogue(std::string_view text);
  // The catalogue of the program.
  static const MetricCatalogue& built_in();

  const std::vector<Metric>& all() const { return metrics_; }
  const std::vector<std::string>& errors() const { return errors_; }
  // Returns the metric, or null.
  const Metric* find(std::string_view name) const;
  // Returns the metrics of a subtask, in their order.
  std::vector<const Metric*> of(std::string_view specialist, std::string_view subtask) const;

 private:
  void add(std::string_view line, std::string_view section);

  std::vector<Metric> metrics_;
  std::map<std::string, std::size_t, std::less<>> by_name_;
  std::vector<std::string> errors_;
};

std::string_view formulas_text();  // formulas.txt

}  // namespace belay::research
