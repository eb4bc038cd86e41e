#include "graph/bill_of_materials.h"

#include <algorithm>
#include <array>
#include <set>

#include "base/in_quotes.h"
#include "graph/structure.h"

namespace belay {
namespace {

constexpr std::array<std::string_view, 5> kMaterialGroups{"agent", "model", "policy", "prompts",
                                                          "tools"};
constexpr std::size_t kDigitsShown = 16;
constexpr std::size_t kModelTextMax = 100;
// Of a process without a named default model, and of commits of older programs.
constexpr std::string_view kUnknownModel = "of the run";

// The declared materials of a graph and of its subgraphs, by group.
struct DeclaredMaterials {
  std::set<std::string> models;
  std::map<std::string, std::string> texts;  // of the other groups
};

std::string_view group_named(std::string_view material) {
  std::string_view kind = material.substr(0, material.find(' '));
  if (kind == "prompt") return "prompts";
  if (kind == "tool") return "tools";
  return is_material_group(kind) ? kind : "agent";
}

// `default_model`: of the outermost graph.
void collect_materials(const GraphDefinition& graph, const std::string& within,
                       const std::string& default_model, DeclaredMaterials& all) {
  for (const auto& [name, text] : graph.materials) {
    std::string group(group_named(name));
    if (group == "model") {
      all.models.insert(text.empty() ? default_model : text);
    } else {
      all.texts[group] += within + name + " " + text + "\n";
    }
  }
  for (const GraphDefinition::Node& node : graph.nodes) {
    if (!node.subgraph) continue;
    collect_materials(*node.subgraph->graph, within + node.name + "/", default_model, all);
  }
}

// Whether two texts of a group show a change of it.
bool differ(const std::string& before, const std::string& now) {
  auto is_unknown = [](const std::string& text) { return text.find(kUnknownModel) != text.npos; };
  return before != now && !is_unknown(before) && !is_unknown(now);
}

std::string shortened(std::string_view text) {
  return to_hex(sha256(text)).substr(0, kDigitsShown);
}

std::string model_text(const std::set<std::string>& models) {
  std::string text;
  for (const std::string& model : models) text += (text.empty() ? "" : ", ") + model;
  return text.size() > kModelTextMax ? shortened(text) : text;
}

}  // namespace

bool is_material_group(std::string_view name) {
  return std::find(kMaterialGroups.begin(), kMaterialGroups.end(), name) != kMaterialGroups.end();
}

BillOfMaterials bill_of(const GraphDefinition& graph) {
  DeclaredMaterials all;
  std::string model =
      graph.default_model.empty() ? std::string(kUnknownModel) : graph.default_model;
  collect_materials(graph, "", model, all);
  if (all.models.empty() && all.texts.empty() && graph.material_rules.empty()) return {};
  all.texts["policy"] += policies_of(graph);
  all.texts["agent"] += to_hex(graph.hash);
  BillOfMaterials bill;
  for (const auto& [group, text] : all.texts) bill.emplace(group, shortened(text));
  if (!all.models.empty()) bill.emplace("model", model_text(all.models));
  return bill;
}

Value value_of(const BillOfMaterials& bill) {
  if (bill.empty()) return Value();
  return Value(Value::Object(bill.begin(), bill.end()));
}

BillOfMaterials bill_from(const Value& value) {
  BillOfMaterials bill;
  if (!value.as_object()) return bill;
  for (const auto& [group, text] : *value.as_object()) {
    if (text.as_string()) bill.emplace(group, *text.as_string());
  }
  return bill;
}

std::vector<std::string> changed_groups(const BillOfMaterials& before, const BillOfMaterials& now) {
  std::vector<std::string> changed;
  if (before.empty() || now.empty()) return changed;
  for (std::string_view name : kMaterialGroups) {
    std::string group(name);
    auto old = before.find(group), current = now.find(group);
    bool was = old != before.end(), is = current != now.end();
    if (was != is || (was && differ(old->second, current->second)))
      changed.push_back(std::move(group));
  }
  return changed;
}

MaterialChange rule_for(const GraphDefinition& graph, const BillOfMaterials& before) {
  MaterialChange strictest = MaterialChange::allow;
  if (graph.material_rules.empty()) return strictest;
  for (const std::string& group : changed_groups(before, bill_of(graph))) {
    auto rule = graph.material_rules.find(group);
    if (rule != graph.material_rules.end()) strictest = std::max(strictest, rule->second);
  }
  return strictest;
}

std::shared_ptr<const GraphDefinition> without_material_rules(
    std::shared_ptr<const GraphDefinition> graph) {
  if (graph->material_rules.empty()) return graph;
  auto lenient = std::make_shared<GraphDefinition>(*graph);
  lenient->material_rules.clear();
  return lenient;
}

BillOfMaterials refused_by(const GraphDefinition& graph, const BillOfMaterials& before) {
  BillOfMaterials refused;
  if (graph.material_rules.empty()) return refused;
  BillOfMaterials now = bill_of(graph);
  for (const std::string& group : changed_groups(before, now)) {
    auto rule = graph.material_rules.find(group);
    bool refuses = rule != graph.material_rules.end() && rule->second == MaterialChange::refuse;
    if (refuses) refused.emplace(group, now[group]);
  }
  return refused;
}

std::optional<std::string> refusal_of(const GraphDefinition& graph, const BillOfMaterials& before) {
  std::string listed;
  for (const auto& [group, text] : refused_by(graph, before)) {
    listed += (listed.empty() ? "" : ", ") + group;
  }
  if (listed.empty()) return std::nullopt;
  return "Graph " + in_quotes(graph.name) + " has other materials than the run: " + listed +
         ". It refuses such a change. Use the program that started the run, accept the change with "
         "`belay resume THREAD --accept-changes`, or change the rule of on_changed_materials().";
}

std::shared_ptr<const GraphDefinition> with_default_model(
    std::shared_ptr<const GraphDefinition> graph, const std::string& model) {
  if (model.empty() || graph->default_model == model) return graph;
  auto named = std::make_shared<GraphDefinition>(*graph);
  named->default_model = model;
  return named;
}

void declare_material(GraphDefinition& graph, std::string_view name, std::string_view text) {
  graph.materials.insert_or_assign(std::string(name),
                                   name == "model" ? std::string(text) : to_hex(sha256(text)));
}

void set_material_rule(GraphDefinition& graph, MaterialChange rule,
                       const std::vector<std::string_view>& groups) {
  for (std::string_view group : groups) graph.material_rules[std::string(group)] = rule;
}

}  // namespace belay
