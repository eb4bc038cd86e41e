// Prints the Cypher file of the sample analysis for kuzu, or its rows as JSON:
// write_graph cypher|rows [ROWS-PER-STATEMENT [ANALYSIS]].

#include <charconv>
#include <cstdio>
#include <string>
#include <string_view>

#include "agents/research/graph/cypher.h"
#include "agents/research/graph/graph_fixture.h"

namespace {

using namespace belay;
using namespace belay::research;

// The rows of each table as objects.
std::string rows_as_json(const GraphRows& rows) {
  Value::Object tables;
  for (const CypherBatch& batch : cypher_batches(rows, false)) {
    auto [found, is_new] = tables.try_emplace(batch.table, Value::Array());
    Value::Array& all = *found->second.as_array();
    all.insert(all.end(), batch.rows.begin(), batch.rows.end());
  }
  return to_json(std::move(tables)) + "\n";
}

// The awkward texts and numbers of the fixture, and some more numbers.
Results written_results() {
  Results results = sample_results();
  const double numbers[] = {-0.1,   1e300, 5e-324, 1.7976931348623157e308, 9007199254740993.0,
                            -1e-310};
  int index = 0;
  for (double number : numbers) {
    results.figures.push_back(sample_figure("test", "numbers", "number_" + std::to_string(++index),
                                            "2025-09-27", "ratio", Quantity::of(number)));
  }
  return results;
}

}  // namespace

int main(int argc, char** argv) {
  std::string_view form = argc > 1 ? argv[1] : "";
  CypherLimits limits;
  if (argc > 2) {
    std::string_view rows = argv[2];
    std::from_chars(rows.data(), rows.data() + rows.size(), limits.rows_max);
  }
  GraphSubject subject = sample_subject();
  if (argc > 3) subject.analysis_id = argv[3];
  GraphRows rows = graph_rows(written_results(), subject);
  std::string text;
  if (form == "cypher") {
    text = cypher_file(rows, CypherDialect::kuzu, limits);
  } else if (form == "rows") {
    text = rows_as_json(rows);
  } else {
    std::fputs("Usage: write_graph cypher|rows [ROWS-PER-STATEMENT [ANALYSIS]]\n", stderr);
    return 2;
  }
  return std::fwrite(text.data(), 1, text.size(), stdout) == text.size() ? 0 : 1;
}
