// The search itself: it finds a disabled guard, with the moves that show the consequence.

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tests/explorer/search.h"

namespace belay::explorer {
namespace {

using ::testing::Contains;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::IsSupersetOf;

SearchReport search_with(Broken broken, int faults) {
  SearchOptions options;
  options.broken = broken;
  options.faults = faults;
  return search(options);
}

TEST(Explorer, FindsNothingWhereNothingIsBroken) {
  SearchReport report = search_with(Broken::nothing, 0);
  EXPECT_THAT(report.wrong, IsEmpty()) << report.text();
  // Two processes can each start any call at any time, until the run ends.
  EXPECT_GE(report.states, 1'500u) << report.text();
  EXPECT_GE(report.contents, 100u);
}

TEST(Explorer, FindsACommitThatNoSeqFences) {
  SearchReport report = search_with(Broken::seq, 1);
  EXPECT_THAT(report.wrong, Contains(HasSubstr("was committed twice"))) << report.text();
  // The shortest path: start, the first commit, a commit whose reply is lost, the same commit
  // again.
  ASSERT_EQ(report.path.size(), 4u) << report.text();
  EXPECT_THAT(report.path[2], HasSubstr("the reply is lost, it will be sent again"));
}

TEST(Explorer, FindsADecisionAfterTheExpiry) {
  SearchReport report = search_with(Broken::expiry, 0);
  EXPECT_THAT(report.wrong, Contains(HasSubstr("after its expiry"))) << report.text();
  EXPECT_THAT(report.path, Contains(HasSubstr("a day passes"))) << report.text();
}

TEST(ExplorerWhy, NamesTrueCausesInEveryStateOfARun) {
  SearchOptions options;
  options.faults = 0;
  options.why = why;
  SearchReport report = search(options);
  EXPECT_THAT(report.wrong, IsEmpty()) << report.text();
  EXPECT_GE(report.explained, 100u);
  EXPECT_THAT(report.causes,
              IsSupersetOf({WaitCause::approval, WaitCause::node, WaitCause::next_poll}));
}

TEST(ExplorerWhy, NamesTrueCausesWhereANodeRunsNextToAnApproval) {
  SearchOptions options;
  options.shape = Shape::wide;
  options.faults = 0;
  options.why = why;
  SearchReport report = search(options);
  EXPECT_THAT(report.wrong, IsEmpty()) << report.text();
  EXPECT_THAT(report.causes, IsSupersetOf({WaitCause::approval, WaitCause::node}));
}

TEST(ExplorerWhy, NamesTheEarlierRunOfAThread) {
  SearchOptions options;
  options.shape = Shape::talk;
  options.faults = 0;
  options.why = why;
  SearchReport report = search(options);
  EXPECT_THAT(report.wrong, IsEmpty()) << report.text();
  EXPECT_THAT(report.causes, Contains(WaitCause::earlier_run));
}

// The judge finds each kind of lie.
TEST(ExplorerWhy, FindsACauseThatIsNotTrue) {
  for (WaitCause lie : {WaitCause::approval, WaitCause::node, WaitCause::lease,
                        WaitCause::next_poll, WaitCause::limit}) {
    SearchOptions options;
    options.faults = 1;
    options.why = [lie](const WaitFacts& facts) {
      std::vector<Cause> causes = why(facts);
      causes.front().cause = lie;
      return causes;
    };
    SearchReport report = search(options);
    EXPECT_THAT(report.wrong, Contains(HasSubstr("is named, but"))) << name_of(lie);
  }
}

TEST(ExplorerWhy, FindsARunWithoutACause) {
  SearchOptions options;
  options.faults = 0;
  options.why = [](const WaitFacts& facts) {
    return facts.approvals.empty() ? why(facts) : std::vector<Cause>();
  };
  EXPECT_THAT(search(options).wrong, Contains(HasSubstr("No cause is named")));
}

}  // namespace
}  // namespace belay::explorer
