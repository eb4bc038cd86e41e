#pragma once
// graph/bill_of_materials.h - the bill of materials that each commit of a run stores.
//
// A bill names, by group, what the program executes the run with: "agent" (the version of the
// graph), "model" (as the agent names it, or the default of the program), "policy" (retries,
// timeouts and limits), "prompts" and "tools". All but the model are the first digits of digests: a
// commit stores the whole bill.
//
// The owner of a run writes the bill of its graph from the commit on with which it becomes the
// owner. A commit without an owner keeps the bill before it: a cancel executes no node.

#include <map>
#include <optional>
#include <string>
#include <vector>

#include "belay/graph.h"

namespace belay {

using BillOfMaterials = std::map<std::string, std::string>;  // by group

bool is_material_group(std::string_view name);

// Empty for a graph that declares neither materials nor a rule about them.
BillOfMaterials bill_of(const GraphDefinition& graph);

// An object by group; null for an empty bill.
Value value_of(const BillOfMaterials& bill);
// The inverse; members that are no texts are left out.
BillOfMaterials bill_from(const Value& value);

// Returns the groups that differ, in order of their names. None if one of the bills is empty: the
// commits of older programs have none. Nor the model, if one of them is that of a process whose
// default model is unknown.
std::vector<std::string> changed_groups(const BillOfMaterials& before, const BillOfMaterials& now);

// Returns the strictest of the rules of the groups that differ from `before`, the stored bill.
MaterialChange rule_for(const GraphDefinition& graph, const BillOfMaterials& before);

// Returns the same graph in a program with this default model; empty: unknown.
std::shared_ptr<const GraphDefinition> with_default_model(
    std::shared_ptr<const GraphDefinition> graph, const std::string& model);
// Returns the same graph without the rules: it reads the commits of a run as they are.
std::shared_ptr<const GraphDefinition> without_material_rules(
    std::shared_ptr<const GraphDefinition> graph);

// Returns the groups of the graph's bill that differ from `before` and that its rules refuse. A
// group that the graph does not have is empty.
BillOfMaterials refused_by(const GraphDefinition& graph, const BillOfMaterials& before);
// Returns why the graph does not continue a run with the stored bill `before`; nullopt if it does.
std::optional<std::string> refusal_of(const GraphDefinition& graph, const BillOfMaterials& before);

}  // namespace belay
