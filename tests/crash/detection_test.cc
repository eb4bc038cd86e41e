// Checks that the campaign detects losses: each of these stores was modified, without Belay, to
// lose one thing.

#include <gtest/gtest.h>

#include "tests/crash/baseline.h"
#include "tests/crash/store_files.h"

namespace belay::crash {
namespace {

struct Loss {
  std::string name;
  std::string sql;
};

class CrashDetection : public ::testing::TestWithParam<Loss> {
 public:
  static void SetUpTestSuite() {
    auto made = Baseline::make();
    ASSERT_TRUE(made.ok()) << made.error().message;
    baseline = *std::move(made);
  }
  static void TearDownTestSuite() { baseline.reset(); }
  static std::unique_ptr<Baseline> baseline;
};
std::unique_ptr<Baseline> CrashDetection::baseline;

TEST_P(CrashDetection, ALossIsReported) {
  ASSERT_NE(baseline, nullptr);
  const Sight& whole = baseline->at_end();
  std::string folder = baseline->folder() + "/" + GetParam().name;
  copy_store(baseline->folder_before(baseline->steps().size()), folder);
  ASSERT_EQ(judge(folder, whole, {}, whole), std::vector<std::string>());
  auto changed = change_behind_its_back(folder, GetParam().sql);
  ASSERT_TRUE(changed.ok()) << changed.error().message;
  ASSERT_EQ(*changed, 1) << GetParam().sql;
  std::vector<std::string> faults = judge(folder, whole, {}, whole);
  EXPECT_FALSE(faults.empty()) << GetParam().sql;
}

const char* const kAudit =
    "(SELECT run_number FROM runs JOIN threads USING (thread_number) "
    "WHERE thread_id = 'audit')";
std::string of_audit(const std::string& sql) { return sql + " AND run_number = " + kAudit; }

INSTANTIATE_TEST_SUITE_P(
    Losses, CrashDetection,
    ::testing::Values(
        Loss{"Checkpoint", of_audit("DELETE FROM checkpoints WHERE seq = 3")},
        Loss{"NewestCheckpoint",
             of_audit("DELETE FROM checkpoints WHERE seq = (SELECT seq FROM runs r WHERE "
                      "r.run_number = checkpoints.run_number)")},
        Loss{"Value",
             of_audit("DELETE FROM channel_values WHERE channel = 'analysis' AND seq > 1")},
        Loss{"ChangedNode",
             of_audit("UPDATE checkpoints SET node = 'checkApproval' WHERE seq = 2")},
        Loss{"Event", of_audit("DELETE FROM events WHERE event_index = 0 AND type = 'decision'")},
        Loss{"Approval", of_audit("DELETE FROM approvals WHERE true")},
        Loss{"OtherDecider", of_audit("UPDATE approvals SET decided_by = 'eve' WHERE true")},
        Loss{"Summary", "DELETE FROM records WHERE collection = 'daily_summaries'"},
        Loss{"OtherSummary",
             "UPDATE records SET envelope = CAST(replace(envelope, '\"riskLevel\":7', "
             "'\"riskLevel\":1') AS BLOB) WHERE collection = 'daily_summaries'"},
        Loss{"Note",
             "DELETE FROM records WHERE record_number = (SELECT max(record_number) FROM "
             "records WHERE collection = 'notes')"},
        Loss{"Run",
             "UPDATE runs SET seq = seq - 1 WHERE run_number = (SELECT max(run_number) "
             "FROM runs)"}),
    [](const auto& test) { return test.param.name; });

}  // namespace
}  // namespace belay::crash
