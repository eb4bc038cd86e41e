#include "agents/research/analysis/results_json.h"

#include <map>

namespace belay::research {
namespace {

Value input_document(const Input& input) {
  return Value::object({{"concept", input.concept_name},
                        {"start", text_or_null(input.start)},
                        {"end", text_or_null(input.end)},
                        {"value", input.value},
                        {"accn", text_or_null(input.accn)},
                        {"form", text_or_null(input.form)},
                        {"filed", text_or_null(input.filed)}});
}

Value names(const std::set<std::string>& all) {
  return Value(Value::Array(all.begin(), all.end()));
}

std::string text_in(const Value& value) {
  const std::string* text = value.as_string();
  return text ? *text : std::string();
}

// Numbers the inputs, in the order of their first use.
class InputTable {
 public:
  Value indexes(const Inputs& inputs) {
    Value::Array indexes;
    for (const auto& input : inputs.all()) {
      auto [found, is_new] = index_of_.try_emplace(*input, documents_.size());
      if (is_new) documents_.push_back(input_document(*input));
      indexes.push_back(Value(static_cast<std::int64_t>(found->second)));
    }
    return Value(std::move(indexes));
  }
  Value take() { return Value(std::move(documents_)); }

 private:
  std::map<Input, std::size_t> index_of_;
  Value::Array documents_;
};

Value stored_figure(const Figure& figure, InputTable& inputs) {
  Value::Object members;
  members.emplace("specialist", figure.specialist);
  members.emplace("subtask", figure.subtask);
  members.emplace("metric", figure.metric);
  members.emplace("period_end", figure.period_end);
  members.emplace("unit", figure.unit);
  const Quantity& quantity = figure.quantity;
  if (quantity.is_available()) {
    members.emplace("value", quantity.value());
    members.emplace("inputs", inputs.indexes(quantity.inputs()));
    if (!quantity.assumed_zero().empty()) {
      members.emplace("assumed_zero", names(quantity.assumed_zero()));
    }
  } else {
    members.emplace("not_available", quantity.reason());
  }
  return Value(std::move(members));
}

std::optional<Missing> missing_named(std::string_view name) {
  for (Missing code : {Missing::missing_input, Missing::too_little_history, Missing::non_positive,
                       Missing::not_applicable, Missing::currency_mismatch, Missing::no_market_data,
                       Missing::no_peers, Missing::no_text}) {
    if (name == missing_code(code)) return code;
  }
  return std::nullopt;
}

Error damaged(std::string_view part) {
  return error(ErrorCode::invalid, "The stored results are damaged: " + std::string(part) + ".");
}

Result<Quantity> quantity_from(const Value& figure, const std::vector<Inputs>& inputs) {
  if (const std::string* reason = figure["not_available"].as_string()) {
    std::size_t colon = reason->find(": ");
    std::optional<Missing> code = missing_named(std::string_view(*reason).substr(0, colon));
    if (!code || colon == std::string::npos) return damaged("a reason");
    return Quantity::missing(*code, reason->substr(colon + 2));
  }
  std::optional<double> number = figure["value"].as_double();
  const Value::Array* indexes = figure["inputs"].as_array();
  if (!number || !indexes) return damaged("a figure");
  Quantity quantity = Quantity::of(*number);
  for (const Value& each : *indexes) {
    std::optional<std::uint64_t> index = each.as_uint();
    if (!index || *index >= inputs.size()) return damaged("an input");
    quantity.add_inputs(inputs[*index]);
  }
  if (const Value::Array* zeros = figure["assumed_zero"].as_array()) {
    for (const Value& zero : *zeros) quantity.assume_zero(text_in(zero));
  }
  return quantity;
}

Finding finding_from(const Value& value) {
  Finding finding;
  finding.specialist = text_in(value["specialist"]);
  finding.subtask = text_in(value["subtask"]);
  finding.code = text_in(value["code"]);
  for (Severity severity : {Severity::low, Severity::medium, Severity::high}) {
    if (text_in(value["severity"]) == severity_name(severity)) finding.severity = severity;
  }
  finding.period_end = text_in(value["period_end"]);
  finding.metric = text_in(value["metric"]);
  finding.quote = text_in(value["quote"]);
  finding.item = text_in(value["item"]);
  finding.offset = value["offset"].as_uint();
  return finding;
}

}  // namespace

Value text_or_null(const std::string& text) { return text.empty() ? Value() : Value(text); }

std::vector<Finding> findings_in(const Value& stored) {
  std::vector<Finding> findings;
  const Value::Array* all = stored["findings"].as_array();
  if (!all) return findings;
  for (const Value& each : *all) findings.push_back(finding_from(each));
  return findings;
}

Value stored_results(const Results& results) {
  InputTable inputs;
  Value::Array figures;
  for (const Figure& figure : results.figures) figures.push_back(stored_figure(figure, inputs));
  Value::Array findings;
  for (const Finding& finding : results.findings) findings.push_back(finding_document(finding));
  return Value::object({{"figures", std::move(figures)},
                        {"findings", std::move(findings)},
                        {"inputs", inputs.take()}});
}

Result<Results> results_from(const Value& stored) {
  const Value::Array* figures = stored["figures"].as_array();
  const Value::Array* documents = stored["inputs"].as_array();
  if (!figures || !stored["findings"].as_array() || !documents)
    return damaged("figures, findings and inputs");
  std::vector<Inputs> inputs;
  for (const Value& each : *documents) {
    inputs.push_back(
        Inputs(Input{text_in(each["concept"]), text_in(each["start"]), text_in(each["end"]),
                     each["value"].as_double().value_or(0), text_in(each["accn"]),
                     text_in(each["form"]), text_in(each["filed"])}));
  }
  Results results;
  for (const Value& each : *figures) {
    BELAY_TRY(Quantity quantity, quantity_from(each, inputs));
    results.figures.push_back({text_in(each["specialist"]), text_in(each["subtask"]),
                               text_in(each["metric"]), text_in(each["period_end"]),
                               text_in(each["unit"]), std::move(quantity)});
  }
  results.findings = findings_in(stored);
  return results;
}

Value figure_document(const Figure& figure) {
  Value::Object members;
  members.emplace("specialist", figure.specialist);
  members.emplace("subtask", figure.subtask);
  members.emplace("metric", figure.metric);
  members.emplace("period_end", figure.period_end);
  const Quantity& quantity = figure.quantity;
  if (!quantity.is_available()) {
    members.emplace("not_available", quantity.reason());
    return Value(std::move(members));
  }
  members.emplace("value", quantity.value());
  members.emplace("unit", figure.unit);
  Value::Array inputs;
  for (const auto& input : quantity.inputs().all()) inputs.push_back(input_document(*input));
  members.emplace("inputs", std::move(inputs));
  if (!quantity.assumed_zero().empty()) {
    members.emplace("assumed_zero", names(quantity.assumed_zero()));
  }
  return Value(std::move(members));
}

Value finding_document(const Finding& finding) {
  Value::Object members;
  members.emplace("specialist", finding.specialist);
  members.emplace("subtask", finding.subtask);
  members.emplace("code", finding.code);
  members.emplace("severity", severity_name(finding.severity));
  members.emplace("period_end", finding.period_end);
  if (!finding.metric.empty()) members.emplace("metric", finding.metric);
  if (!finding.quote.empty()) members.emplace("quote", finding.quote);
  if (!finding.item.empty()) members.emplace("item", finding.item);
  if (finding.offset) members.emplace("offset", static_cast<std::int64_t>(*finding.offset));
  return Value(std::move(members));
}

}  // namespace belay::research
