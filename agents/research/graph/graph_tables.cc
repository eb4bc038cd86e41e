// The tables of the graph: labels, types and properties.

#include <algorithm>

#include "agents/research/graph/graph_rows.h"

namespace belay::research {
namespace {

constexpr GraphType kText = GraphType::text;

// The names of properties are no reserved words of Cypher, which would need quotes.
std::vector<GraphTable> all_graph_tables() {
  return {
      {.name = "Company", .properties = {{"cik", kText}, {"ticker", kText}, {"name", kText}}},
      {.name = "Filing", .properties = {{"accn", kText}, {"form", kText}, {"filed", kText}}},
      {.name = "FiscalYear", .properties = {{"period_end", kText}}},
      {.name = "Specialist", .properties = {{"name", kText}}},
      {.name = "Analysis",
       .properties =
           {{"analysis_id", kText}, {"ticker", kText}, {"as_of", kText}, {"currency", kText}}},
      {.name = "Metric",
       .properties = {{"analysis_id", kText},
                      {"specialist", kText},
                      {"subtask", kText},
                      {"metric", kText},
                      {"period_end", kText},
                      {"value", GraphType::number},
                      {"unit", kText},
                      {"not_available", kText},
                      {"assumed_zero", kText},
                      {"other_inputs", kText}}},
      {.name = "Finding",
       .properties = {{"analysis_id", kText},
                      {"specialist", kText},
                      {"subtask", kText},
                      {"code", kText},
                      {"severity", kText},
                      {"period_end", kText},
                      {"metric", kText},
                      {"quote", kText},
                      {"item", kText},
                      {"quote_offset", GraphType::integer}}},
      {.name = "FILED", .source = "Company", .target = "Filing"},
      {.name = "HAS_YEAR", .source = "Company", .target = "FiscalYear"},
      {.name = "ANALYZES", .source = "Analysis", .target = "Company"},
      {.name = "COMPARED_WITH", .source = "Analysis", .target = "Company"},
      {.name = "READS", .source = "Analysis", .target = "Filing"},
      {.name = "RAN", .source = "Analysis", .target = "Specialist"},
      {.name = "HAS_METRIC", .source = "Analysis", .target = "Metric"},
      {.name = "HAS_FINDING", .source = "Analysis", .target = "Finding"},
      {.name = "MEASURED_IN", .source = "Metric", .target = "FiscalYear"},
      {.name = "COMPUTED_BY", .source = "Metric", .target = "Specialist"},
      {.name = "USES", .source = "Metric", .target = "Filing", .properties = {{"facts", kText}}},
      {.name = "FOUND_IN", .source = "Finding", .target = "FiscalYear"},
      {.name = "REPORTED_BY", .source = "Finding", .target = "Specialist"},
      {.name = "BASED_ON", .source = "Finding", .target = "Metric"},
      {.name = "QUOTES", .source = "Finding", .target = "Filing"},
  };
}

}  // namespace

const std::vector<GraphTable>& graph_tables() {
  static const std::vector<GraphTable> tables = all_graph_tables();
  return tables;
}

const GraphTable* graph_table(std::string_view name) {
  const std::vector<GraphTable>& tables = graph_tables();
  auto found = std::find_if(tables.begin(), tables.end(),
                            [&](const GraphTable& table) { return table.name == name; });
  return found == tables.end() ? nullptr : &*found;
}

const std::vector<GraphRow>& GraphRows::of(std::string_view table) const {
  static const std::vector<GraphRow> none;
  const GraphTable* found = graph_table(table);
  if (!found) return none;
  auto index = static_cast<std::size_t>(found - graph_tables().data());
  return index < tables.size() ? tables[index] : none;
}

}  // namespace belay::research
