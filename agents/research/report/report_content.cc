#include "agents/research/report/report_content.h"

#include <algorithm>
#include <array>
#include <utility>

#include "agents/research/report/metric_labels.h"
#include "agents/research/report/report_limits.h"
#include "agents/research/specialists/specialists.h"

namespace belay::research::report {
namespace {

constexpr std::array<std::string_view, 3> kPeerKinds = {"peer_median_", "peer_rank_",
                                                        "peer_percentile_"};
constexpr std::string_view kProjection = "proj_";

// Splits "proj_fcff_03" into "fcff" and 3; the year is 0 if the name has another form.
std::pair<std::string_view, int> projected(std::string_view metric) {
  if (!metric.starts_with(kProjection) || metric.size() < kProjection.size() + 4) return {{}, 0};
  const char tens = metric[metric.size() - 2];
  const char ones = metric[metric.size() - 1];
  const bool is_year = metric[metric.size() - 3] == '_' && (tens == '0' || tens == '1') &&
                       ones >= '0' && ones <= '9';
  if (!is_year) return {{}, 0};
  metric.remove_prefix(kProjection.size());
  return {metric.substr(0, metric.size() - 3), (tens - '0') * 10 + (ones - '0')};
}

bool is_sensitivity(std::string_view metric) {
  for (const std::string_view kind : {"sens_value_per_share", "sens_ev"}) {
    if (!metric.starts_with(kind)) continue;
    for (const std::string_view rate : kRateSteps) {
      for (const std::string_view growth : kGrowthSteps) {
        if (metric == sensitivity_metric(kind, rate, growth)) return true;
      }
    }
  }
  return false;
}

std::vector<PeerRow> peer_rows_of(const FigureIndex& index) {
  std::vector<PeerRow> rows;
  for (FigureNumber number = 0; number < index.figures().size(); ++number) {
    const Figure& figure = index.figure(number);
    if (figure.specialist != "financial" || figure.subtask != "peer_comparison") continue;
    for (std::size_t kind = 0; kind < kPeerKinds.size(); ++kind) {
      if (!figure.metric.starts_with(kPeerKinds[kind])) continue;
      const std::string metric = figure.metric.substr(kPeerKinds[kind].size());
      auto row = std::find_if(rows.begin(), rows.end(),
                              [&](const PeerRow& known) { return known.metric == metric; });
      if (row == rows.end()) {
        rows.push_back({metric, index.latest("financial", metric), {}, {}, {}});
        row = rows.end() - 1;
        if (!row->own) row->own = index.latest("growth", metric);
      }
      if (kind == 0) row->median = number;
      if (kind == 1) row->rank = number;
      if (kind == 2) row->percentile = number;
    }
  }
  return rows;
}

std::vector<ProjectionRow> projection_of(const FigureIndex& index) {
  std::vector<ProjectionRow> rows;
  std::vector<std::pair<std::string_view, std::vector<std::pair<int, FigureNumber>>>> found;
  for (FigureNumber number = 0; number < index.figures().size(); ++number) {
    const Figure& figure = index.figure(number);
    if (figure.specialist != "valuation") continue;
    const auto [name, year] = projected(figure.metric);
    if (year == 0) continue;
    auto row = std::find_if(found.begin(), found.end(),
                            [&, part = name](const auto& known) { return known.first == part; });
    if (row == found.end()) row = found.insert(found.end(), {name, {}});
    row->second.emplace_back(year, number);
  }
  for (auto& [name, years] : found) {
    std::sort(years.begin(), years.end());
    ProjectionRow row{metric_label(name), index.figure(years.front().second).unit, {}};
    for (const auto& [year, number] : years) row.years.push_back(number);
    rows.push_back(std::move(row));
  }
  return rows;
}

}  // namespace

ReportContent::ReportContent(const AnalysisDocument& document)
    : index(document),
      provenance(provenance_of(index)),
      red_flags(finding_groups(document, Severity::medium, Severity::high)),
      observations(finding_groups(document, Severity::low, Severity::low)),
      peer_rows(peer_rows_of(index)),
      projection(projection_of(index)),
      football_field(football_field_of(index)),
      value_map(heat_map_of(index, "sens_value_per_share")),
      enterprise_map(heat_map_of(index, "sens_ev")) {}

bool is_in_special_table(const Figure& figure) {
  if (figure.specialist == "valuation") {
    return projected(figure.metric).second > 0 || is_sensitivity(figure.metric);
  }
  return figure.specialist == "financial" && figure.subtask == "peer_comparison" &&
         std::any_of(kPeerKinds.begin(), kPeerKinds.end(),
                     [&](std::string_view kind) { return figure.metric.starts_with(kind); });
}

std::string report_title(const AnalysisDocument& document) {
  if (document.entity_name.empty()) return document.ticker;
  return document.entity_name + " (" + document.ticker + ")";
}

std::string generation_time(const AnalysisDocument& document) {
  const std::string& time = document.generated_at;
  constexpr std::string_view kForm = "0000-00-00T00:00:00";
  bool is_known = time.size() > kForm.size() && time.ends_with('Z');
  for (std::size_t i = 0; is_known && i < kForm.size(); ++i) {
    is_known = kForm[i] == '0' ? time[i] >= '0' && time[i] <= '9' : time[i] == kForm[i];
  }
  if (!is_known) return time;
  return time.substr(0, 10) + " " + time.substr(11, 5) + " UTC";
}

std::vector<std::string_view> section_names(const FigureIndex& index) {
  std::vector<std::string_view> names;
  for (const Specialist& specialist : specialists()) names.push_back(specialist.name);
  for (const std::string_view other : index.other_specialists()) {
    if (names.size() < kListLimit) names.push_back(other);
  }
  return names;
}

bool has_content(const AnalysisDocument& document, std::string_view specialist) {
  const auto is_of = [&](const auto& part) { return part.specialist == specialist; };
  const auto& [figures, findings] = document.results;
  return std::any_of(figures.begin(), figures.end(), is_of) ||
         std::any_of(findings.begin(), findings.end(), is_of) ||
         std::any_of(document.texts.begin(), document.texts.end(), is_of) ||
         failure_of(document, specialist) != nullptr;
}

const ReportFailure* failure_of(const AnalysisDocument& document, std::string_view specialist) {
  for (const ReportFailure& failure : document.failures) {
    if (failure.specialist == specialist) return &failure;
  }
  return nullptr;
}

std::string period_of(const Input& input) {
  if (input.start.empty()) return input.end;
  return input.start + " to " + input.end;
}

std::string_view constant_of(const Input& input) {
  constexpr std::string_view kPrefix = "config:";
  const std::string_view name = input.concept_name;
  return name.starts_with(kPrefix) ? name.substr(kPrefix.size()) : std::string_view();
}

std::optional<std::size_t> constant_position(const AnalysisDocument& document,
                                             std::string_view name) {
  const std::size_t count = std::min(document.constants.size(), kListLimit);
  for (std::size_t i = 0; i < count; ++i) {
    if (document.constants[i].name == name) return i;
  }
  return std::nullopt;
}

std::string filing_of(const Input& input) {
  if (input.form.empty()) return input.filed.empty() ? std::string() : "filed " + input.filed;
  return input.filed.empty() ? input.form : input.form + " filed " + input.filed;
}

std::string zero_count(const ZeroItem& zero) {
  if (zero.in_special_tables == 0) return {};
  const std::string count = std::to_string(zero.in_special_tables);
  return (zero.metrics.empty() ? "" : ", and ") + count +
         " figures of the comparison with peers, the projection, and the sensitivity tables";
}

std::vector<std::string_view> paragraphs_of(std::string_view text) {
  std::vector<std::string_view> paragraphs;
  while (!text.empty()) {
    const std::size_t end = std::min(text.find("\n\n"), text.size());
    const std::string_view paragraph = text.substr(0, end);
    const bool is_empty = paragraph.find_first_not_of(" \t\r\n") == std::string_view::npos;
    if (!is_empty) paragraphs.push_back(paragraph);
    text.remove_prefix(std::min(end + 2, text.size()));
  }
  return paragraphs;
}

}  // namespace belay::research::report
