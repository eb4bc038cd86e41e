#include "agents/research/report/figure_index.h"

#include <algorithm>
#include <utility>

#include "agents/research/report/report_limits.h"
#include "agents/research/specialists/specialists.h"

namespace belay::research::report {
namespace {

// The rank of a figure in the report.
struct Rank {
  std::size_t specialist = 0;
  std::string_view specialist_name;  // orders specialists that are not known
  std::size_t subtask = 0;
  std::string_view subtask_name;
  std::size_t metric = 0;  // of the first occurrence
  std::string_view period_end;
  std::size_t occurrence = 0;

  auto operator<=>(const Rank&) const = default;
};

std::vector<std::pair<Rank, const Figure*>> ranked(const std::vector<Figure>& figures) {
  std::map<std::tuple<std::string_view, std::string_view, std::string_view>, std::size_t> first;
  std::vector<std::pair<Rank, const Figure*>> ranks;
  ranks.reserve(figures.size());
  for (std::size_t i = 0; i < figures.size(); ++i) {
    const Figure& figure = figures[i];
    const std::size_t metric =
        first.try_emplace({figure.specialist, figure.subtask, figure.metric}, i).first->second;
    ranks.push_back({Rank{specialist_position(figure.specialist), figure.specialist,
                          subtask_position(figure.specialist, figure.subtask), figure.subtask,
                          metric, figure.period_end, i},
                     &figure});
  }
  return ranks;
}

// Puts a subtask's figures, which are ordered by metric, into its table.
MetricTable table_of(const FigureIndex& index, FigureNumber first, FigureNumber end) {
  MetricTable table;
  table.subtask = index.figure(first).subtask;
  std::vector<std::pair<FigureNumber, FigureNumber>> groups;  // of one metric each
  for (FigureNumber i = first; i < end;) {
    FigureNumber next = i;
    while (next < end && index.figure(next).metric == index.figure(i).metric) ++next;
    if (next - i == 1) {
      table.single.push_back(i);
    } else {
      groups.emplace_back(i, next);
      for (FigureNumber k = i; k < next; ++k) table.periods.push_back(index.figure(k).period_end);
    }
    i = next;
  }
  std::sort(table.periods.begin(), table.periods.end());
  table.periods.erase(std::unique(table.periods.begin(), table.periods.end()), table.periods.end());
  for (const auto& [begin, stop] : groups) {
    MetricRow row{index.figure(begin).metric, index.figure(begin).unit,
                  std::vector<std::optional<FigureNumber>>(table.periods.size())};
    for (FigureNumber k = begin; k < stop; ++k) {
      if (row.unit.empty()) row.unit = index.figure(k).unit;
      const auto column =
          std::lower_bound(table.periods.begin(), table.periods.end(), index.figure(k).period_end);
      row.cells[static_cast<std::size_t>(column - table.periods.begin())] = k;
    }
    table.rows.push_back(std::move(row));
  }
  return table;
}

}  // namespace

FigureIndex::FigureIndex(const AnalysisDocument& document) : document_(document) {
  auto ranks = ranked(document.results.figures);
  std::sort(ranks.begin(), ranks.end(),
            [](const auto& a, const auto& b) { return a.first < b.first; });
  if (ranks.size() > kFigureLimit) {
    left_out_ = ranks.size() - kFigureLimit;
    ranks.resize(kFigureLimit);
  }
  figures_.reserve(ranks.size());
  for (const auto& [rank, figure] : ranks) {
    numbers_.try_emplace(Key{figure->specialist, figure->metric, figure->period_end},
                         figures_.size());
    figures_.push_back(figure);
  }
}

std::string FigureIndex::anchor(FigureNumber number) { return "f" + std::to_string(number); }

std::optional<FigureNumber> FigureIndex::find(std::string_view specialist, std::string_view metric,
                                              std::string_view period_end) const {
  const auto found = numbers_.find(Key{specialist, metric, period_end});
  if (found == numbers_.end()) return std::nullopt;
  return found->second;
}

std::optional<FigureNumber> FigureIndex::latest(std::string_view specialist,
                                                std::string_view metric) const {
  std::optional<FigureNumber> number;
  for (auto entry = numbers_.lower_bound(Key{specialist, metric, {}}); entry != numbers_.end();
       ++entry) {
    if (std::get<0>(entry->first) != specialist || std::get<1>(entry->first) != metric) break;
    number = entry->second;
  }
  return number;
}

std::optional<double> FigureIndex::latest_value(std::string_view specialist,
                                                std::string_view metric) const {
  const auto number = latest(specialist, metric);
  if (!number || !figure(*number).quantity.is_available()) return std::nullopt;
  return figure(*number).quantity.value();
}

std::optional<MetricRow> FigureIndex::row(std::string_view specialist, std::string_view metric,
                                          std::span<const std::string> periods) const {
  std::optional<MetricRow> row;
  for (std::size_t i = 0; i < periods.size(); ++i) {
    const auto number = find(specialist, metric, periods[i]);
    if (!number) continue;
    if (!row) {
      row = MetricRow{figure(*number).metric, figure(*number).unit, {}};
      row->cells.resize(periods.size());
    }
    if (row->unit.empty()) row->unit = figure(*number).unit;
    row->cells[i] = number;
  }
  return row;
}

std::vector<std::string_view> FigureIndex::other_specialists() const {
  std::vector<std::string_view> names;
  for (const Figure* figure : figures_) {
    if (specialist_position(figure->specialist) < specialists().size()) continue;
    if (names.empty() || names.back() != figure->specialist) names.push_back(figure->specialist);
  }
  return names;
}

std::vector<MetricTable> FigureIndex::tables(std::string_view specialist) const {
  std::vector<MetricTable> tables;
  for (FigureNumber i = 0; i < figures_.size();) {
    if (figures_[i]->specialist != specialist) {
      ++i;
      continue;
    }
    FigureNumber end = i;
    while (end < figures_.size() && figures_[end]->specialist == specialist &&
           figures_[end]->subtask == figures_[i]->subtask) {
      ++end;
    }
    tables.push_back(table_of(*this, i, end));
    i = end;
  }
  return tables;
}

}  // namespace belay::research::report
