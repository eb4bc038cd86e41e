#include "agents/research/graph/cypher.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <charconv>
#include <cmath>
#include <cstring>
#include <limits>
#include <random>

#include "agents/research/graph/cypher_statements.h"
#include "agents/research/graph/graph_fixture.h"
#include "agents/research/graph/graph_text.h"

namespace belay::research {
namespace {

using ::testing::Each;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::Not;
using ::testing::StartsWith;

GraphRows sample_rows() { return graph_rows(sample_results(), sample_subject()); }

// Reads a literal as a Cypher engine does; nullopt if it ends before the text does.
std::optional<std::string> read_literal(std::string_view literal) {
  if (!literal.starts_with('\'')) return std::nullopt;
  std::string text;
  for (std::size_t i = 1; i < literal.size(); ++i) {
    if (literal[i] == '\'') {
      if (i + 1 == literal.size()) return text;
      return std::nullopt;
    }
    if (literal[i] == '\\') {
      if (++i >= literal.size() || (literal[i] != '\\' && literal[i] != '\'')) return std::nullopt;
    }
    text += literal[i];
  }
  return std::nullopt;
}

TEST(CypherString, EscapesQuotesAndBackslashesOnly) {
  EXPECT_EQ(cypher_string(""), "''");
  EXPECT_EQ(cypher_string("plain"), "'plain'");
  EXPECT_EQ(cypher_string("it's"), "'it\\'s'");
  EXPECT_EQ(cypher_string("a\\b"), "'a\\\\b'");
  EXPECT_EQ(cypher_string("\\"), "'\\\\'");
  EXPECT_EQ(cypher_string("\\'"), "'\\\\\\''");
  EXPECT_EQ(cypher_string("\"$x\" `y` {z}; //"), "'\"$x\" `y` {z}; //'");
  EXPECT_EQ(cypher_string("a\nb\r\tc"), "'a\nb\r\tc'");
  EXPECT_EQ(cypher_string("\\u0041 \\n"), "'\\\\u0041 \\\\n'");
  EXPECT_EQ(cypher_string("\xC3\xA9\xF0\x9F\x98\x80"), "'\xC3\xA9\xF0\x9F\x98\x80'");
}

TEST(CypherString, ReadsBackAsTheSameText) {
  EXPECT_EQ(read_literal(cypher_string(awkward_quote())), awkward_quote());
  std::mt19937 random(3);
  const std::string_view hard = "'\\\"\n\r\tunx`${};/* ";
  for (int i = 0; i < 5000; ++i) {
    std::string text;
    for (std::size_t n = random() % 12; n > 0; --n) text += hard[random() % hard.size()];
    EXPECT_EQ(read_literal(cypher_string(text)), text);
  }
}

double read_number(const std::string& text) {
  double number = 0;
  auto [end, fault] = std::from_chars(text.data(), text.data() + text.size(), number);
  EXPECT_TRUE(fault == std::errc() && end == text.data() + text.size()) << text;
  return number;
}

TEST(CypherNumber, HasSeventeenDigitsAndNoPlus) {
  EXPECT_EQ(cypher_number(391035000000), "3.9103500000000000e11");
  EXPECT_EQ(cypher_number(0.4690516410716045), "4.6905164107160452e-01");
  EXPECT_EQ(cypher_number(-1), "-1.0000000000000000e00");
  EXPECT_EQ(cypher_number(0), "0.0000000000000000e00");
  EXPECT_EQ(cypher_number(1e300), "1.0000000000000001e300");
  EXPECT_EQ(cypher_number(std::numeric_limits<double>::max()), "1.7976931348623157e308");
}

TEST(CypherNumber, ReadsBackAsTheSameDouble) {
  std::mt19937_64 random(5);
  for (int i = 0; i < 20'000; ++i) {
    std::uint64_t bits = random();
    double number = 0;
    std::memcpy(&number, &bits, sizeof number);
    if (!std::isfinite(number)) continue;
    EXPECT_EQ(read_number(cypher_number(number)), number);
  }
  EXPECT_EQ(read_number(cypher_number(5e-324)), 5e-324);
}

TEST(CypherStatement, MergesNodesByKey) {
  EXPECT_EQ(cypher_statement(*graph_table("Company"), "$rows"),
            "UNWIND $rows AS row\n"
            "MERGE (n:Company {key: row.key})\n"
            "SET n.cik = row.cik, n.ticker = row.ticker, n.name = row.name");
}

TEST(CypherStatement, MergesRelationsAndTheirEnds) {
  EXPECT_EQ(cypher_statement(*graph_table("USES"), "$rows"),
            "UNWIND $rows AS row\n"
            "MERGE (a:Metric {key: row.source})\n"
            "MERGE (b:Filing {key: row.target})\n"
            "MERGE (a)-[n:USES]->(b)\n"
            "SET n.facts = row.facts");
  EXPECT_THAT(cypher_statement(*graph_table("FILED"), "$rows"), Not(HasSubstr("SET")));
}

TEST(CypherBatches, ContainEachRowOnceNodesFirst) {
  GraphRows rows = sample_rows();
  CypherLimits limits;
  limits.rows_max = 3;
  std::map<std::string, Value::Array> found;
  bool has_relations = false;
  for (const CypherBatch& batch : cypher_batches(rows, false, limits)) {
    EXPECT_FALSE(batch.is_constraint);
    EXPECT_GE(batch.rows.size(), 1u);
    EXPECT_LE(batch.rows.size(), 3u);
    bool is_relation = graph_table(batch.table)->is_relation();
    EXPECT_TRUE(is_relation || !has_relations) << batch.table << " after a relation";
    has_relations = has_relations || is_relation;
    Value::Array& all = found[batch.table];
    all.insert(all.end(), batch.rows.begin(), batch.rows.end());
  }
  for (const GraphTable& table : graph_tables()) {
    const Value::Array& all = found[std::string(table.name)];
    ASSERT_EQ(all.size(), rows.of(table.name).size()) << table.name;
    for (std::size_t i = 0; i < all.size(); ++i) {
      const GraphRow& row = rows.of(table.name)[i];
      const char* member = table.is_relation() ? "source" : "key";
      EXPECT_EQ(all[i][member], Value(table.is_relation() ? row.source : row.key));
    }
  }
}

TEST(CypherBatches, AreBoundedByTheirBytes) {
  GraphRows rows = sample_rows();
  CypherLimits limits;
  limits.bytes_max = 600;
  for (const CypherBatch& batch : cypher_batches(rows, false, limits)) {
    std::size_t bytes = 0;
    for (const Value& row : batch.rows) bytes += to_json(row).size() + 1;
    EXPECT_TRUE(bytes <= 600 || batch.rows.size() == 1) << batch.table << " " << bytes;
  }
  limits.bytes_max = 1;
  for (const CypherBatch& batch : cypher_batches(rows, false, limits)) {
    EXPECT_EQ(batch.rows.size(), 1u);
  }
}

TEST(CypherBatches, BeginWithTheConstraintsOfNodes) {
  std::vector<std::string> statements;
  for (const CypherBatch& batch : cypher_batches({}, true)) {
    EXPECT_TRUE(batch.is_constraint);
    CypherRequest request = cypher_request(batch).value();
    EXPECT_EQ(request.parameters, Value(Value::Object()));
    statements.push_back(request.statement);
  }
  EXPECT_EQ(statements.size(), 7u);
  EXPECT_THAT(statements, Each(StartsWith("CREATE CONSTRAINT belay_")));
  EXPECT_EQ(statements.at(0),
            "CREATE CONSTRAINT belay_Company_key IF NOT EXISTS FOR (n:Company) REQUIRE n.key IS "
            "UNIQUE");
}

TEST(CypherRequest, PassesValuesAsParametersOnly) {
  for (const CypherBatch& batch : cypher_batches(sample_rows(), false)) {
    CypherRequest request = cypher_request(batch).value();
    EXPECT_EQ(request.statement, cypher_statement(*graph_table(batch.table), "$rows"));
    EXPECT_EQ(request.parameters["rows"], Value(batch.rows));
  }
}

TEST(CypherRequest, KeepsNumbersExact) {
  for (const CypherBatch& batch : cypher_batches(sample_rows(), false)) {
    if (batch.table != "Metric") continue;
    Value back = parse_json(to_json(cypher_request(batch).value().parameters)).value();
    EXPECT_EQ(back["rows"], Value(batch.rows));
    std::string json = to_json(batch.rows);
    EXPECT_THAT(json, HasSubstr("\"value\":9.0678e+10"));
    EXPECT_THAT(json, HasSubstr("\"value\":0.4690516410716045"));
    EXPECT_THAT(json, HasSubstr("\"value\":null"));
  }
}

CypherBatch batch_with(Value row) { return {.table = "Metric", .rows = {std::move(row)}}; }

TEST(CypherRequest, OfAnInvalidBatchIsRefused) {
  EXPECT_EQ(cypher_request({.table = "Person"}).error().code, ErrorCode::invalid);
  EXPECT_EQ(cypher_request({.table = ""}).error().code, ErrorCode::invalid);
  EXPECT_FALSE(cypher_request({.table = "USES", .rows = {}, .is_constraint = true}).ok());
  EXPECT_FALSE(cypher_request(batch_with(Value())).ok());
  EXPECT_FALSE(cypher_request(batch_with(Value("text"))).ok());
  Value valid;
  for (const CypherBatch& batch : cypher_batches(sample_rows(), false)) {
    if (batch.table == "Metric") valid = batch.rows[0];
  }
  EXPECT_TRUE(cypher_request(batch_with(valid)).ok());
  for (const char* member : {"key", "value", "unit"}) {
    Value changed = valid;
    changed.as_object()->erase(member);
    EXPECT_FALSE(cypher_request(batch_with(changed)).ok()) << member;
  }
  for (const auto& [member, value] : std::map<std::string, Value>{
           {"value", Value("1")}, {"unit", Value(1)}, {"key", Value()}, {"another", Value(1)}}) {
    Value changed = valid;
    changed.as_object()->insert_or_assign(member, value);
    EXPECT_FALSE(cypher_request(batch_with(changed)).ok()) << member;
  }
}

TEST(CypherDocument, ReadsBackAsTheSameBatch) {
  for (const CypherBatch& batch : cypher_batches(sample_rows(), true)) {
    Value stored = parse_json(to_json(cypher_document(batch))).value();
    CypherBatch back = cypher_batch_from(stored).value();
    EXPECT_EQ(back.table, batch.table);
    EXPECT_EQ(back.is_constraint, batch.is_constraint);
    EXPECT_EQ(Value(back.rows), Value(batch.rows));
  }
  for (const char* text : {"null", "[]", "{}", R"({"table":1,"rows":[],"constraint":false})",
                           R"({"table":"Metric","rows":{},"constraint":false})"}) {
    EXPECT_FALSE(cypher_batch_from(parse_json(text).value()).ok()) << text;
  }
}

// The statements of a file, divided at each ";" outside of a literal.
std::vector<std::string> statements_in(const std::string& file) {
  std::vector<std::string> statements(1);
  bool is_literal = false;
  for (std::size_t i = 0; i < file.size(); ++i) {
    char c = file[i];
    if (is_literal && c == '\\') statements.back() += file[i++];
    if (c == '\'' && file[i] == c) is_literal = !is_literal;
    if (c == ';' && !is_literal) {
      statements.emplace_back();
    } else {
      statements.back() += file[i];
    }
  }
  return statements;
}

TEST(CypherFile, HasTheSameStatementsForBothEngines) {
  auto kuzu = statements_in(cypher_file(sample_rows(), CypherDialect::kuzu));
  auto neo4j = statements_in(cypher_file(sample_rows(), CypherDialect::neo4j));
  auto merges = [](const std::vector<std::string>& all) {
    std::vector<std::string> found;
    for (const std::string& one : all) {
      if (one.find("MERGE") != one.npos) found.push_back(one);
    }
    return found;
  };
  EXPECT_EQ(merges(kuzu), merges(neo4j));
  EXPECT_GE(merges(kuzu).size(), 20u);
  EXPECT_THAT(kuzu.at(0), HasSubstr("CREATE NODE TABLE IF NOT EXISTS Company (key STRING, "
                                    "cik STRING, ticker STRING, name STRING, PRIMARY KEY (key))"));
  EXPECT_THAT(kuzu, ::testing::Contains("\nCREATE REL TABLE IF NOT EXISTS USES (FROM Metric TO "
                                        "Filing, facts STRING)"));
  EXPECT_THAT(neo4j.at(0), HasSubstr("CREATE CONSTRAINT belay_Company_key IF NOT EXISTS"));
  EXPECT_EQ(kuzu.size(), 22 + merges(kuzu).size() + 1);
  EXPECT_EQ(neo4j.size(), 7 + merges(neo4j).size() + 1);
  EXPECT_EQ(kuzu.back(), "\n");
}

TEST(CypherFile, HasEqualBytesForEqualRows) {
  Results reversed = sample_results();
  std::reverse(reversed.figures.begin(), reversed.figures.end());
  GraphRows again = graph_rows(reversed, sample_subject());
  for (CypherDialect dialect : {CypherDialect::kuzu, CypherDialect::neo4j}) {
    EXPECT_EQ(cypher_file(again, dialect), cypher_file(sample_rows(), dialect));
  }
}

TEST(CypherFile, SetsAbsentNumbersToNull) {
  std::string file = cypher_file(sample_rows(), CypherDialect::kuzu);
  EXPECT_THAT(file, HasSubstr("n.value = row.value"));
  EXPECT_THAT(file, HasSubstr("n.value = null"));
  EXPECT_THAT(file, HasSubstr("n.quote_offset = null"));
  EXPECT_THAT(file, Not(HasSubstr("value: null")));
  EXPECT_THAT(file, HasSubstr("value: 4.6905164107160452e-01"));
  EXPECT_THAT(file, HasSubstr("quote_offset: 184467"));
}

TEST(CypherFile, DoesNotEndALiteralWithinAQuote) {
  Results results = sample_results();
  results.findings[1].quote = "'}]; MATCH (n) DETACH DELETE n; //";
  std::string file = cypher_file(graph_rows(results, sample_subject()), CypherDialect::kuzu);
  for (const std::string& one : statements_in(file)) {
    EXPECT_THAT(one.substr(0, 30), Not(HasSubstr("MATCH"))) << one;
  }
  EXPECT_THAT(file, HasSubstr("quote: '\\'}]; MATCH (n) DETACH DELETE n; //'"));
}

TEST(CypherFile, OfNoRowsHasDeclarationsOnly) {
  EXPECT_EQ(statements_in(cypher_file({}, CypherDialect::kuzu)).size(), 23u);
  EXPECT_EQ(statements_in(cypher_file({}, CypherDialect::neo4j)).size(), 8u);
}

}  // namespace
}  // namespace belay::research
