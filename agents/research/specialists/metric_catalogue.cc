#include "agents/research/specialists/metric_catalogue.h"

#include <algorithm>
#include <charconv>
#include <optional>

#include "agents/research/filings/text_lines.h"

namespace belay::research {
namespace {

constexpr std::string_view kForBanksToo = "°";

// A mark after the name: the years, the unit, or whether the metric is for banks.
bool read_mark(std::string_view mark, ForBanks& banks, std::string& unit, int& latest_years) {
  if (mark == "B") {
    banks = ForBanks::only;
  } else if (mark == "L") {
    latest_years = 1;
  } else if (mark.starts_with('L')) {
    auto [end, code] = std::from_chars(mark.data() + 1, mark.data() + mark.size(), latest_years);
    return code == std::errc() && end == mark.data() + mark.size() && latest_years > 0;
  } else if (mark.size() > 2 && mark.starts_with('[') && mark.ends_with(']')) {
    unit = mark.substr(1, mark.size() - 2);
  } else {
    return false;
  }
  return true;
}

}  // namespace

MetricCatalogue::MetricCatalogue(std::string_view text) {
  std::string section;
  std::string definition;  // with its continuation lines
  while (!text.empty()) {
    std::string_view line = take_line(text);
    if (line.starts_with(' ')) {
      definition += line;
      continue;
    }
    add(definition, section);
    definition.clear();
    if (line.starts_with('[') && line.ends_with(']')) {
      section = line.substr(1, line.size() - 2);
    } else if (!line.starts_with('#')) {
      definition = line;
    }
  }
  add(definition, section);
}

void MetricCatalogue::add(std::string_view line, std::string_view section) {
  if (line.empty()) return;
  std::size_t equals = line.find(" =");
  std::size_t dot = section.find('.');
  auto fail = [&](const std::string& why) { errors_.push_back(std::string(line) + ": " + why); };
  if (equals == std::string_view::npos || dot == std::string_view::npos) {
    return fail("not NAME = FORMULA in a section [SPECIALIST.SUBTASK]");
  }
  std::string_view marks = line.substr(0, equals);
  std::string name(take_word(marks));
  ForBanks banks = ForBanks::no;
  if (name.ends_with(kForBanksToo)) {
    name.resize(name.size() - kForBanksToo.size());
    banks = ForBanks::too;
  }
  std::string unit = "ratio";
  int latest_years = 0;
  for (std::string_view mark = take_word(marks); !mark.empty(); mark = take_word(marks)) {
    if (!read_mark(mark, banks, unit, latest_years)) return fail("unknown mark");
  }
  std::string_view text = line.substr(equals + 2);
  text.remove_prefix(std::min(text.find_first_not_of(' '), text.size()));
  std::string error;
  std::optional<Formula> formula = Formula::parse(text, error);
  if (!formula) return fail(error);
  if (!by_name_.emplace(name, metrics_.size()).second) return fail("the name exists");
  metrics_.push_back({std::string(section.substr(0, dot)), std::string(section.substr(dot + 1)),
                      std::move(name), banks, std::move(unit), latest_years, std::move(*formula)});
}

const MetricCatalogue& MetricCatalogue::built_in() {
  static const MetricCatalogue catalogue(formulas_text());
  return catalogue;
}

const Metric* MetricCatalogue::find(std::string_view name) const {
  auto found = by_name_.find(name);
  return found == by_name_.end() ? nullptr : &metrics_[found->second];
}

std::vector<const Metric*> MetricCatalogue::of(std::string_view specialist,
                                               std::string_view subtask) const {
  std::vector<const Metric*> found;
  for (const Metric& metric : metrics_) {
    if (metric.specialist == specialist && metric.subtask == subtask) found.push_back(&metric);
  }
  return found;
}

}  // namespace belay::research
