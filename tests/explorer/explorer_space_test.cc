// The whole space, which needs the optimised build.

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <iostream>

#include "tests/explorer/search.h"

namespace belay::explorer {
namespace {

using ::testing::IsEmpty;

// The numbers of states depend only on the engine and the graphs. A smaller number means that
// something is no longer tried (a call, a fault, an order), unless the calls themselves need fewer
// steps: the possible contents of the store do not depend on that.

TEST(ExplorerSpace, OneAfterAnotherHoldsThroughAnyTwoFaults) {
  SearchOptions options;
  options.faults = 2;
  SearchReport report = search(options);
  std::cout << "evidence: explorer: " << report.text();
  EXPECT_THAT(report.wrong, IsEmpty());
  EXPECT_GE(report.states, 700'000u);
  EXPECT_GE(report.contents, 16'000u);
}

TEST(ExplorerSpace, SideBySideHoldsThroughAnyFault) {
  SearchOptions options;
  options.shape = Shape::wide;
  options.faults = 1;
  SearchReport report = search(options);
  std::cout << "evidence: explorer: " << report.text();
  EXPECT_THAT(report.wrong, IsEmpty());
  EXPECT_GE(report.states, 220'000u);
  EXPECT_GE(report.contents, 9'000u);
}

TEST(ExplorerSpace, TwoRunsOfAThreadHoldThroughAnyFault) {
  SearchOptions options;
  options.shape = Shape::talk;
  options.faults = 1;
  SearchReport report = search(options);
  std::cout << "evidence: explorer: " << report.text();
  EXPECT_THAT(report.wrong, IsEmpty()) << report.text();
  EXPECT_GE(report.states, 10'000u);
}

TEST(ExplorerSpace, WhyIsTrueThroughAnyFault) {
  SearchOptions options;
  options.faults = 1;
  options.why = why;
  SearchReport report = search(options);
  EXPECT_THAT(report.wrong, IsEmpty()) << report.text();
  EXPECT_EQ(report.causes.count(WaitCause::lease), 1u);
}

// Every commit that increases the epoch also takes a seq. The check of the seq therefore fences
// everything that the check of the epoch would, which is a second line of defence here. The
// conformance suite tests the epoch's check alone.
TEST(ExplorerSpace, TheSeqFencesWhatTheEpochWould) {
  SearchOptions options;
  options.broken = Broken::epoch;
  options.faults = 1;
  SearchReport report = search(options);
  EXPECT_THAT(report.wrong, IsEmpty()) << report.text();
  EXPECT_GE(report.states, 45'000u);
}

}  // namespace
}  // namespace belay::explorer
