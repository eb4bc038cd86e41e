#include "agents/research/graph/graph_rows.h"

#include <cmath>
#include <limits>
#include <map>
#include <set>
#include <utility>

#include "agents/research/graph/graph_text.h"

namespace belay::research {
namespace {

constexpr std::string_view kPeerSubtask = "peer_comparison";

GraphValue text_value(std::string_view text) {
  if (text.empty()) return {};
  return graph_text(text);
}

GraphValue number_value(double number) {
  if (!std::isfinite(number)) return {};
  return number;
}

std::string company_key(const GraphCompany& company) {
  if (!company.cik.empty()) return graph_key({company.cik});
  return graph_key({"ticker", company.ticker});
}

bool is_for_file_name(char c) {
  return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '.' ||
         c == '_' || c == '-';
}

std::string file_name_of(const GraphSubject& subject) {
  std::string name = subject.company.ticker.substr(0, 40) + "-" + subject.as_of.substr(0, 20);
  for (char& c : name) {
    if (!is_for_file_name(c)) c = '_';
  }
  if (name.starts_with('.')) name.front() = '_';
  return name;
}

// "GrossProfit 2024-09-29 2025-09-27 195201000000", "config:beta_default 1".
std::string input_line(const Input& input) {
  std::string line = input.concept_name;
  if (!input.start.empty()) line += " " + input.start;
  if (!input.end.empty()) line += " " + input.end;
  return line + " " + graph_number(input.value);
}

void add_line(std::string& text, const std::string& line) {
  if (!text.empty()) text += '\n';
  text += line;
}

// Collects the rows of one analysis.
class GraphRowCollector {
 public:
  explicit GraphRowCollector(const GraphSubject& subject)
      : subject_(subject),
        company_(company_key(subject.company)),
        analysis_(graph_key({company_, subject.as_of})) {
    by_table_.resize(graph_tables().size());
  }

  GraphRows collect(const Results& results) {
    add_analysis();
    add_company_filings(results);
    for (const Figure& figure : results.figures) add_figure(figure);
    for (const Finding& finding : results.findings) add_finding(finding);
    GraphRows rows;
    rows.name = file_name_of(subject_);
    rows.tables.resize(by_table_.size());
    for (std::size_t i = 0; i < by_table_.size(); ++i) {
      for (auto& [key, row] : by_table_[i]) rows.tables[i].push_back(std::move(row));
    }
    return rows;
  }

 private:
  using Rows = std::map<std::pair<std::string, std::string>, GraphRow>;

  Rows& rows_of(std::string_view table) {
    return by_table_[static_cast<std::size_t>(graph_table(table) - graph_tables().data())];
  }

  // Of two different rows with one key, that with greater values remains, whatever the order of the
  // results is: any text is greater than an absent one.
  void put(std::string_view table, const std::pair<std::string, std::string>& key, GraphRow row) {
    auto [found, is_new] = rows_of(table).try_emplace(key, row);
    if (!is_new && found->second.values < row.values) found->second = std::move(row);
  }
  void add_node(std::string_view label, const std::string& key, std::vector<GraphValue> values) {
    put(label, {key, ""}, {.key = key, .values = std::move(values)});
  }
  void relate(std::string_view type, const std::string& source, const std::string& target,
              std::vector<GraphValue> values = {}) {
    put(type, {source, target}, {.source = source, .target = target, .values = std::move(values)});
  }

  void add_company(const std::string& key, const GraphCompany& company) {
    add_node("Company", key,
             {text_value(company.cik), text_value(company.ticker), text_value(company.name)});
  }

  void add_analysis() {
    add_company(company_, subject_.company);
    add_node("Analysis", analysis_,
             {text_value(subject_.analysis_id), text_value(subject_.company.ticker),
              text_value(subject_.as_of), text_value(subject_.currency)});
    relate("ANALYZES", analysis_, company_);
    for (const std::string& end : subject_.fiscal_years) {
      std::string key = graph_key({company_, end});
      years_.insert(end);
      add_node("FiscalYear", key, {text_value(end)});
      relate("HAS_YEAR", company_, key);
    }
    for (const GraphCompany& peer : subject_.peers) {
      std::string key = company_key(peer);
      add_company(key, peer);
      relate("COMPARED_WITH", analysis_, key);
    }
  }

  // The filing of a text has no accession number in the inputs of figures.
  std::string filing_key(const std::string& accn, const std::string& form,
                         const std::string& filed) const {
    if (!accn.empty()) return graph_key({accn});
    const std::optional<GraphFiling>& text = subject_.text;
    if (text && !text->accn.empty() && text->form == form && text->filed == filed) {
      return graph_key({text->accn});
    }
    return graph_key({company_, form, filed});
  }

  std::string add_filing(const std::string& accn, const std::string& form,
                         const std::string& filed) {
    std::string key = filing_key(accn, form, filed);
    add_node("Filing", key, {text_value(accn), text_value(form), text_value(filed)});
    relate("READS", analysis_, key);
    return key;
  }

  void add_company_filing(const std::string& accn, const std::string& form,
                          const std::string& filed) {
    relate("FILED", company_, add_filing(accn, form, filed));
  }

  static bool is_of_filing(const Input& input) {
    return !input.accn.empty() || !input.filed.empty();
  }

  void add_company_filings(const Results& results) {
    for (const GraphFiling& filing : subject_.filings) {
      add_company_filing(filing.accn, filing.form, filing.filed);
    }
    if (subject_.text) {
      add_company_filing(subject_.text->accn, subject_.text->form, subject_.text->filed);
    }
    for (const Figure& figure : results.figures) {
      if (figure.subtask == kPeerSubtask) continue;
      for (const auto& input : figure.quantity.inputs().all()) {
        if (is_of_filing(*input)) add_company_filing(input->accn, input->form, input->filed);
      }
    }
  }

  std::string add_specialist(const std::string& name) {
    std::string key = graph_key({name});
    add_node("Specialist", key, {text_value(name)});
    relate("RAN", analysis_, key);
    return key;
  }

  std::string result_key(const std::string& specialist, const std::string& subtask,
                         const std::string& name, const std::string& period_end) const {
    return analysis_ + "|" + graph_key({specialist, subtask, name, period_end});
  }

  void add_figure(const Figure& figure) {
    std::string key =
        result_key(figure.specialist, figure.subtask, figure.metric, figure.period_end);
    metrics_[{figure.specialist, figure.metric, figure.period_end}].insert(key);
    std::map<std::string, std::string> facts;  // by the key of the filing
    std::string others;
    for (const auto& input : figure.quantity.inputs().all()) {
      if (is_of_filing(*input)) {
        std::string filing = add_filing(input->accn, input->form, input->filed);
        add_line(facts[filing], input_line(*input));
      } else {
        add_line(others, input_line(*input));
      }
    }
    std::string zero;
    for (const std::string& item : figure.quantity.assumed_zero()) {
      zero += (zero.empty() ? "" : ", ") + item;
    }
    GraphValue value;
    if (figure.quantity.is_available()) value = number_value(figure.quantity.value());
    add_node("Metric", key,
             {text_value(subject_.analysis_id), text_value(figure.specialist),
              text_value(figure.subtask), text_value(figure.metric), text_value(figure.period_end),
              value, text_value(figure.unit), text_value(figure.quantity.reason()),
              text_value(zero), text_value(others)});
    relate("HAS_METRIC", analysis_, key);
    relate("COMPUTED_BY", key, add_specialist(figure.specialist));
    if (years_.contains(figure.period_end)) {
      relate("MEASURED_IN", key, graph_key({company_, figure.period_end}));
    }
    for (const auto& [filing, lines] : facts) relate("USES", key, filing, {text_value(lines)});
  }

  void add_finding(const Finding& finding) {
    std::string key =
        result_key(finding.specialist, finding.subtask, finding.code, finding.period_end);
    GraphValue offset;
    if (finding.offset &&
        *finding.offset <= static_cast<std::uint64_t>(std::numeric_limits<std::int64_t>::max())) {
      offset = static_cast<std::int64_t>(*finding.offset);
    }
    add_node(
        "Finding", key,
        {text_value(subject_.analysis_id), text_value(finding.specialist),
         text_value(finding.subtask), text_value(finding.code),
         text_value(severity_name(finding.severity)), text_value(finding.period_end),
         text_value(finding.metric), text_value(finding.quote), text_value(finding.item), offset});
    relate("HAS_FINDING", analysis_, key);
    relate("REPORTED_BY", key, add_specialist(finding.specialist));
    if (years_.contains(finding.period_end)) {
      relate("FOUND_IN", key, graph_key({company_, finding.period_end}));
    }
    std::string metric = metric_of(finding);
    if (!metric.empty()) relate("BASED_ON", key, metric);
    bool is_of_text = !finding.quote.empty() || !finding.item.empty();
    if (is_of_text && subject_.text) {
      const GraphFiling& text = *subject_.text;
      relate("QUOTES", key, filing_key(text.accn, text.form, text.filed));
    }
  }

  // Returns the key of the figure that the finding is based on: that of its subtask, else the first
  // one of its specialist. Empty if the results do not contain it.
  std::string metric_of(const Finding& finding) const {
    if (finding.metric.empty()) return {};
    auto found = metrics_.find({finding.specialist, finding.metric, finding.period_end});
    if (found == metrics_.end()) return {};
    std::string key =
        result_key(finding.specialist, finding.subtask, finding.metric, finding.period_end);
    return found->second.contains(key) ? key : *found->second.begin();
  }

  const GraphSubject& subject_;
  const std::string company_;
  const std::string analysis_;
  std::set<std::string> years_;
  std::map<std::vector<std::string>, std::set<std::string>> metrics_;
  std::vector<Rows> by_table_;
};

}  // namespace

GraphRows graph_rows(const Results& results, const GraphSubject& subject) {
  return GraphRowCollector(subject).collect(results);
}

}  // namespace belay::research
