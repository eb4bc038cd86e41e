#include "agents/research/checkpoints/semantic_version.h"

#include <gtest/gtest.h>

namespace belay::research {
namespace {

TEST(SemanticVersionText, IsReadWithTwoOrThreeNumbers) {
  EXPECT_EQ(semantic_version_from("1.1"), (SemanticVersion{1, 1, 0}));
  EXPECT_EQ(semantic_version_from("v1.0"), (SemanticVersion{1, 0, 0}));
  EXPECT_EQ(semantic_version_from("10.20.30"), (SemanticVersion{10, 20, 30}));
  EXPECT_EQ(semantic_version_from("4294967295.0"), (SemanticVersion{4294967295u, 0, 0}));
}

TEST(SemanticVersionText, OfAnyOtherFormIsRefused) {
  for (const char* text : {"",
                           "v",
                           "1",
                           "1.",
                           ".1",
                           "1..1",
                           "1.2.3.4",
                           "1.2.",
                           "01.0",
                           "1.00",
                           "-1.0",
                           "+1.0",
                           " 1.0",
                           "1.0 ",
                           "vv1.0",
                           "1.0-rc.1",
                           "1.x",
                           "4294967296.0",
                           "1.0.00000000000000000",
                           "V1.0"}) {
    EXPECT_FALSE(semantic_version_from(text)) << text;
  }
}

TEST(SemanticVersionText, IsReadBackAsTheSameVersion) {
  SemanticVersion version{3, 0, 12};
  EXPECT_EQ(version_text(version), "3.0.12");
  EXPECT_EQ(semantic_version_from(version_text(version)), version);
}

TEST(SemanticVersionOrder, IsThatOfTheNumbersAndNotOfTheTexts) {
  EXPECT_LT((SemanticVersion{1, 9, 0}), (SemanticVersion{1, 10, 0}));
  EXPECT_LT((SemanticVersion{1, 10, 7}), (SemanticVersion{2, 0, 0}));
  EXPECT_LT((SemanticVersion{1, 1, 0}), (SemanticVersion{1, 1, 1}));
  EXPECT_EQ(format_of({1, 1, 1}), format_of({1, 1, 0}));
  EXPECT_NE(format_of({1, 1, 1}), format_of({1, 2, 1}));
}

}  // namespace
}  // namespace belay::research
