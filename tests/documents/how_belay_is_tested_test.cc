// docs/how-belay-is-tested.md must be correct: the tests that it names exist, it contains every
// case of the specification, and its rules are those of the code.

#include <gtest/gtest.h>

#include <algorithm>
#include <filesystem>
#include <map>
#include <set>
#include <sstream>
#include <string>

#include "belay/check.h"
#include "tests/documents/source_text.h"
#include "tests/documents/specification_cases.h"

namespace belay::documents {
namespace {

namespace fs = std::filesystem;

const std::string& document() {
  static const std::string text = text_of("docs/how-belay-is-tested.md");
  return text;
}

std::string trimmed(std::string_view text) {
  std::size_t first = text.find_first_not_of(" \n\t");
  if (first == text.npos) return "";
  return std::string(text.substr(first, text.find_last_not_of(" \n\t") - first + 1));
}

struct TableRow {
  std::string first;
  std::string second;
};

// Returns the rows of all tables with two columns.
std::vector<TableRow> rows_in(const std::string& text) {
  std::vector<TableRow> rows;
  std::istringstream lines(text);
  for (std::string line; std::getline(lines, line);) {
    if (!line.starts_with("| ") || std::count(line.begin(), line.end(), '|') != 3) continue;
    std::size_t middle = line.find('|', 1);
    rows.push_back({trimmed(std::string_view(line).substr(1, middle - 1)),
                    trimmed(std::string_view(line).substr(middle + 1, line.size() - middle - 2))});
  }
  return rows;
}

// Adds "Suite.Name" of every test that an invocation of the macro declares.
void add_tests(const std::string& source, std::string_view macro, std::set<std::string>& tests) {
  std::string call = std::string(macro) + "(";
  for (std::size_t at = source.find(call); at != source.npos; at = source.find(call, at + 1)) {
    bool begins_line = at == 0 || source[at - 1] == '\n';
    std::size_t comma = source.find(',', at);
    std::size_t last = source.find_first_of(",)", comma + 1);
    if (!begins_line || comma == source.npos || last == source.npos) continue;
    std::size_t suite = at + call.size();
    tests.insert(trimmed(std::string_view(source).substr(suite, comma - suite)) + "." +
                 trimmed(std::string_view(source).substr(comma + 1, last - comma - 1)));
  }
}

const std::set<std::string>& known_tests() {
  static const std::set<std::string> known = [] {
    std::set<std::string> tests;
    for (const char* folder : {"src", "agents", "tests"}) {
      for (const auto& entry :
           fs::recursive_directory_iterator(fs::path(BELAY_SOURCE_DIR) / folder)) {
        if (entry.path().extension() != ".cc") continue;
        std::string source = text_of(entry.path());
        for (const char* macro : {"TEST", "TEST_F", "TEST_P", "RC_GTEST_PROP"}) {
          add_tests(source, macro, tests);
        }
      }
    }
    return tests;
  }();
  return known;
}

// Returns the texts between single backticks.
std::vector<std::string> quoted_in(const std::string& text) {
  std::vector<std::string> quoted;
  for (std::size_t at = text.find('`'); at != text.npos; at = text.find('`', at + 1)) {
    std::size_t last = text.find('`', at + 1);
    if (last == text.npos) break;
    quoted.push_back(text.substr(at + 1, last - at - 1));
    at = last;
  }
  return quoted;
}

// Returns the cases of the table with their tests.
std::map<std::string, std::vector<std::string>> cases_in(const std::string& text) {
  std::map<std::string, std::vector<std::string>> cases;
  std::size_t begin = text.find("\n## The cases of the specification");
  if (begin == text.npos) return cases;
  for (const TableRow& row : rows_in(text.substr(begin))) {
    if (row.first == "Case" || row.first.starts_with("---")) continue;
    cases[row.first] = quoted_in(row.second);
  }
  return cases;
}

TEST(HowBelayIsTested, EveryCaseOfTheSpecificationIsInTheTable) {
  auto cases = cases_in(document());
  for (std::string_view each : specification_cases()) {
    EXPECT_TRUE(cases.contains(std::string(each))) << each;
  }
  EXPECT_EQ(cases.size(), specification_cases().size()) << "a case that the specification lacks?";
}

TEST(HowBelayIsTested, EveryTestInTheTableExists) {
  for (const auto& [name, tests] : cases_in(document())) {
    EXPECT_FALSE(tests.empty()) << name << " has no test";
    for (const std::string& test : tests) {
      EXPECT_TRUE(known_tests().contains(test)) << test << ", named for: " << name;
    }
  }
}

TEST(HowBelayIsTested, TheRulesAreThoseOfTheCode) {
  std::map<std::string, std::string> told;
  for (const TableRow& row : rows_in(document())) told[row.first] = row.second;
  for (const CheckRule& rule : check_rules()) {
    EXPECT_EQ(told[std::string(rule.id)], rule.sentence) << rule.id;
  }
}

// Returns the text after `word`, if the line of the list starts with it.
std::string said(const std::string& line, std::string_view word) {
  return line.starts_with(word) ? line.substr(word.size()) : "";
}

TEST(HowBelayIsTested, EveryMutationIsInTheTableWithTheTestThatCatchesIt) {
  std::istringstream list(text_of("tests/mutation/mutations.txt"));
  std::size_t mutations = 0;
  std::string name;
  std::string says;
  for (std::string line; std::getline(list, line);) {
    if (line.starts_with("mutation ")) name = said(line, "mutation ");
    if (line.starts_with("says ")) says = said(line, "says ");
    if (!line.starts_with("test ")) continue;
    ++mutations;
    std::string test = line.substr(line.rfind(' ') + 1);
    // For a suite of several stores, the list names the instance that is mutated.
    test.erase(std::min(test.find('/'), test.size()));
    std::string row = "| `" + name + "` | " + says + " | `" + test + "` |\n";
    EXPECT_TRUE(document().find(row) != std::string::npos) << "missing: " << row;
    EXPECT_TRUE(known_tests().contains(test)) << test << ", named for: " << name;
  }
  EXPECT_GT(mutations, 15u);
}

TEST(HowBelayIsTested, ItsTestReadsTablesAndSources) {
  EXPECT_EQ(cases_in("\n## The cases of the specification\n| A case | `A.B`, `C.D` |\n")["A case"],
            (std::vector<std::string>{"A.B", "C.D"}));
  std::set<std::string> tests;
  add_tests("\nTEST_F(Some,\n       Thing) {\n  TEST_F(no, test)\n", "TEST_F", tests);
  EXPECT_EQ(tests, std::set<std::string>{"Some.Thing"});
  EXPECT_TRUE(known_tests().contains("HowBelayIsTested.ItsTestReadsTablesAndSources"));
  EXPECT_FALSE(known_tests().contains("HowBelayIsTested.ThisDoesNotExist"));
}

}  // namespace
}  // namespace belay::documents
