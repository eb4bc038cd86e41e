// Finds the approval that a user's text names.

#include <gmock/gmock.h>

#include "service/find_approval.h"
#include "tests/support/service_fixture.h"

namespace belay {
namespace {

using ::testing::HasSubstr;

class FindApproval : public ServiceFixture {
 protected:
  Result<ApprovalRow> find(const std::string& id, Whose whose = {}) {
    return wait(service_->approval(local_program, id, std::move(whose)));
  }
  ApprovalRow waiting(const std::string& thread) { return began(thread, "apple").approval.value(); }

  // Adds approvals to a run in addition to its own, oldest first.
  void add(const RunRow& run, const std::vector<std::string>& ids, ApprovalStatus status) {
    Commit commit;
    commit.tenant = run.tenant;
    commit.run_guard.emplace();
    commit.run_guard->epoch = run.epoch;
    commit.run_guard->seq = run.seq;
    commit.run_guard->pending_for = run.run;
    for (const std::string& id : ids) {
      ApprovalRow row;
      row.tenant = run.tenant;
      row.interrupt = InterruptId(*uuid_from(id));
      row.thread = run.thread;
      row.run = run.run;
      row.user = run.user;
      row.graph = run.graph;
      row.payload = json_envelope("1");
      row.payload_hash = sha256("1");
      row.seq = run.seq + 1;
      row.status = status;
      commit.rows.opened.push_back(std::move(row));
    }
    auto outcome = wait(store_->commit(std::move(commit)));
    ASSERT_TRUE(outcome.ok() && *outcome == CommitOutcome::applied);
  }

  static std::string id(const std::string& begins, int number) {
    std::string digits = std::to_string(number);
    std::string text = "00000000-0000-8000-8000-000000000000";
    text.replace(0, begins.size(), begins);
    return text.replace(text.size() - digits.size(), digits.size(), digits);
  }
};

TEST_F(FindApproval, ByItsIdItsBeginningAndItsThread) {
  ApprovalRow row = waiting("first");
  std::string whole = row.interrupt.text();
  std::string upper = whole;
  for (char& c : upper) c = c >= 'a' && c <= 'f' ? static_cast<char>(c - 'a' + 'A') : c;
  for (const std::string& name : {whole, upper, whole.substr(0, 6), upper.substr(0, 13),
                                  whole.substr(0, 35), std::string("first")}) {
    auto found = find(name);
    ASSERT_TRUE(found.ok()) << name;
    EXPECT_EQ(found->interrupt, row.interrupt) << name;
  }
  EXPECT_EQ(find(whole.substr(0, 5)).error().code, ErrorCode::invalid) << "too short";
  EXPECT_EQ(find("nothing").error().code, ErrorCode::not_found);
  EXPECT_EQ(find("").error().code, ErrorCode::not_found);
  EXPECT_EQ(find(whole + "0").error().code, ErrorCode::not_found);
  EXPECT_EQ(find("123456789").error().code, ErrorCode::not_found) << "a digit where a dash stands";
}

TEST_F(FindApproval, ABeginningThatIsAThreadsNameIsRefusedNamingBoth) {
  ApprovalRow row = waiting("ana's case");
  std::string prefix = row.interrupt.text().substr(0, 6);
  ApprovalRow rival = waiting(prefix);
  auto refused = find(prefix);
  ASSERT_FALSE(refused.ok());
  EXPECT_EQ(refused.error().code, ErrorCode::invalid);
  EXPECT_THAT(refused.error().message, HasSubstr("matches a thread and approval"));
  EXPECT_THAT(refused.error().message, HasSubstr(row.interrupt.text()));
  EXPECT_THAT(refused.error().message, HasSubstr("ana's case"));
  EXPECT_EQ(find(row.interrupt.text())->interrupt, row.interrupt);
  EXPECT_EQ(find(rival.interrupt.text())->interrupt, rival.interrupt);
  // If a thread is requested, the name can only be that of the thread.
  EXPECT_EQ(wait(service_->approval_of(local_program, ThreadId(prefix), Whose()))->interrupt,
            rival.interrupt);
}

TEST_F(FindApproval, ABeginningThatIsTheNameOfAThreadThatAsksNothingIsRefusedToo) {
  ApprovalRow row = waiting("ana's case");
  std::string prefix = row.interrupt.text().substr(0, 6);
  began(prefix, "stone");
  EXPECT_EQ(find(prefix).error().code, ErrorCode::invalid);
}

// Buttons and addresses contain the whole id: the name of a thread must not take precedence.
TEST_F(FindApproval, AWholeIdIsThatApprovalsWhateverThreadsAreCalled) {
  ApprovalRow row = waiting("ana's case");
  waiting(row.interrupt.text());
  EXPECT_EQ(find(row.interrupt.text())->interrupt, row.interrupt);
}

TEST_F(FindApproval, ABeginningOfSeveralIsRefusedNamingTwo) {
  RunView run = began("t", "apple");
  add(run.row, {id("abcdef1", 1), id("abcdef1", 2), id("abcdef1", 3)}, ApprovalStatus::approved);
  auto refused = find("abcdef1");
  ASSERT_FALSE(refused.ok());
  EXPECT_EQ(refused.error().code, ErrorCode::invalid);
  EXPECT_THAT(refused.error().message, HasSubstr(id("abcdef1", 3)));
  EXPECT_THAT(refused.error().message, HasSubstr(id("abcdef1", 2)));
  EXPECT_EQ(find(id("abcdef1", 2).substr(0, 36))->interrupt.text(), id("abcdef1", 2));
}

// The approval is older than the newest 1,000.
TEST_F(FindApproval, IsJudgedOfAllThatThereAre) {
  RunView run = began("t", "apple");
  std::vector<std::string> ids{id("abcdef1", 0)};
  for (int i = 0; i < 1'100; ++i) ids.push_back(id("0123456", i));
  ids.push_back(id("fedcba9", 0));
  add(run.row, ids, ApprovalStatus::approved);
  EXPECT_EQ(find("abcdef1")->interrupt.text(), id("abcdef1", 0));
  RunView other = began("u", "apple");
  add(other.row, {id("abcdef1", 7)}, ApprovalStatus::approved);
  EXPECT_EQ(find("abcdef1").error().code, ErrorCode::invalid) << "the old one counts, too";
}

TEST_F(FindApproval, AnOpenOneIsFoundBehindAnyNumberOfOthersOfItsRun) {
  ApprovalRow row = waiting("t");
  RunView run = wait(service_->status(local_program, ThreadId("t"), std::nullopt)).value();
  std::vector<std::string> ids;
  for (int i = 0; i < 150; ++i) ids.push_back(id("0123456", i));
  add(run.row, ids, ApprovalStatus::approved);
  EXPECT_EQ(find("t")->interrupt, row.interrupt);
  add(run.row, {id("0123457", 1)}, ApprovalStatus::open);
  auto refused = find("t");
  ASSERT_FALSE(refused.ok());
  EXPECT_THAT(refused.error().message, HasSubstr("several pending approvals"));
}

TEST_F(FindApproval, AThreadThatAsksNothingSaysHowItStands) {
  began("t", "stone");
  auto refused = find("t");
  ASSERT_FALSE(refused.ok());
  EXPECT_EQ(refused.error().code, ErrorCode::conflict);
  EXPECT_THAT(refused.error().message, HasSubstr("failed"));
  StartRun later = order("later", "apple");
  later.queued = true;
  ASSERT_TRUE(wait(service_->start(local_program, std::move(later))).ok());
  refused = find("later");
  EXPECT_EQ(refused.error().code, ErrorCode::conflict);
  EXPECT_THAT(refused.error().message, HasSubstr("is queued"));
}

// An approval that is not visible cannot make a name ambiguous either.
TEST_F(FindApproval, OnlyThoseOfWhomeverItIsAskedForCount) {
  ApprovalRow row = waiting("t");
  std::string prefix = row.interrupt.text().substr(0, 6);
  StartRun hers = order(prefix, "apple");
  hers.user = UserId("ana");
  auto other = wait(service_->start(local_program, std::move(hers))).value();
  Whose mine{.runs = UserId("local"), .approvals = UserId("local")};
  EXPECT_EQ(find(prefix, mine)->interrupt, row.interrupt);
  EXPECT_EQ(find(other.approval->interrupt.text(), mine).error().code, ErrorCode::not_found);
  Whose anas{.runs = UserId("ana"), .approvals = UserId("ana")};
  EXPECT_EQ(find(prefix, anas)->interrupt, other.approval->interrupt);
  EXPECT_EQ(find("t", anas).error().code, ErrorCode::not_found);
}

}  // namespace
}  // namespace belay
