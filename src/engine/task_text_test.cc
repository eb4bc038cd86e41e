// Tests the stored form of a task in a superstep with several tasks: all parts survive a crash.

#include "engine/task_text.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "belay/graph.h"
#include "engine/run_factory.h"

namespace belay::engine {
namespace {

struct TaskState {
  std::vector<std::string> log{};
};

struct TaskTexts : ::testing::Test {
  std::shared_ptr<const GraphDefinition> graph = [] {
    GraphBuilder<TaskState> builder{"tasks"};
    auto pass = [](const TaskState&, Context&) { return unchanged<TaskState>(); };
    builder.node("one", pass);
    builder.node("two", pass);
    builder.edge(start, "one").edge("one", "two").edge("two", end);
    return std::move(builder).build().value().definition();
  }();

  engine::Run run_of_two() const {
    RunRow row;
    row.run = RunId(derived_uuid("run"));
    engine::Run run = new_run(*graph, row, {}, std::make_shared<TaskState>()).value();
    run.superstep = 1;
    run.tasks.resize(2);
    for (std::size_t i = 0; i < 2; ++i) {
      run.tasks[i].id = TaskId(derived_uuid("task " + std::to_string(i)));
      run.tasks[i].position = i;
      run.tasks[i].node = &graph->nodes[i];
    }
    return run;
  }
  static std::string text(const TaskRow& row) {
    return std::string(json_in_envelope(row.envelope).value());
  }
};

TEST_F(TaskTexts, OfAnEndedTaskHaveAllThatItCameTo) {
  engine::Run run = run_of_two();
  run.row.retry_count = 3;
  NodeTask& task = run.tasks[1];
  task.phase = NodeTask::Phase::done;
  task.attempt = 2;
  task.answer.go_to = {"one", "two"};
  task.answer.sends = {send_to("one", 7), send_to("two", std::string("a \"b\"")),
                       send_to("two", Value::object({{"deep", Value(Value::Array{1, 2})}}))};
  RecordWrite record;
  record.collection = "notes";
  record.user = UserId("ana");
  record.key = "k";
  record.json = R"({"x":1})";
  record.indexed = {{"date", "2026-01-01"}, {"mood", "low"}};
  RecordWrite erased;
  erased.collection = "notes";
  erased.user = UserId("ana");
  erased.key = "old";
  erased.erase = true;
  task.effects.records = {record, erased};
  task.effects.events = {{"told", Value(1)}, {"", Value("text"), "message"}};
  task.effects.messages = {{"mail", Value("a")}, {"news", Value("b")}};
  task.effects.outcome = "sent";

  TaskRow row = task_row(run, task, 5);
  EXPECT_EQ(row.status, TaskStatus::done);
  EXPECT_EQ(row.position, 1);
  ASSERT_TRUE(parse_json(text(row)).ok()) << text(row);

  engine::Run read = run_of_two();
  ASSERT_TRUE(apply_task_row(row, read).ok());
  const NodeTask& back = read.tasks[1];
  EXPECT_EQ(back.phase, NodeTask::Phase::done);
  EXPECT_TRUE(back.saved);
  EXPECT_EQ(back.attempt, 2);
  EXPECT_EQ(read.row.retry_count, 3);
  EXPECT_EQ(back.answer.go_to, task.answer.go_to);
  ASSERT_EQ(back.answer.sends.size(), 3u);
  for (std::size_t i = 0; i < 3; ++i) {
    EXPECT_EQ(back.answer.sends[i].node, task.answer.sends[i].node);
    EXPECT_EQ(back.answer.sends[i].input, task.answer.sends[i].input);
  }
  ASSERT_EQ(back.effects.records.size(), 2u);
  EXPECT_EQ(back.effects.records[0].collection, "notes");
  EXPECT_EQ(back.effects.records[0].user, UserId("ana"));
  EXPECT_EQ(back.effects.records[0].key, "k");
  EXPECT_EQ(back.effects.records[0].json, record.json);
  EXPECT_EQ(back.effects.records[0].indexed, record.indexed);
  EXPECT_FALSE(back.effects.records[0].erase);
  EXPECT_TRUE(back.effects.records[1].erase);
  ASSERT_EQ(back.effects.events.size(), 2u);
  EXPECT_EQ(back.effects.events[0].name, "told");
  EXPECT_EQ(back.effects.events[0].body, Value(1));
  EXPECT_EQ(back.effects.events[0].type, "custom");
  EXPECT_EQ(back.effects.events[1].type, "message");
  EXPECT_EQ(back.effects.events[1].body, Value("text"));
  ASSERT_EQ(back.effects.messages.size(), 2u);
  EXPECT_EQ(back.effects.messages[1].topic, "news");
  EXPECT_EQ(back.effects.messages[1].body, Value("b"));
  EXPECT_EQ(back.effects.outcome, "sent");
  EXPECT_EQ(text(task_row(read, back, 5)), text(row)) << "and it is written the same again";
}

TEST_F(TaskTexts, OfATaskThatWaitsHaveItsNextAttempt) {
  engine::Run run = run_of_two();
  NodeTask& task = run.tasks[0];
  task.phase = NodeTask::Phase::backing_off;
  task.attempt = 3;
  task.due = *instant_from("2026-11-21T12:00:00Z");
  task.previous_error = error(ErrorCode::unavailable, "It is away.");
  task.answer.go_to = {"two"};  // the update of an attempt that has not ended is not stored
  TaskRow row = task_row(run, task, 5);
  EXPECT_EQ(row.status, TaskStatus::waiting);
  engine::Run read = run_of_two();
  ASSERT_TRUE(apply_task_row(row, read).ok());
  EXPECT_EQ(read.tasks[0].attempt, 3);
  EXPECT_EQ(read.tasks[0].due, task.due);
  ASSERT_TRUE(read.tasks[0].previous_error);
  EXPECT_EQ(read.tasks[0].previous_error->message, "It is away.");
  EXPECT_TRUE(read.tasks[0].answer.go_to.empty());
  EXPECT_FALSE(read.tasks[0].saved);
}

TEST_F(TaskTexts, OfAnotherTaskOrPlaceAreDamage) {
  engine::Run run = run_of_two();
  TaskRow row = task_row(run, run.tasks[1], 5);
  engine::Run read = run_of_two();
  TaskRow misplaced = row;
  misplaced.position = 0;
  EXPECT_FALSE(apply_task_row(misplaced, read).ok());
  misplaced.position = 2;
  EXPECT_FALSE(apply_task_row(misplaced, read).ok());
  TaskRow broken = row;
  broken.envelope = json_envelope("{\"attempt\":");
  EXPECT_FALSE(apply_task_row(broken, read).ok());
  EXPECT_TRUE(apply_task_row(row, read).ok());
}

}  // namespace
}  // namespace belay::engine
