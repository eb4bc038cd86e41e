#include <gtest/gtest.h>
#include <unistd.h>

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <iostream>

#include "tests/tidy/checks.h"
#include "tests/tidy/prose_rules.h"

namespace belay::tidy {
namespace {

TEST(TidyTree, ThisRepositoryObeysItsRules) {
  Tree tree = read_tree(BELAY_SOURCE_DIR);
  ASSERT_GT(tree.size(), 10u) << "found too few files in " BELAY_SOURCE_DIR;
  std::string faults;
  for (const Finding& finding : check_tree(tree)) {
    faults += finding.path + ":" + std::to_string(finding.line) + ": " + finding.message + "\n";
  }
  EXPECT_TRUE(faults.empty()) << "\n" << faults;
  std::string lower = lower_counts(count_hits(find_hits(tree)), recorded_counts(tree));
  if (lower.empty()) return;
  std::cout << lower << "Record these lower counts: scripts/prose --counts\n";
}

TEST(TidyTree, FindsAFaultWithoutGit) {
  std::filesystem::path root =
      std::filesystem::path(testing::TempDir()) / ("belay-tidy-" + std::to_string(getpid()));
  std::filesystem::create_directories(root / "src/base");
  std::filesystem::create_directories(root / "build");
  std::ofstream(root / "src/base/a.cc") << "int a = rand();\n";
  std::ofstream(root / "build/b.cc") << "int b = rand();\n";
  Tree tree = read_tree(root);
  std::filesystem::remove_all(root);
  ASSERT_EQ(tree.size(), 1u);
  EXPECT_EQ(tree[0].path, "src/base/a.cc");
  Findings findings = check_tree(tree);
  EXPECT_TRUE(std::any_of(findings.begin(), findings.end(), [](const Finding& finding) {
    return finding.message.starts_with("not rand(");
  }));
}

}  // namespace
}  // namespace belay::tidy
