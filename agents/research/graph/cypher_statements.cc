#include "agents/research/graph/cypher_statements.h"

namespace belay::research {
namespace {

std::string merge_of_nodes(const GraphTable& table) {
  return "MERGE (n:" + std::string(table.name) + " {key: row.key})";
}

std::string merge_of_relations(const GraphTable& table) {
  return "MERGE (a:" + std::string(table.source) + " {key: row.source})\n" +  //
         "MERGE (b:" + std::string(table.target) + " {key: row.target})\n" +  //
         "MERGE (a)-[n:" + std::string(table.name) + "]->(b)";
}

std::string kuzu_type(GraphType type) {
  switch (type) {
    case GraphType::text:
      return "STRING";
    case GraphType::number:
      return "DOUBLE";
    case GraphType::integer:
      return "INT64";
  }
  return "STRING";
}

std::string kuzu_declaration(const GraphTable& table) {
  std::string text =
      table.is_relation()
          ? "CREATE REL TABLE IF NOT EXISTS " + std::string(table.name) + " (FROM " +
                std::string(table.source) + " TO " + std::string(table.target)
          : "CREATE NODE TABLE IF NOT EXISTS " + std::string(table.name) + " (key STRING";
  for (const GraphProperty& property : table.properties) {
    text += ", " + std::string(property.name) + " " + kuzu_type(property.type);
  }
  return text + (table.is_relation() ? ")" : ", PRIMARY KEY (key))");
}

std::string neo4j_constraint(const GraphTable& table) {
  return "CREATE CONSTRAINT belay_" + std::string(table.name) +
         "_key IF NOT EXISTS FOR (n:" + std::string(table.name) + ") REQUIRE n.key IS UNIQUE";
}

}  // namespace

std::string cypher_statement(const GraphTable& table, std::string_view rows,
                             const std::set<std::string_view>& absent) {
  std::string text = "UNWIND " + std::string(rows) + " AS row\n" +
                     (table.is_relation() ? merge_of_relations(table) : merge_of_nodes(table));
  std::string_view before = "\nSET ";
  for (const GraphProperty& property : table.properties) {
    std::string name(property.name);
    text += std::string(before) + "n." + name + " = " +
            (absent.contains(property.name) ? std::string("null") : "row." + name);
    before = ", ";
  }
  return text;
}

std::string cypher_declaration(const GraphTable& table, CypherDialect dialect) {
  if (dialect == CypherDialect::kuzu) return kuzu_declaration(table);
  return table.is_relation() ? std::string() : neo4j_constraint(table);
}

}  // namespace belay::research
