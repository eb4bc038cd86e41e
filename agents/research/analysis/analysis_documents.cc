#include "agents/research/analysis/analysis_documents.h"

#include "agents/research/analysis/coordinator.h"
#include "agents/research/analysis/results_json.h"
#include "agents/research/specialists/specialists.h"

namespace belay::research {
namespace {

// The status of an analysis that has no run.
constexpr std::string_view kNotStarted = "not started";

Value array_of_texts(const std::vector<std::string>& all) {
  return Value(Value::Array(all.begin(), all.end()));
}

Value texts_document(const AnalysisView& view) {
  Value::Array texts;
  for (const Deliverable& made : view.deliverables) {
    if (made.prose.empty()) continue;
    texts.push_back(Value::object({{"specialist", made.specialist},
                                   {"subtask", made.subtask},
                                   {"text", made.prose},
                                   {"by", made.proseBy},
                                   {"quotes", made.quotes}}));
  }
  return Value(std::move(texts));
}

Value type_named(std::string_view name) { return Value::object({{"type", name}}); }
Value or_null(Value schema) {
  return Value::object({{"anyOf", Value::Array{std::move(schema), type_named("null")}}});
}
Value list_of(Value items) {
  return Value::object({{"type", "array"}, {"items", std::move(items)}});
}
Value map_of(Value values) {
  return Value::object({{"type", "object"}, {"additionalProperties", std::move(values)}});
}
Value reference_to(std::string_view name) {
  return Value::object({{"$ref", "#/components/schemas/" + std::string(name)}});
}

// An object whose members all exist.
Value object_with(Value::Object properties) {
  Value::Array required;
  for (const auto& [name, schema] : properties) required.emplace_back(name);
  return Value::object({{"type", "object"},
                        {"properties", std::move(properties)},
                        {"required", std::move(required)}});
}

Value figure_schema() {
  Value text = type_named("string");
  Value input = object_with({{"concept", text},
                             {"start", or_null(text)},
                             {"end", or_null(text)},
                             {"value", type_named("number")},
                             {"accn", or_null(text)},
                             {"form", or_null(text)},
                             {"filed", or_null(text)}});
  Value schema = object_with(
      {{"specialist", text}, {"subtask", text}, {"metric", text}, {"period_end", text}});
  Value::Object& members = *schema.as_object()->at("properties").as_object();
  members.emplace("value", type_named("number"));
  members.emplace("unit", text);
  members.emplace("inputs", list_of(std::move(input)));
  members.emplace("assumed_zero", list_of(text));
  members.emplace("not_available", text);
  return schema;
}

Value finding_schema() {
  Value text = type_named("string");
  Value schema = object_with({{"specialist", text},
                              {"subtask", text},
                              {"code", text},
                              {"severity", text},
                              {"period_end", text}});
  Value::Object& members = *schema.as_object()->at("properties").as_object();
  for (const char* name : {"metric", "quote", "item"}) members.emplace(name, text);
  members.emplace("offset", type_named("integer"));
  return schema;
}

Value progress_schema() {
  Value text = type_named("string");
  return map_of(object_with({{"progress", text},
                             {"completed", list_of(text)},
                             {"current", or_null(text)},
                             {"failure", or_null(text)},
                             {"waitsFor", or_null(text)}}));
}

Value analysis_schema() {
  Value text = type_named("string");
  Value quote = object_with({{"sentence", type_named("integer")},
                             {"item", text},
                             {"offset", type_named("integer")},
                             {"text", text}});
  Value prose = object_with({{"specialist", text},
                             {"subtask", text},
                             {"text", text},
                             {"by", text},
                             {"quotes", list_of(std::move(quote))}});
  return object_with({{"analysis", text},
                      {"status", reference_to("RunStatus")},
                      {"outcome", or_null(text)},
                      {"error", or_null(text)},
                      {"ticker", text},
                      {"entity", or_null(text)},
                      {"as_of", or_null(text)},
                      {"currency", or_null(text)},
                      {"fiscal_years", list_of(text)},
                      {"peers", list_of(text)},
                      {"constants", map_of(type_named("number"))},
                      {"checkpoints", type_named("boolean")},
                      {"specialists", progress_schema()},
                      {"texts", list_of(std::move(prose))},
                      {"figures", list_of(figure_schema())},
                      {"findings", list_of(finding_schema())}});
}

}  // namespace

Value progress_document(const AnalysisView& view) {
  std::map<std::string, std::string> progress = progress_of(view.state);
  Value::Object members;
  for (const Specialist& each : specialists()) {
    auto found = progress.find(each.name);
    if (found == progress.end()) continue;
    SpecialistProgress at;
    if (auto made = view.state.specialists.find(each.name); made != view.state.specialists.end()) {
      at = made->second;
    }
    auto current = view.current.find(each.name);
    members.emplace(
        each.name,
        Value::object(
            {{"progress", found->second + " subtasks"},
             {"completed", array_of_texts(at.completed)},
             {"current", current == view.current.end() ? Value() : Value(current->second)},
             {"failure", text_or_null(at.failure)},
             {"waitsFor", text_or_null(at.waitsFor)}}));
  }
  return Value(std::move(members));
}

Value analysis_document(const AnalysisView& view) {
  const Analysis& state = view.state;
  Value::Array figures;
  for (const Figure& figure : view.results.figures) figures.push_back(figure_document(figure));
  Value::Array findings;
  for (const Finding& finding : view.results.findings) {
    findings.push_back(finding_document(finding));
  }
  Value::Object constants;
  for (const auto& [name, value] : state.request.constants) constants.emplace(name, value);
  Value document = summary_document(view.run, state);
  Value::Object& members = *document.as_object();
  members.emplace("entity", text_or_null(state.facts.entity));
  members.emplace("as_of", text_or_null(state.facts.asOf));
  members.emplace("currency", text_or_null(state.facts.currency));
  members.emplace("fiscal_years", array_of_texts(state.facts.fiscalYears));
  members.emplace("peers", array_of_texts(state.request.peers));
  members.emplace("constants", std::move(constants));
  members.emplace("checkpoints", state.request.checkpoints);
  members.emplace("specialists", progress_document(view));
  members.emplace("texts", texts_document(view));
  members.emplace("figures", std::move(figures));
  members.emplace("findings", std::move(findings));
  return document;
}

Value summary_document(const RunView& run, const Analysis& state) {
  return Value::object({{"analysis", run.row.thread.text},
                        {"ticker", state.request.ticker},
                        {"status", name_of(run.row.status)},
                        {"outcome", text_or_null(run.row.outcome)},
                        {"error", text_or_null(run.row.error)}});
}

Value pause_document(const AnalysisView& view) {
  return Value::object({{"analysis", view.run.row.thread.text},
                        {"pauses", true},
                        {"specialists", progress_document(view)}});
}

std::string listed_status(const ListedAnalysis& listed) {
  return listed.run ? std::string(name_of(listed.run->status)) : std::string(kNotStarted);
}

Value listed_document(const ListedAnalysis& listed) {
  const AnalysisRow& row = listed.row;
  Value outcome;
  if (listed.run) outcome = text_or_null(listed.run->outcome);
  return Value::object({{"analysis", row.id},
                        {"ticker", row.ticker},
                        {"as_of", row.asOf},
                        {"batch", text_or_null(row.batch)},
                        {"status", listed_status(listed)},
                        {"outcome", std::move(outcome)},
                        {"createdAt", to_text(row.createdAt)}});
}

Value list_document(const AnalysisListPage& page) {
  Value::Array documents;
  for (const ListedAnalysis& each : page.analyses) documents.push_back(listed_document(each));
  return Value::object({{"analyses", std::move(documents)}, {"next", text_or_null(page.next)}});
}

std::map<std::string, Value> research_schemas() {
  Value text = type_named("string");
  Value::Array statuses{reference_to("RunStatus"), Value::object({{"const", kNotStarted}})};
  Value summary = object_with({{"analysis", text},
                               {"ticker", text},
                               {"status", reference_to("RunStatus")},
                               {"outcome", or_null(text)},
                               {"error", or_null(text)}});
  Value listed = object_with({{"analysis", text},
                              {"ticker", text},
                              {"as_of", text},
                              {"batch", or_null(text)},
                              {"status", Value::object({{"anyOf", std::move(statuses)}})},
                              {"outcome", or_null(text)},
                              {"createdAt", text}});
  Value items = list_of(reference_to("ListedAnalysis"));
  Value list = object_with({{"analyses", items}, {"next", or_null(text)}});
  Value batch = object_with({{"batch", text}, {"queue", text}, {"analyses", items}});
  Value pause = object_with(
      {{"analysis", text}, {"pauses", type_named("boolean")}, {"specialists", progress_schema()}});
  Value report = object_with({{"analysis", text}, {"format", text}, {"text", text}});
  return {{"Analysis", analysis_schema()},       {"AnalysisSummary", std::move(summary)},
          {"ListedAnalysis", std::move(listed)}, {"AnalysisList", std::move(list)},
          {"AnalysisBatch", std::move(batch)},   {"AnalysisPause", std::move(pause)},
          {"AnalysisReport", std::move(report)}};
}

}  // namespace belay::research
