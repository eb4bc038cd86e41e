#pragma once
// agents/research/graph/cypher.h - Cypher statements that write the rows of a graph, with
// parameters or as a file.
//
// Pure functions. Every statement is idempotent: MERGE on the key of a node, or on both ends of a
// relation. The statements do not depend on their order: a relation creates the ends that do not
// exist yet, and the statement of their table adds the properties.

#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

#include "agents/research/graph/graph_rows.h"
#include "belay/value.h"

namespace belay::research {

struct CypherLimits {
  std::size_t rows_max = 500;          // of one statement
  std::size_t bytes_max = 256 * 1024;  // of their JSON text; a longer row is alone
};

// The rows of one table for one request, as data: also the body of an outbox message.
struct CypherBatch {
  std::string table;
  Value::Array rows = {};      // objects of the properties, with "key", or "source" and "target"
  bool is_constraint = false;  // declares that the keys of the table are unique; without rows
};

struct CypherRequest {
  std::string statement;
  Value parameters = Value::Object();
};

// Returns the batches in the order in which they are sent: constraints of the tables of nodes, if
// `with_constraints`, then nodes, then relations.
std::vector<CypherBatch> cypher_batches(const GraphRows& rows, bool with_constraints,
                                        const CypherLimits& limits = {});

// Returns the statement of a batch; its rows are the parameter `rows`. Fails with `invalid` for an
// unknown table, or for rows that do not have the table's members and types.
Result<CypherRequest> cypher_request(const CypherBatch& batch);

// The batch as JSON and back. Fails with `invalid` if `document` is not a batch.
Value cypher_document(const CypherBatch& batch);
Result<CypherBatch> cypher_batch_from(const Value& document);

// The engine that a file is for. Only the declarations at the beginning of the file differ:
// constraints for Neo4j (4.4 or newer), tables for kuzu (0.11).
enum class CypherDialect { neo4j, kuzu };

// Returns the declarations and the statements, each of which ends with ";" and a line feed. Equal
// rows yield equal bytes. The statements of nodes come before those of relations: kuzu creates
// relations twice if their ends are created in the same statement.
std::string cypher_file(const GraphRows& rows, CypherDialect dialect,
                        const CypherLimits& limits = {});

// Returns the text as a string literal in single quotes. Only "\" and "'" are escaped: kuzu has no
// other escape sequences, and both engines accept line feeds and control characters in literals.
// REQUIRES: a text of graph_text().
std::string cypher_string(std::string_view text);

// Returns the number with 17 significant digits and an exponent without "+", which both engines
// read as the same double: "3.9103500000000000e11". REQUIRES: finite.
std::string cypher_number(double number);

}  // namespace belay::research
