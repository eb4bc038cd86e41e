#include "agents/research/report/provenance.h"

#include <algorithm>
#include <optional>
#include <tuple>
#include <unordered_map>
#include <utility>

#include "agents/research/report/report_content.h"
#include "agents/research/report/report_limits.h"

namespace belay::research::report {
namespace {

bool is_digits(std::string_view text) {
  return !text.empty() &&
         std::all_of(text.begin(), text.end(), [](char c) { return c >= '0' && c <= '9'; });
}

// Returns the CIK without leading zeros; empty if it is malformed.
std::string_view short_cik(std::string_view cik) {
  if (!is_digits(cik) || cik.size() > 10) return {};
  const std::size_t first = cik.find_first_not_of('0');
  return first == std::string_view::npos ? std::string_view() : cik.substr(first);
}

// Gives equal inputs the same number.
class InputNumbers {
 public:
  std::size_t of(const std::shared_ptr<const Input>& input) {
    const auto known = by_address_.find(input.get());
    if (known != by_address_.end()) return known->second;
    const std::size_t number = by_value_.try_emplace(*input, by_value_.size()).first->second;
    by_address_.emplace(input.get(), number);
    return number;
  }

 private:
  std::unordered_map<const Input*, std::size_t> by_address_;  // most figures share their inputs
  std::map<Input, std::size_t> by_value_;
};

// Sources by accession number, from the document and from the inputs.
class Filings {
 public:
  explicit Filings(const AnalysisDocument& document) : own_cik_(document.cik) {
    for (const ReportSource& source : document.sources) {
      if (source.accn.empty()) continue;
      const std::string& cik = source.cik.empty() ? own_cik_ : source.cik;
      rows_.try_emplace(source.accn, FilingRow{source.accn, source.form, source.filed,
                                               edgar_filing_url(cik, source.accn)});
    }
  }

  // Inputs of a comparison can come from filings of other companies.
  void add(const Input& input, bool is_own) {
    if (input.accn.empty()) return;
    FilingRow& row =
        rows_.try_emplace(input.accn, FilingRow{input.accn, input.form, input.filed, {}})
            .first->second;
    if (row.form.empty()) row.form = input.form;
    if (row.filed.empty()) row.filed = input.filed;
    if (row.url.empty() && is_own) row.url = edgar_filing_url(own_cik_, input.accn);
  }

  void move_to(Provenance& provenance) && {
    for (auto& [accn, row] : rows_) {
      provenance.urls.emplace(accn, row.url);
      provenance.filings.push_back(std::move(row));
    }
    std::sort(provenance.filings.begin(), provenance.filings.end(),
              [](const FilingRow& a, const FilingRow& b) {
                return std::tie(b.filed, b.accn) < std::tie(a.filed, a.accn);
              });
    if (provenance.filings.size() > kSourceLimit) {
      provenance.filings_left_out = provenance.filings.size() - kSourceLimit;
      provenance.filings.resize(kSourceLimit);
    }
  }

 private:
  const std::string& own_cik_;
  std::map<std::string, FilingRow> rows_;
};

bool is_market_series(const Input& input) {
  const std::string_view name = input.concept_name;
  return name == "treasury_10y" || name == "sp500" || name.starts_with("price:") ||
         name.starts_with("shiller:");
}

void add_series(std::map<std::string, SeriesRow>& series, const Input& input) {
  if (!is_market_series(input)) return;
  SeriesRow& row =
      series.try_emplace(input.concept_name, SeriesRow{input.concept_name, input.end, input.end})
          .first->second;
  row.first = std::min(row.first, input.end);
  row.last = std::max(row.last, input.end);
}

// Collects the sets of inputs in the order of their first figures.
class InputSets {
 public:
  void add(FigureNumber number, const Quantity& quantity) {
    Key key{{}, quantity.assumed_zero()};
    for (const auto& input : quantity.inputs().all()) key.first.push_back(numbers_.of(input));
    const auto [entry, is_new] = positions_.try_emplace(std::move(key), sets_.size());
    if (is_new) {
      InputSet set;
      const auto& inputs = quantity.inputs().all();
      const std::size_t count = std::min({inputs.size(), kInputLimit, kAllInputsLimit - rows_});
      set.inputs.assign(inputs.begin(), inputs.begin() + static_cast<std::ptrdiff_t>(count));
      set.inputs_left_out = inputs.size() - count;
      set.assumed_zero = quantity.assumed_zero();
      rows_ += count;
      sets_.push_back(std::move(set));
    }
    sets_[entry->second].figures.push_back(number);
  }

  std::vector<InputSet> take() && { return std::move(sets_); }

 private:
  using Key = std::pair<std::vector<std::size_t>, std::set<std::string>>;

  InputNumbers numbers_;
  std::map<Key, std::size_t> positions_;
  std::vector<InputSet> sets_;
  std::size_t rows_ = 0;
};

using MetricKey = std::tuple<std::string_view, std::string_view, std::string_view>;

MetricKey metric_key(const Figure& figure) {
  return {figure.specialist, figure.subtask, figure.metric};
}

// Figures of a metric follow one another, but their reasons may alternate.
void add_unavailable(std::vector<UnavailableMetric>& rows, const FigureIndex& index,
                     FigureNumber number) {
  const Figure& figure = index.figure(number);
  std::string reason = figure.quantity.reason();
  for (auto row = rows.rbegin(); row != rows.rend(); ++row) {
    if (metric_key(index.figure(row->figures.front())) != metric_key(figure)) break;
    if (row->reason != reason) continue;
    row->figures.push_back(number);
    return;
  }
  rows.push_back({{number}, std::move(reason)});
}

void add_zero_item(std::vector<ZeroItem>& items, const FigureIndex& index, const std::string& item,
                   std::vector<FigureNumber>& figures) {
  if (items.empty() || items.back().item != item) items.push_back({item, {}, 0});
  if (is_in_special_table(index.figure(figures.front()))) {
    items.back().in_special_tables += figures.size();
  } else {
    items.back().metrics.push_back(std::move(figures));
  }
}

}  // namespace

Provenance provenance_of(const FigureIndex& index) {
  Provenance provenance;
  InputSets sets;
  Filings filings(index.document());
  std::map<std::string, SeriesRow> series;
  std::map<std::pair<std::string, MetricKey>, std::vector<FigureNumber>> zeros;
  for (FigureNumber number = 0; number < index.figures().size(); ++number) {
    const Figure& figure = index.figure(number);
    if (!figure.quantity.is_available()) {
      add_unavailable(provenance.unavailable, index, number);
      continue;
    }
    sets.add(number, figure.quantity);
    for (const auto& input : figure.quantity.inputs().all()) {
      filings.add(*input, figure.subtask != "peer_comparison");
      add_series(series, *input);
    }
    for (const std::string& item : figure.quantity.assumed_zero()) {
      zeros[{item, metric_key(figure)}].push_back(number);
    }
  }
  provenance.input_sets = std::move(sets).take();
  std::move(filings).move_to(provenance);
  for (auto& [name, row] : series) provenance.series.push_back(std::move(row));
  for (auto& [key, numbers] : zeros)
    add_zero_item(provenance.zero_items, index, key.first, numbers);
  return provenance;
}

std::string edgar_filing_url(std::string_view cik, std::string_view accn) {
  const std::string_view number = short_cik(cik);
  const bool is_accession = accn.size() == 20 && accn[10] == '-' && accn[13] == '-' &&
                            is_digits(accn.substr(0, 10)) && is_digits(accn.substr(11, 2)) &&
                            is_digits(accn.substr(14));
  if (number.empty() || !is_accession) return {};
  std::string url = "https://www.sec.gov/Archives/edgar/data/";
  url += number;
  url += '/';
  url += accn.substr(0, 10);
  url += accn.substr(11, 2);
  url += accn.substr(14);
  url += '/';
  url += accn;
  return url + "-index.htm";
}

std::string edgar_company_url(std::string_view cik) {
  const std::string_view number = short_cik(cik);
  if (number.empty()) return {};
  return "https://www.sec.gov/edgar/browse/?CIK=" + std::string(number);
}

}  // namespace belay::research::report
