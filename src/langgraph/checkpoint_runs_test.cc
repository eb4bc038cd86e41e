// Tests runs from earlier checkpoints of their thread, and runs that continue another one after a
// crash or a repeated request.

#include "langgraph/records.h"
#include "tests/support/agent_server_checkpoint_fixture.h"

namespace belay::langgraph {
namespace {

using server::text;

using CheckpointRuns = CheckpointFixture;

TEST_F(CheckpointRuns, WithAnInputContinueFromItsState) {
  run_of(about("a"));
  std::string first = text(state()["checkpoint"]["checkpoint_id"]);
  run_of(about("b"));
  std::size_t before = history().size();
  run_of(about("c", at(first)));
  EXPECT_EQ(to_json(state()["values"]["log"]), R"(["a","c"])") << to_json(state());
  Value::Array all = history();
  EXPECT_GT(all.size(), before) << "the other branch remains";
  std::vector<std::string> children;
  for (const Value& each : all) {
    if (text(each["parent_checkpoint"]["checkpoint_id"]) == first) {
      children.push_back(text(each["metadata"]["source"]));
    }
  }
  EXPECT_EQ(children, (std::vector<std::string>{"input", "input"})) << "both branches begin there";
}

TEST_F(CheckpointRuns, WithoutAnInputContinueAtItsNodes) {
  run_of(about("a"));
  run_of(about("b"));
  std::string first = checkpoint_before("write");
  ASSERT_FALSE(first.empty());
  std::string run = run_of(go_on(at(first)));
  EXPECT_EQ(to_json(state()["values"]["log"]), R"(["a"])");
  EXPECT_EQ(text(state()["values"]["verse"]), "An öde to a");
  EXPECT_EQ(status_of_run(run), "success");
}

TEST_F(CheckpointRuns, AnswerTheInterruptOfTheCheckpoint) {
  run_of(about("urgent"));
  std::string asked = checkpoint_before("review");
  ASSERT_FALSE(asked.empty()) << to_json(Value(history()));
  run_of(resume("true"));
  run_of(about("calm"));
  std::string run = run_of(resume("true", at(asked)));
  EXPECT_EQ(to_json(state()["values"]["log"]), R"(["urgent","printed"])") << to_json(state());
  EXPECT_EQ(status_of_run(run), "success");
  EXPECT_EQ(text(get(runs("/" + run)).body["run_id"]), run);
  std::string none = checkpoint_before("write");
  std::size_t count = size_of(get(runs("?limit=100")).body);
  EXPECT_EQ(post(runs(), resume("true", at(none))).status, 409) << "it has no interrupt";
  EXPECT_EQ(size_of(get(runs("?limit=100")).body), count) << "nothing was started";
}

TEST_F(CheckpointRuns, OfAChangedStateAreABranch) {
  run_of(about("a"));
  run_of(about("b"));
  std::string first = checkpoint_before("write");
  auto changed =
      post(thread + "/state", R"({"values":{"topic":"c"},"checkpoint_id":")" + first + "\"}");
  ASSERT_EQ(changed.status, 200) << to_json(changed.body);
  EXPECT_EQ(text(state()["parent_checkpoint"]["checkpoint_id"]), first);
  EXPECT_EQ(text(state()["metadata"]["source"]), "update");
  EXPECT_EQ(to_json(state()["next"]), R"(["write"])");
  std::string branch = text(changed.body["checkpoint"]["checkpoint_id"]);
  run_of(go_on(at(branch)));
  EXPECT_EQ(text(state()["values"]["verse"]), "An öde to c");
}

TEST_F(CheckpointRuns, NeedACheckpointOfTheThread) {
  run_of(about("a"));
  std::string unknown = "1ef00000-0000-6000-8000-000000000000";
  EXPECT_EQ(post(runs(), about("b", at(unknown))).status, 404);
  EXPECT_EQ(post(runs(), go_on(at(unknown))).status, 404);
  EXPECT_EQ(post(runs(), resume("true", at(unknown))).status, 404);
  EXPECT_EQ(post(thread + "/state", R"({"checkpoint_id":")" + unknown + "\"}").status, 404);
  EXPECT_EQ(post(runs(), about("b", at("x"))).status, 422);
  std::string inside =
      R"(,"checkpoint":{"checkpoint_id":")" + unknown + R"(","checkpoint_ns":"inside:x"})";
  EXPECT_EQ(post(runs(), about("b", inside)).status, 422);
  EXPECT_EQ(size_of(get(runs()).body), 1u);
}

TEST_F(CheckpointRuns, PassOneBreakpointWithOneKey) {
  run_of(about("a", R"(,"interrupt_before":"*","interrupt_after":"*")"));
  ASSERT_EQ(to_json(state()["next"]), R"(["write"])");
  std::string body = go_on(R"(,"interrupt_before":"*","interrupt_after":"*")");
  auto first = keyed(body, "k");
  ASSERT_EQ(first.status, 200) << to_json(first.body);
  joined(text(first.body["run_id"]));
  Value there = state();
  auto again = keyed(body, "k");
  EXPECT_EQ(again.body["run_id"], first.body["run_id"]);
  EXPECT_EQ(state()["checkpoint"], there["checkpoint"]) << "no second one was passed";
}

// The process ends between the record of a resume and its decision, as if it was killed there.
TEST_F(CheckpointRuns, ThatWereRecordedAndNotBegunAreAbsentUntilTheirDecision) {
  std::string waiting = run_of(about("urgent"));
  auto row = block_on(loop, service->run(Principal(), RunId(*uuid_from(waiting)))).value();
  RunRecord record = record_of_row(row);
  record.id = "11111111-2222-4333-8444-555555555555";
  record.after = static_cast<std::int64_t>(row.seq);
  record.created_at = clock.now();
  std::vector<RecordWrite> writes;
  ASSERT_TRUE(add_write(writes, record, row.user).ok());
  ASSERT_TRUE(block_on(loop, service->save_records(Principal(), std::move(writes))).ok());
  EXPECT_EQ(get(runs("/" + record.id)).status, 404);
  EXPECT_EQ(size_of(get(runs()).body), 1u);
  run_of(resume("true"));
  EXPECT_EQ(get(runs("/" + record.id)).status, 200) << "the decision was made, and is not lost";
  EXPECT_EQ(to_json(joined(record.id)["log"]), R"(["urgent","printed"])");
}

TEST_F(CheckpointRuns, AreDeletedByAPruneThatKeepsTheLatest) {
  std::string first = run_of(about("a")), second = run_of(about("b"));
  Value before = state();
  std::string body = R"({"strategy":"keep_latest","thread_ids":[")" + std::string(kThreadA);
  auto pruned = post("/threads/prune", body + "\"]}");
  EXPECT_EQ(to_json(pruned.body), R"({"pruned_count":1})") << pruned.status;
  EXPECT_EQ(state()["values"], before["values"]);
  EXPECT_EQ(get(runs("/" + first)).status, 404);
  EXPECT_EQ(get(runs("/" + second)).status, 200);
  EXPECT_EQ(size_of(get(runs()).body), 1u);
  run_of(about("c"));
  EXPECT_EQ(to_json(state()["values"]["log"]), R"(["a","b","c"])") << "deltas are kept";
}

TEST_F(CheckpointRuns, OfRefusedResumesLeaveNoRecord) {
  run_of(about("urgent"));
  EXPECT_EQ(post(runs(), resume(R"("perhaps")")).status, 422);
  auto refused = keyed(go_on(""), "other");
  EXPECT_EQ(refused.status, 409);
  EXPECT_EQ(size_of(get(runs()).body), 1u);
}

}  // namespace
}  // namespace belay::langgraph
