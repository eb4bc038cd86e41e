#include "agents/research/finance/regression.h"

#include <gtest/gtest.h>

#include <cmath>
#include <limits>
#include <vector>

namespace belay::research {
namespace {

TEST(LeastSquares, FindsTheLineThroughPointsOnALine) {
  const auto line = least_squares(std::vector<double>{-1, 0, 3}, std::vector<double>{0, 2, 8});

  ASSERT_TRUE(line);
  EXPECT_DOUBLE_EQ(line->slope, 2);
  EXPECT_DOUBLE_EQ(line->intercept, 2);
  EXPECT_DOUBLE_EQ(line->r_squared, 1);
}

// Means 2 and 3; sums of squares 2, of products 1, of y 2: slope 1/2, r squared 1 / (2 * 2).
TEST(LeastSquares, ExplainsAShareOfTheVarianceOfOtherPoints) {
  const auto line = least_squares(std::vector<double>{1, 2, 3}, std::vector<double>{3, 2, 4});

  ASSERT_TRUE(line);
  EXPECT_DOUBLE_EQ(line->slope, 0.5);
  EXPECT_DOUBLE_EQ(line->intercept, 2);
  EXPECT_DOUBLE_EQ(line->r_squared, 0.25);
}

TEST(LeastSquares, KeepsTheDigitsOfASmallVarianceAroundALargeMean) {
  const auto line = least_squares(std::vector<double>{1e9 + 1, 1e9 + 2, 1e9 + 3},
                                  std::vector<double>{1e9 + 3, 1e9 + 2, 1e9 + 4});

  ASSERT_TRUE(line);
  EXPECT_DOUBLE_EQ(line->slope, 0.5);
  EXPECT_DOUBLE_EQ(line->r_squared, 0.25);
}

TEST(LeastSquares, ThereIsNoLineThroughEqualX) {
  // The mean of three times 0.1 is not exactly 0.1.
  EXPECT_FALSE(least_squares(std::vector<double>{0.1, 0.1, 0.1}, std::vector<double>{1, 2, 3}));
}

TEST(LeastSquares, ThereIsNoLineThroughOnePointOrUnequalNumbersOfPoints) {
  EXPECT_FALSE(least_squares({}, {}));
  EXPECT_FALSE(least_squares(std::vector<double>{1}, std::vector<double>{1}));
  EXPECT_FALSE(least_squares(std::vector<double>{1, 2}, std::vector<double>{1, 2, 3}));
}

TEST(LeastSquares, EqualYHaveSlopeZeroAndNoRSquared) {
  const auto line = least_squares(std::vector<double>{1, 2, 3}, std::vector<double>{0.1, 0.1, 0.1});

  ASSERT_TRUE(line);
  EXPECT_EQ(line->slope, 0);
  EXPECT_EQ(line->intercept, 0.1);
  EXPECT_TRUE(std::isnan(line->r_squared));
}

TEST(LeastSquares, NumbersThatAreTooLargeAreNotFinite) {
  const double huge = std::numeric_limits<double>::max();
  const auto line =
      least_squares(std::vector<double>{-huge, huge}, std::vector<double>{-huge, huge});

  ASSERT_TRUE(line);
  EXPECT_FALSE(std::isfinite(line->slope));
}

}  // namespace
}  // namespace belay::research
