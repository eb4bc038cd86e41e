#include "tests/tidy/prose_measures.h"

#include <gtest/gtest.h>

#include <algorithm>

namespace belay::tidy {
namespace {

// Counted by hand: 20 words of comments, 8 of documents.
const Tree kFixture = {
    {"db/log.h",
     "#pragma once\n"
     "#include <string>\n"
     "#include <vector>\n"
     "\n"
     "// Returns the current record if it is valid.\n"  // 8 words
     "// What a record holds.\n"                        // 4
     "int read();  // returned when empty\n"},          // 3
    {"db/log.cc",
     "// Retry: the lease says no.\n"  // 5
     "int read() {\n"
     "  return 1;\n"
     "}\n"
     "\n"
     "int write() { return 2; }\n"},
    {"db/log_test.cc", "int main() {}\n"},
    {"README.md", "What is it? A store returns at once.\n"},
};

Measures measured() { return measure("db", kFixture, PhraseFinder("(says|said) => states\n")); }

// The cells of the line of the table that starts with `label`.
std::string cells(const std::string& label) {
  std::string table = to_table({measured()});
  std::size_t at = table.find("\n" + label + "  ");
  if (at == table.npos) return "no such row";
  std::string line = table.substr(at + 1 + label.size());
  line.resize(line.find('\n'));
  std::string text;
  for (char c : line) {
    if (c != ' ' || (!text.empty() && text.back() != ' ')) text += c;
  }
  return text;
}

TEST(ProseMeasures, RatesAreThoseOfAHandCount) {
  EXPECT_EQ(measured().comments.words, 20);
  EXPECT_EQ(cells("words"), "20 8");
  EXPECT_EQ(cells("say, tell (all forms)"), "50.00 0.00 <= 0.3");
  EXPECT_EQ(cells("sentence begins with What"), "50.00 0.00 <= 0.3");
  EXPECT_EQ(cells("return(s, ed, ing)"), "100.00 125.00 >= 5");
  EXPECT_EQ(cells("if, when"), "100.00 0.00 >= 10");
  EXPECT_EQ(cells("current(ly)"), "50.00 0.00");
  EXPECT_EQ(cells("retry (all forms)"), "50.00 0.00");
  EXPECT_EQ(cells("lease(s)"), "50.00 0.00");
  EXPECT_EQ(cells("cache (all forms)"), "0.00 0.00");
}

TEST(ProseMeasures, LayoutIsThatOfAHandCount) {
  EXPECT_EQ(cells("files"), "2");
  EXPECT_EQ(cells("lines"), "13");
  EXPECT_EQ(cells("lines of tests"), "1");
  EXPECT_EQ(cells("file lines: median/p90/p99/max"), "6/6/6/7");
  EXPECT_EQ(cells("function lines: median/p90/p99/max"), "1/1/1/3");
  EXPECT_EQ(cells("includes per header: median/p90/p99/max"), "2/2/2/2");
  EXPECT_EQ(cells("comment share of sources, %"), "20.0");  // 1 of 5
  EXPECT_EQ(cells("comment share of headers, %"), "33.3");  // 2 of 6
  EXPECT_EQ(cells("listed phrases in comments"), "2");
  EXPECT_EQ(cells("listed phrases in string literals"), "0");
}

TEST(ProseMeasures, QuantilesAreValuesOfTheList) {
  EXPECT_EQ(quantile({}, 0.5), 0);
  EXPECT_EQ(quantile({3}, 0.99), 3);
  EXPECT_EQ(quantile({1, 2, 3, 4, 5}, 0.5), 3);
  EXPECT_EQ(quantile({1, 2, 3, 4, 5}, 1.0), 5);
}

TEST(ProseMeasures, AnEmptyTreeHasATable) {
  Measures none = measure("none", {}, PhraseFinder(""));
  EXPECT_NE(to_table({none, none}).find("words"), std::string::npos);
}

}  // namespace
}  // namespace belay::tidy
