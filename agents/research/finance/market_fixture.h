#pragma once
// agents/research/finance/market_fixture.h - a small market for tests.

#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

#include "agents/research/finance/market_figures.h"

namespace belay::research {

// A market that a test fills. Prices are dated the 28th of their month, all other rows the first.
struct TestMarket {
  MarketData data = {};
  Constants constants = {};
  std::string as_of = "2023-01-15";

  void add(std::string_view series, std::string_view month, double value) {
    const std::string day = series.starts_with("price:") ? "-28" : "-01";
    const Date date = *Date::parse(std::string(month) + day);
    data.merge(series, {{Month::of(date), date, value}});
  }
  // Values of consecutive months, the last of which is `last`.
  void add_run(std::string_view series, std::string_view last, const std::vector<double>& values) {
    const Month end = *Month::parse(last);
    for (std::size_t i = 0; i < values.size(); ++i) {
      add(series, end.minus(static_cast<int>(values.size() - 1 - i)).text(), values[i]);
    }
  }
  MarketView view() const {
    return {data, constants, *Date::parse(as_of), "X", *Date::parse("2022-09-30")};
  }
};

inline Figure figure_named(const std::vector<Figure>& figures, std::string_view metric) {
  for (const Figure& figure : figures) {
    if (figure.metric == metric) return figure;
  }
  Figure none;
  none.metric = "no figure " + std::string(metric);
  return none;
}

// "concept date" of each input.
inline std::vector<std::string> input_names(const Quantity& quantity) {
  std::vector<std::string> names;
  for (const auto& input : quantity.inputs().all()) {
    names.push_back(input->end.empty() ? input->concept_name
                                       : input->concept_name + " " + input->end);
  }
  return names;
}

inline std::vector<std::string> metric_names(const std::vector<Figure>& figures) {
  std::vector<std::string> names;
  for (const Figure& figure : figures) names.push_back(figure.metric);
  return names;
}

}  // namespace belay::research
