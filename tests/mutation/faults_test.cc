// The faults that scripts/check-mutations --random puts into the code; the list of equivalent
// faults must quote existing lines.

#include "tests/mutation/faults.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <map>
#include <set>

namespace belay::mutation {
namespace {

using ::testing::Contains;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::IsSupersetOf;
using ::testing::Not;
using ::testing::UnorderedElementsAre;

// Returns "kind: changed line" of each fault.
std::vector<std::string> faults(const std::string& line, const std::string& before = ";") {
  std::vector<std::string> all;
  for (const Fault& fault : faults_of_line(line, code_lines(line).at(0), before)) {
    all.push_back(fault.kind + ": " + fault.after);
    EXPECT_EQ(fault.before, line);
  }
  return all;
}

TEST(RandomFaults, TurnAConditionRoundAndSkipAGuard) {
  EXPECT_THAT(faults("if (rows.empty()) return found;"),
              UnorderedElementsAre("negate if: if (!(rows.empty())) return found;",
                                   "skip guard: if (false && (rows.empty())) return found;",
                                   "constant returned: if (rows.empty()) return {};"));
}

TEST(RandomFaults, KnowWhereAConditionEndsAndLeaveDeclarationsAlone) {
  EXPECT_THAT(faults("if (auto row = find(id); row) {"),
              Contains("negate if: if (auto row = find(id); !(row)) {"));
  EXPECT_THAT(faults("if (const Row* row = find(id)) {"), IsEmpty());
  EXPECT_THAT(faults("if (left(a, (b)) && c) {"),
              Contains("negate if: if (!(left(a, (b)) && c)) {"));
  EXPECT_THAT(faults("if (left &&"), Not(Contains(HasSubstr("negate"))));
}

TEST(RandomFaults, MoveBoundariesAndSigns) {
  EXPECT_THAT(faults("while (at <= size) {"), ElementsAre("relation: while (at < size) {"));
  EXPECT_THAT(faults("while (a == b) {"), ElementsAre("relation: while (a != b) {"));
  EXPECT_THAT(faults("left -= b + c;", ";"),
              IsSupersetOf({"plus and minus: left += b + c;", "plus and minus: left -= b - c;"}));
  EXPECT_THAT(faults("++count;"), ElementsAre("plus and minus: --count;", "delete: {}"));
  EXPECT_THAT(faults("std::vector<int> a(b);"), IsEmpty()) << "no brackets of a type";
  EXPECT_THAT(faults("x = \"a\" + y;"), ElementsAre("delete: {}")) << "texts have no difference";
}

TEST(RandomFaults, ExchangeAndWithOrAndNumbersWithTheirNeighbours) {
  EXPECT_THAT(faults("bool a = b && c;"), ElementsAre("and, or: bool a = b || c;"));
  EXPECT_THAT(faults("take(T&& item);"), Not(Contains(HasSubstr("and, or"))));
  EXPECT_THAT(faults("int a = b7 + 10;"),
              IsSupersetOf({"off by one: int a = b7 + 11;", "off by one: int a = b7 + 9;"}));
  EXPECT_THAT(faults("int a = 1'000;"), IsEmpty());
  EXPECT_THAT(faults("double a = 0.5;"), IsEmpty());
}

TEST(RandomFaults, ReturnSomethingElse) {
  EXPECT_THAT(faults("return true;"), ElementsAre("constant returned: return false;"));
  EXPECT_THAT(faults("co_return false;"), ElementsAre("constant returned: co_return true;"));
  EXPECT_THAT(faults("return a.b();"), ElementsAre("constant returned: return {};"));
  EXPECT_THAT(faults("return;"), IsEmpty());
}

TEST(RandomFaults, DeleteStatementsAndNothingElse) {
  EXPECT_THAT(faults("  row.epoch = epoch;"), ElementsAre("delete:   {}"));
  EXPECT_THAT(faults("  call->reset();"), ElementsAre("delete:   {}"));
  EXPECT_THAT(faults("  Row row = other;"), IsEmpty()) << "a declaration";
  EXPECT_THAT(faults("  std::move(row));", "  push("), IsEmpty()) << "the end of a statement";
  EXPECT_THAT(faults("  value(of);", "auto a ="), IsEmpty()) << "another's";
  EXPECT_THAT(faults("  return;"), IsEmpty());
}

TEST(RandomFaults, SwapPlainArguments) {
  EXPECT_THAT(faults("x = copy(from, to.end, 7);"),
              Contains("swap arguments: x = copy(to.end, from, 7);"));
  EXPECT_THAT(faults("void copy(int from, int to) {"), IsEmpty()) << "a declaration";
}

TEST(RandomFaults, AreOfCodeAlone) {
  EXPECT_THAT(faults("// if (a) return b;"), IsEmpty());
  EXPECT_THAT(faults("#define A 7"), IsEmpty());
  auto lines = code_lines("a = \"b == c\"; // d == e\nR\"(1 == 2\n3)\" + '\\'' /* 4\n5 */ + 6;");
  EXPECT_THAT(lines, Not(Contains(HasSubstr("=="))));
  EXPECT_THAT(lines.at(3), HasSubstr("+ 6"));
  EXPECT_EQ(lines.size(), 4u);
}

TEST(RandomFaults, AreTheSameForTheSameSeedAndDistinct) {
  std::string text;
  for (int i = 0; i < 50; ++i) text += "  if (a < b) return c;\n";
  std::vector<Source> sources = {
      {"src/engine/a.cc", text}, {"src/cli/b.cc", text}, {"src/cli/b_test.cc", text}};
  auto places = [&](std::uint64_t seed) {
    std::vector<std::string> all;
    for (const Fault& fault : draw_faults(sources, seed, 60)) {
      EXPECT_FALSE(fault.file.ends_with("_test.cc"));
      all.push_back(fault.file + ":" + std::to_string(fault.line) + " " + fault.kind);
    }
    return all;
  };
  EXPECT_EQ(places(1), places(1));
  EXPECT_NE(places(1), places(2));
  std::set<std::string> lines;
  std::map<std::string, int> files;
  for (const Fault& fault : draw_faults(sources, 3, 30)) {
    lines.insert(fault.file + std::to_string(fault.line));
    ++files[fault.file];
  }
  EXPECT_EQ(lines.size(), 30u) << "a line once";
  EXPECT_GT(files["src/engine/a.cc"], files["src/cli/b.cc"]) << "the engine twice as often";
  EXPECT_EQ(draw_faults(sources, 1, 1'000).size(), 100u) << "no more than there are";
}

TEST(RandomFaults, StayTheSameWhereOtherLinesChange) {
  std::string text;
  for (int i = 0; i < 100; ++i) text += "  if (a < " + std::to_string(i) + ") return c;\n";
  auto ids = [](const std::string& of) {
    std::set<std::uint64_t> all;
    for (const Fault& fault : draw_faults({{"src/cli/a.cc", of}}, 5, 20)) all.insert(fault.id);
    return all;
  };
  std::set<std::uint64_t> before = ids(text);
  EXPECT_EQ(before.size(), 20u);
  EXPECT_EQ(ids("  int more = 0;\n" + text), before) << "further down";
  std::set<std::uint64_t> after = ids("  if (z) return 7;\n" + text);
  std::vector<std::uint64_t> same;
  std::set_intersection(before.begin(), before.end(), after.begin(), after.end(),
                        std::back_inserter(same));
  EXPECT_GE(same.size(), 19u) << "one line more draws at most one fault out";
  std::string twice = "  if (a < b) return c;\n";
  EXPECT_EQ(ids(twice + twice).size(), 2u) << "equal lines are two";
}

std::string text_of(const std::filesystem::path& path) {
  std::ifstream in(path, std::ios::binary);
  return std::string(std::istreambuf_iterator<char>(in), {});
}

TEST(EquivalentFaults, AreKnownByTheirTextWhereverTheyStand) {
  std::string trouble;
  auto known = equivalents_in("file a.cc\nbecause b\n-x = 1;\n+x = 2;\n", trouble);
  EXPECT_EQ(trouble, "");
  Fault fault{"a.cc", 7, "off by one", "    x = 1;", "    x = 2;"};
  EXPECT_NE(equivalent_of(fault, known), nullptr);
  fault.after = "    x = 0;";
  EXPECT_EQ(equivalent_of(fault, known), nullptr);
  equivalents_in("because b\nfile a.cc\n-x = 1;\n", trouble);
  EXPECT_THAT(trouble, HasSubstr("line 1"));
  EXPECT_THAT(trouble, HasSubstr("a.cc: it needs a reason"));
}

TEST(EquivalentFaults, AreOfLinesThatAreThere) {
  std::filesystem::path tree = BELAY_SOURCE_DIR;
  std::string trouble;
  auto known = equivalents_in(text_of(tree / "tests/mutation/equivalent_faults.txt"), trouble);
  EXPECT_EQ(trouble, "");
  for (const Equivalent& each : known) {
    EXPECT_TRUE(is_judged(each.file)) << each.file;
    EXPECT_NE(text_of(tree / each.file).find(each.before), std::string::npos)
        << each.file << ": the line \"" << each.before
        << "\" has gone; let the list follow, or take it out";
  }
}

}  // namespace
}  // namespace belay::mutation
