#include <gtest/gtest.h>

#include "tests/tidy/checks.h"

namespace belay::tidy {
namespace {

Findings findings_for(const std::string& file, const std::string& times = "") {
  File list{"tests/mutation/mutations.txt",
            "# What is taken away.\n\nmutation a-guard\nsays nobody asks\nfile src/a.cc\n" + times +
                "test tests/a_test Guards.SomebodyAsks\n-  if (a)\n-    b();\n+  b();\n"};
  return check_mutations(
      {{"src/a.cc", file}, {"src/a_test.cc", "TEST(Guards, SomebodyAsks)"}, list});
}

TEST(TidyMutations, StandWhereTheListSays) {
  EXPECT_TRUE(findings_for("  if (a)\n    b();\n").empty());
  Findings moved = findings_for("  if (a) b();\n");
  ASSERT_EQ(moved.size(), 1u);
  EXPECT_EQ(moved[0].line, 3);
  EXPECT_NE(moved[0].message.find("0 times in src/a.cc"), std::string::npos);
}

TEST(TidyMutations, StandAsOftenAsTheListSays) {
  std::string twice = "  if (a)\n    b();\n  if (a)\n    b();\n";
  EXPECT_EQ(findings_for(twice).size(), 1u);
  EXPECT_TRUE(findings_for(twice, "times 2\n").empty());
}

TEST(TidyMutations, NameFilesAndTestsThatThereAre) {
  File list{"tests/mutation/mutations.txt",
            "mutation a-guard\nfile src/a.cc\ntest tests/a_test Guards.SomebodyAsks\n-a\n+b\n"};
  EXPECT_EQ(check_mutations({list, {"src/a.cc", "a\n"}}).size(), 1u) << "no test";
  EXPECT_EQ(check_mutations({list, {"src/a_test.cc", "SomebodyAsks"}}).size(), 1u) << "no file";
}

}  // namespace
}  // namespace belay::tidy
