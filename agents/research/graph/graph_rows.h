#pragma once
// agents/research/graph/graph_rows.h - the results of an analysis as the nodes and relations of a
// property graph.
//
// Pure values without I/O. The same results in another order yield equal rows.
//
// Keys do not contain the id of the analysis. Therefore, another analysis of the same company and
// as-of date yields the same keys, and MERGE updates the nodes of the former one. `analysis_id` of
// an Analysis, a Metric or a Finding names the analysis that wrote it last; a Metric or a Finding
// with another one than its Analysis was not part of the last analysis.
//
//     (Company)-[:FILED]->(Filing)             (Analysis)-[:HAS_METRIC]->(Metric)
//     (Company)-[:HAS_YEAR]->(FiscalYear)      (Analysis)-[:HAS_FINDING]->(Finding)
//     (Analysis)-[:ANALYZES]->(Company)        (Metric)-[:MEASURED_IN]->(FiscalYear)
//     (Analysis)-[:COMPARED_WITH]->(Company)   (Metric)-[:COMPUTED_BY]->(Specialist)
//     (Analysis)-[:READS]->(Filing)            (Metric)-[:USES]->(Filing)
//     (Analysis)-[:RAN]->(Specialist)          (Finding)-[:BASED_ON]->(Metric)
//     (Finding)-[:FOUND_IN]->(FiscalYear)      (Finding)-[:QUOTES]->(Filing)
//     (Finding)-[:REPORTED_BY]->(Specialist)

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include "agents/research/finance/figure.h"

namespace belay::research {

enum class GraphType { text, number, integer };

struct GraphProperty {
  std::string_view name;
  GraphType type = GraphType::text;
};

// A kind of nodes, or of relations.
struct GraphTable {
  std::string_view name;         // label of the nodes, or type of the relations
  std::string_view source = {};  // label of the first end; empty: nodes
  std::string_view target = {};  // label of the second end
  std::vector<GraphProperty> properties = {};

  bool is_relation() const { return !source.empty(); }
};

// Returns all tables: those of nodes, then those of relations.
const std::vector<GraphTable>& graph_tables();
// Returns the table of this name, or null.
const GraphTable* graph_table(std::string_view name);

// A value of the property's type. std::monostate: the row does not have the property.
using GraphValue = std::variant<std::monostate, std::string, double, std::int64_t>;

struct GraphRow {
  std::string key = {};     // of a node
  std::string source = {};  // key of the first end of a relation
  std::string target = {};
  std::vector<GraphValue> values = {};  // of GraphTable::properties, in their order

  bool operator==(const GraphRow&) const = default;
};

struct GraphRows {
  std::string name;  // "AAPL-2026-01-30": letters, digits, ".", "_" and "-"
  // By the index of the table in graph_tables(). Sorted by key or by the keys of the ends; each
  // key, and each pair of ends, occurs once.
  std::vector<std::vector<GraphRow>> tables;

  // Returns the rows of a table; empty for an unknown name.
  const std::vector<GraphRow>& of(std::string_view table) const;
  bool operator==(const GraphRows&) const = default;
};

struct GraphCompany {
  std::string cik;  // ten digits
  std::string ticker;
  std::string name = {};  // of the entity; empty: unknown
};

struct GraphFiling {
  std::string accn = {};  // accession number; empty: unknown
  std::string form;       // "10-K"
  std::string filed;      // YYYY-MM-DD
};

// The analysis that the results belong to.
struct GraphSubject {
  std::string analysis_id;
  GraphCompany company;
  std::string as_of;                           // YYYY-MM-DD
  std::string currency = {};                   // "USD"
  std::vector<std::string> fiscal_years = {};  // their ends
  std::vector<GraphFiling> filings = {};       // of the company, in addition to those of the inputs
  std::optional<GraphFiling> text = {};        // the filing whose text was read
  std::vector<GraphCompany> peers = {};
};

// Returns the rows of `results`, which may be those of one subtask. A relation of a finding to its
// metric exists only if `results` contains both. The filings of inputs are the company's, except
// those that only figures of `peer_comparison` use. U+0000 and bytes that are not UTF-8 become
// U+FFFD. A number that is not finite is absent.
GraphRows graph_rows(const Results& results, const GraphSubject& subject);

// Joins the parts of a key by "|", after "|" and "%" in them became "%7C" and "%25". A part of more
// than 200 bytes is replaced by its beginning and a hash.
std::string graph_key(const std::vector<std::string_view>& parts);

}  // namespace belay::research
