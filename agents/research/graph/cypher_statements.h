#pragma once
// agents/research/graph/cypher_statements.h - the texts of the statements for the tables.

#include <set>
#include <string>
#include <string_view>

#include "agents/research/graph/cypher.h"

namespace belay::research {

// Returns "UNWIND <rows> AS row MERGE ...". `rows` is "$rows" or a list literal. The members
// `absent` are not in the rows; their properties become null.
std::string cypher_statement(const GraphTable& table, std::string_view rows,
                             const std::set<std::string_view>& absent = {});

// Returns the declaration of a table for a dialect; empty if it needs none.
std::string cypher_declaration(const GraphTable& table, CypherDialect dialect);

}  // namespace belay::research
