// Files that older versions of Belay wrote: their contents are read unchanged, and their runs can
// be continued.

#include <gmock/gmock.h>

#include <filesystem>

#include "tests/conformance/store_suite.h"

namespace belay::conformance {
namespace {

using testing::IsEmpty;
using testing::SizeIs;

class SqliteOldFiles : public testing::Test {
 protected:
  // Opens a copy, because opening a file migrates it.
  std::unique_ptr<Store> open(const std::string& name) {
    std::string path = folder_.file(name);
    std::filesystem::copy_file(std::string(BELAY_STORES) + "/" + name, path,
                               std::filesystem::copy_options::skip_existing);
    auto opened = open_sqlite_store(path, clock_, random_);
    EXPECT_TRUE(opened.ok()) << opened.error().message;
    return opened.ok() ? *std::move(opened) : nullptr;
  }

  TemporaryFolder folder_;
  StandingClock clock_;
  SeededRandom random_;
};

// Returns the script that wrote the thread, one commit before its last one.
RunScript after_two_nodes(const std::string& name) {
  RunScript script(name);
  (void)script.first();
  (void)script.next();
  (void)script.next();
  return script;
}

TEST_F(SqliteOldFiles, OfSchema1EverythingIsFoundAsItWas) {
  auto store = open("schema-1.db");
  ASSERT_TRUE(store);
  Caller call(*store);
  RunScript paused = after_two_nodes("paused");
  ApprovalRow opened = paused.ask(clock_.now() + std::chrono::hours(24)).rows.opened[0];
  EXPECT_EQ(call.run(paused.row.run), paused.row);
  EXPECT_EQ(call.approval(opened.interrupt), opened);
  RunScript completed = after_two_nodes("completed");
  (void)completed.ask(clock_.now());
  (void)completed.expire();
  EXPECT_EQ(call.run(completed.row.run), completed.row);
  RunRow failed = call.run(RunScript("failed").row.run);
  EXPECT_EQ(failed.status, RunStatus::failed);
  EXPECT_EQ(failed.error_code, "exhausted");

  for (const RunRow& run : call.runs({.tenant = default_tenant()})) {
    auto checkpoints = call.checkpoints({default_tenant(), run.run});
    ASSERT_EQ(checkpoints.size(), run.seq);
    for (std::size_t i = 0; i < checkpoints.size(); ++i) {
      EXPECT_EQ(checkpoints[i].state_seq, checkpoints[i].seq);
      bool is_first = i + 1 == checkpoints.size();
      EXPECT_EQ(checkpoints[i].parent, is_first ? CheckpointId() : checkpoints[i + 1].id);
    }
    auto values = call.values({default_tenant(), run.run, {}, 2});
    ASSERT_THAT(values, SizeIs(1));
    EXPECT_EQ(values[0].seq, 2u);
    EXPECT_EQ(values[0].kind, WriteOp::set);
    EXPECT_THAT(call.values({default_tenant(), run.run, {}, run.seq}), SizeIs(1));
    EXPECT_THAT(call.events({default_tenant(), run.run}), testing::Not(IsEmpty()));
  }
  auto all = call.runs({.tenant = default_tenant()});
  EXPECT_EQ(call.runs({.tenant = default_tenant(), .user = UserId("ana")}), all)
      << "whose they are is found by an index that is newer than they";
  RecordQuery query;
  query.tenant = default_tenant();
  query.collection = "notes";
  query.user = UserId("ana");
  EXPECT_THAT(call.records(query), SizeIs(4));
}

TEST_F(SqliteOldFiles, OfSchema1APausedThreadIsCarriedOn) {
  auto store = open("schema-1.db");
  ASSERT_TRUE(store);
  RunScript paused = after_two_nodes("paused");
  (void)paused.ask(clock_.now() + std::chrono::hours(24));
  {
    Caller call(*store);
    EXPECT_EQ(call.commit(paused.decide(ApprovalStatus::approved)), CommitOutcome::applied);
    EXPECT_EQ(call.commit(paused.next_with({{"text", WriteOp::append}})), CommitOutcome::applied);
    EXPECT_EQ(call.commit(paused.pending({{"text", WriteOp::append, 1}})), CommitOutcome::applied);
  }
  store.reset();
  store = open("schema-1.db");
  Caller call(*store);
  EXPECT_EQ(call.run(paused.row.run), paused.row);
  auto values = call.values({default_tenant(), paused.row.run, {}, paused.row.seq});
  ASSERT_THAT(values, SizeIs(2)) << "the whole value of old, and what was added";
  EXPECT_EQ(values[0].seq, 3u);
  auto newest = call.checkpoints({default_tenant(), paused.row.run, "", {}, {}, 2});
  EXPECT_EQ(newest[0].parent, newest[1].id);
}

}  // namespace
}  // namespace belay::conformance
