#include "agents/research/graph/cypher.h"

#include <array>
#include <charconv>
#include <map>
#include <set>
#include <utility>

#include "agents/research/graph/cypher_statements.h"

namespace belay::research {
namespace {

constexpr int kDigitsAfterPoint = 16;  // 17 significant digits

Value json_value(const GraphValue& value) {
  if (const auto* text = std::get_if<std::string>(&value)) return Value(*text);
  if (const auto* number = std::get_if<double>(&value)) return Value(*number);
  if (const auto* integer = std::get_if<std::int64_t>(&value)) return Value(*integer);
  return {};
}

Value json_row(const GraphTable& table, const GraphRow& row) {
  Value::Object members;
  if (table.is_relation()) {
    members.emplace("source", row.source);
    members.emplace("target", row.target);
  } else {
    members.emplace("key", row.key);
  }
  for (std::size_t i = 0; i < table.properties.size(); ++i) {
    members.emplace(table.properties[i].name, json_value(row.values[i]));
  }
  return members;
}

// Divides the rows of a table into batches.
void add_batches(const GraphTable& table, const std::vector<GraphRow>& rows,
                 const CypherLimits& limits, std::vector<CypherBatch>& batches) {
  std::size_t bytes = 0;
  bool is_open = false;
  for (const GraphRow& row : rows) {
    Value value = json_row(table, row);
    std::size_t size = to_json(value).size() + 1;
    bool is_full = is_open && (batches.back().rows.size() >= limits.rows_max ||
                               bytes + size > limits.bytes_max);
    if (!is_open || is_full) {
      batches.push_back({.table = std::string(table.name)});
      bytes = 0;
      is_open = true;
    }
    batches.back().rows.push_back(std::move(value));
    bytes += size;
  }
}

bool fits(const Value& value, GraphType type) {
  if (value.is_null()) return true;
  switch (type) {
    case GraphType::text:
      return value.as_string() != nullptr;
    case GraphType::number:
      return value.is_number();
    case GraphType::integer:
      return value.as_int().has_value();
  }
  return false;
}

bool is_row_of(const GraphTable& table, const Value& row) {
  const Value::Object* members = row.as_object();
  if (!members) return false;
  std::size_t keys = table.is_relation() ? 2 : 1;
  if (members->size() != table.properties.size() + keys) return false;
  bool has_keys = table.is_relation() ? row["source"].as_string() && row["target"].as_string()
                                      : row["key"].as_string() != nullptr;
  if (!has_keys) return false;
  for (const GraphProperty& property : table.properties) {
    const Value* value = row.find(property.name);
    if (!value || !fits(*value, property.type)) return false;
  }
  return true;
}

Error not_a_batch(const std::string& why) {
  return error(ErrorCode::invalid, "The batch of the graph is invalid: " + why + ".");
}

std::string literal(const Value& value, GraphType type) {
  if (value.is_null()) return "null";
  if (type == GraphType::number) return cypher_number(value.as_double().value_or(0));
  if (type == GraphType::integer) return std::to_string(value.as_int().value_or(0));
  return cypher_string(*value.as_string());
}

// kuzu takes a null in a list of objects for a text: numbers that are null are left out.
std::set<std::string_view> absent_members(const GraphTable& table, const Value& row) {
  std::set<std::string_view> absent;
  for (const GraphProperty& property : table.properties) {
    if (property.type != GraphType::text && row[property.name].is_null()) {
      absent.insert(property.name);
    }
  }
  return absent;
}

std::string row_literal(const GraphTable& table, const Value& row,
                        const std::set<std::string_view>& absent) {
  std::string text;
  if (table.is_relation()) {
    text = "{source: " + cypher_string(*row["source"].as_string()) +
           ", target: " + cypher_string(*row["target"].as_string());
  } else {
    text = "{key: " + cypher_string(*row["key"].as_string());
  }
  for (const GraphProperty& property : table.properties) {
    if (absent.contains(property.name)) continue;
    text += ", " + std::string(property.name) + ": " + literal(row[property.name], property.type);
  }
  return text + "}";
}

void add_statements(const CypherBatch& batch, std::string& file) {
  const GraphTable& table = *graph_table(batch.table);
  std::map<std::set<std::string_view>, std::string> lists;
  for (const Value& row : batch.rows) {
    std::set<std::string_view> absent = absent_members(table, row);
    std::string& list = lists[absent];
    list += (list.empty() ? "[\n  " : ",\n  ") + row_literal(table, row, absent);
  }
  for (const auto& [absent, list] : lists) {
    file += cypher_statement(table, list + "\n]", absent) + ";\n";
  }
}

}  // namespace

std::vector<CypherBatch> cypher_batches(const GraphRows& rows, bool with_constraints,
                                        const CypherLimits& limits) {
  std::vector<CypherBatch> batches;
  for (const GraphTable& table : graph_tables()) {
    if (!with_constraints || table.is_relation()) continue;
    batches.push_back({.table = std::string(table.name), .is_constraint = true});
  }
  for (const GraphTable& table : graph_tables()) {
    add_batches(table, rows.of(table.name), limits, batches);
  }
  return batches;
}

Result<CypherRequest> cypher_request(const CypherBatch& batch) {
  const GraphTable* table = graph_table(batch.table);
  if (!table) return not_a_batch("it has no known table");
  CypherRequest request;
  if (batch.is_constraint) {
    if (table->is_relation()) return not_a_batch("relations have no constraint");
    request.statement = cypher_declaration(*table, CypherDialect::neo4j);
    return request;
  }
  for (const Value& row : batch.rows) {
    if (!is_row_of(*table, row)) {
      return not_a_batch("a row does not fit the table " + batch.table);
    }
  }
  request.statement = cypher_statement(*table, "$rows");
  request.parameters = Value::object({{"rows", Value(batch.rows)}});
  return request;
}

Value cypher_document(const CypherBatch& batch) {
  return Value::object(
      {{"table", batch.table}, {"constraint", batch.is_constraint}, {"rows", batch.rows}});
}

Result<CypherBatch> cypher_batch_from(const Value& document) {
  const std::string* table = document["table"].as_string();
  const bool* is_constraint = document["constraint"].as_bool();
  const Value::Array* rows = document["rows"].as_array();
  if (!table || !is_constraint || !rows) return not_a_batch("a member is missing");
  return CypherBatch{*table, *rows, *is_constraint};
}

std::string cypher_file(const GraphRows& rows, CypherDialect dialect, const CypherLimits& limits) {
  std::string file = "// The graph of an analysis, written by Belay. It can be run repeatedly.\n";
  for (const GraphTable& table : graph_tables()) {
    std::string declaration = cypher_declaration(table, dialect);
    if (!declaration.empty()) file += declaration + ";\n";
  }
  for (const CypherBatch& batch : cypher_batches(rows, false, limits)) add_statements(batch, file);
  return file;
}

std::string cypher_string(std::string_view text) {
  std::string literal = "'";
  for (char c : text) {
    if (c == '\\' || c == '\'') literal += '\\';
    literal += c;
  }
  return literal + "'";
}

std::string cypher_number(double number) {
  std::array<char, 40> buffer;
  auto written = std::to_chars(buffer.data(), buffer.data() + buffer.size(), number,
                               std::chars_format::scientific, kDigitsAfterPoint);
  std::string text(buffer.data(), written.ptr);
  std::erase(text, '+');
  return text;
}

}  // namespace belay::research
