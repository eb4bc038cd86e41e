#pragma once
// agents/research/report/figure_index.h - the figures of a document in the order of the report.

#include <cstddef>
#include <map>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <tuple>
#include <vector>

#include "agents/research/report/analysis_document.h"

namespace belay::research::report {

// The position of a figure in FigureIndex::figures().
using FigureNumber = std::size_t;

// A metric over the periods of its table.
struct MetricRow {
  std::string_view metric;
  std::string_view unit;
  std::vector<std::optional<FigureNumber>> cells;  // one of each period
};

// Figures of one subtask.
struct MetricTable {
  std::string_view subtask;
  std::vector<std::string_view> periods;  // the oldest first; those of `rows`
  std::vector<MetricRow> rows;            // metrics with two or more periods
  std::vector<FigureNumber> single;       // metrics with one period
};

// Sorts figures by specialist, subtask, first occurrence of the metric, and period. Refers to the
// document, which must outlive it. Figures above kFigureLimit are left out.
class FigureIndex {
 public:
  explicit FigureIndex(const AnalysisDocument& document);

  const AnalysisDocument& document() const { return document_; }
  const std::vector<const Figure*>& figures() const { return figures_; }
  const Figure& figure(FigureNumber number) const { return *figures_[number]; }
  std::size_t figures_left_out() const { return left_out_; }

  // The name of the figure's anchor: "f17".
  static std::string anchor(FigureNumber number);

  std::optional<FigureNumber> find(std::string_view specialist, std::string_view metric,
                                   std::string_view period_end) const;
  // Returns the figure of the metric's last period.
  std::optional<FigureNumber> latest(std::string_view specialist, std::string_view metric) const;
  // Returns the value of the metric's last period; empty if it is not available.
  std::optional<double> latest_value(std::string_view specialist, std::string_view metric) const;

  // Returns the row of a metric over `periods`; empty if it has no figure there.
  std::optional<MetricRow> row(std::string_view specialist, std::string_view metric,
                               std::span<const std::string> periods) const;

  // Names of specialists that have a figure and that specialists() lacks.
  std::vector<std::string_view> other_specialists() const;
  // Returns the tables of a specialist, in the order of its subtasks.
  std::vector<MetricTable> tables(std::string_view specialist) const;

 private:
  using Key = std::tuple<std::string_view, std::string_view, std::string_view>;

  const AnalysisDocument& document_;
  std::vector<const Figure*> figures_;
  std::map<Key, FigureNumber> numbers_;  // by specialist, metric, period end
  std::size_t left_out_ = 0;
};

}  // namespace belay::research::report
