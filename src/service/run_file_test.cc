// A run file contains every member of its rows: here, each has another value than the usual one.
// The tenant, run and thread of a row are stored only in the run, and set by an import.

#include "service/run_file.h"

#include <gtest/gtest.h>

#include "belay/runtime.h"
#include "belay/testing.h"

namespace belay {
namespace {

struct Parcel {
  int hats = 0;
};

Uuid uuid(std::uint8_t number) {
  Uuid made;
  made.bytes.fill(number);
  return made;
}
Digest digest(std::uint8_t number) {
  Digest made;
  made.fill(number);
  return made;
}
Instant at(int seconds) {
  return *instant_from("2026-11-22T12:00:00Z") + std::chrono::seconds(seconds);
}

ThreadRow thread_row() {
  ThreadRow row;
  row.thread = ThreadId("a thread");
  row.user = UserId("ana");
  row.graph = "order";
  row.created_at = at(1);
  row.preserve = true;
  return row;
}

RunRow run_row() {
  RunRow row;
  row.run = RunId(uuid(1));
  row.thread = ThreadId("a thread");
  row.user = UserId("ana");
  row.graph = "order";
  row.graph_hash = digest(2);
  row.input = json_envelope("{\"item\":\"a hat\"}");
  row.options = "{\"parallel\":3}";
  row.created_at = at(2);
  row.forked_from = RunId(uuid(3));
  row.forked_at = 4;
  row.queue = "slow";
  row.priority = 5;
  row.concurrency_key = "line 9";
  row.status = RunStatus::quarantined;
  row.reason = "its processes died";
  row.outcome = "bought";
  row.error_code = "invalid";
  row.error = "It was odd.";
  row.seq = 6;
  row.epoch = 7;
  row.session = SessionId(uuid(8));
  row.checkpoint = CheckpointId(uuid(9));
  row.node = "buy";
  row.retry_count = 10;
  row.worked_ms = 11;
  row.updated_at = at(3);
  row.due_at = at(4);
  row.lost_claims = 12;
  return row;
}

CheckpointRow checkpoint_row() {
  CheckpointRow row;
  row.id = CheckpointId(uuid(13));
  row.parent = CheckpointId(uuid(14));
  row.seq = 6;
  row.state_seq = 5;
  row.epoch = 7;
  row.session = SessionId(uuid(8));
  row.kind = CommitKind::pause;
  row.node = "price";
  row.superstep = 15;
  row.next_tasks = "[{\"node\":\"buy\"}]";
  row.chain_hash = digest(16);
  row.retry_count = 17;
  row.status = RunStatus::paused;
  row.created_at = at(5);
  return row;
}

ValueRow value_row() {
  ValueRow row;
  row.channel = "log";
  row.seq = 5;
  row.index = 18;
  row.kind = WriteOp::append;
  row.envelope = json_envelope("[\"priced\"]");
  return row;
}

TaskRow task_row() {
  TaskRow row;
  row.superstep = 15;
  row.position = 19;
  row.task = TaskId(uuid(20));
  row.status = TaskStatus::done;
  row.envelope = json_envelope("{}");
  return row;
}

EffectRow effect_row() {
  EffectRow row;
  row.task = TaskId(uuid(20));
  row.name = "smtp";
  row.node = "send";
  row.effect_class = EffectClass::unkeyed;
  row.status = EffectStatus::uncertain;
  row.envelope = json_envelope("7");
  row.attempt = 21;
  row.created_at = at(6);
  row.updated_at = at(7);
  row.took_ms = 24;
  return row;
}

EventRow event_row() {
  EventRow row;
  row.seq = 6;
  row.index = 22;
  row.type = "custom";
  row.body = "{\"name\":\"priced\"}";
  row.created_at = at(8);
  return row;
}

OutboxRow message_row() {
  OutboxRow row;
  row.seq = 6;
  row.index = 23;
  row.topic = "parcels";
  row.envelope = json_envelope("\"a hat\"");
  row.status = OutboxStatus::given_up;
  row.attempts = 24;
  row.error = "Nobody is there.";
  row.due_at = at(9);
  row.created_at = at(10);
  return row;
}

ApprovalRow approval_row() {
  ApprovalRow row;
  row.interrupt = InterruptId(uuid(25));
  row.task = TaskId(uuid(26));
  row.node = "confirm";
  row.question = "Buy it?";
  row.payload = json_envelope("\"a hat\"");
  row.payload_hash = digest(27);
  row.roles = "buyer";
  row.seq = 4;
  row.created_at = at(11);
  row.expires_at = at(12);
  row.status = ApprovalStatus::approved;
  row.decided_by = "ben";
  row.on_behalf_of = "ana";
  row.comment = "fine";
  row.edited = json_envelope("\"two hats\"");
  row.edited_hash = digest(28);
  row.decided_at = at(13);
  return row;
}

TEST(RunFiles, HoldEveryMemberOfEveryRow) {
  check::RunContents contents;
  contents.row = run_row();
  contents.checkpoints = {checkpoint_row()};
  contents.values = {value_row()};
  contents.tasks = {task_row()};
  contents.effects = {effect_row()};
  contents.events = {event_row()};
  contents.outbox = {message_row()};
  contents.approvals = {approval_row()};
  check::SpaceContents& inner = contents.inner["pack:1"];
  inner.checkpoint_ns = "pack:1";
  inner.checkpoints = {checkpoint_row()};
  inner.values = {value_row()};
  inner.tasks = {task_row()};

  Value document = parse_json(to_json(run_file(contents, thread_row(), at(14)))).value();
  auto read = run_file_from(document);
  ASSERT_TRUE(read.ok()) << read.error().message;
  EXPECT_EQ(document["exportedAt"], Value("2026-11-22T12:00:14.000000Z"));
  // A file has no tenant: the import sets it.
  TenantId tenant = read->thread.tenant;
  ThreadRow thread = thread_row();
  thread.tenant = tenant;
  EXPECT_EQ(read->thread, thread);
  contents.row.tenant = tenant;
  EXPECT_EQ(read->contents.row, contents.row);
  EXPECT_EQ(read->contents.checkpoints, contents.checkpoints);
  EXPECT_EQ(read->contents.values, contents.values);
  EXPECT_EQ(read->contents.tasks, contents.tasks);
  EXPECT_EQ(read->contents.effects, contents.effects);
  EXPECT_EQ(read->contents.events, contents.events);
  EXPECT_EQ(read->contents.outbox, contents.outbox);
  contents.approvals[0].tenant = read->contents.approvals.at(0).tenant;
  EXPECT_EQ(read->contents.approvals, contents.approvals);
  ASSERT_EQ(read->contents.inner.size(), 1u);
  const check::SpaceContents& back = read->contents.inner.at("pack:1");
  EXPECT_EQ(back.checkpoints, inner.checkpoints);
  EXPECT_EQ(back.values, inner.values);
  EXPECT_EQ(back.tasks, inner.tasks);
}

// The original store delivers it.
TEST(RunFiles, AMessageThatWaitedIsGivenUpByTheImport) {
  testing::SimulatedClock clock{at(0)};
  testing::SimulatedLoop loop{clock};
  testing::SeededRandom random{7};
  testing::ScriptedModel model;
  auto from = open_memory_store(clock, random), to = open_memory_store(clock, random);
  GraphBuilder<Parcel> builder{"parcels"};
  builder.node("send", [](const Parcel&, Context& context) {
    context.publish("parcels", Value("a hat"));
    return add(&Parcel::hats, 1);
  });
  builder.edge(start, "send").edge("send", end);
  auto graph = std::move(builder).build().value();
  auto runtime = Runtime::open({*from, loop, clock, random, model}).value();
  runtime->add(graph);
  StartOptions options;
  options.thread = ThreadId("t");
  block_on(loop, runtime->start(graph, Parcel{}, options)).value();
  CheckScope scope;
  auto exported = export_run(*from, scope, options.thread, std::nullopt, at(1), "runs");
  Value document = block_on(loop, std::move(exported)).value();
  RunFile file = run_file_from(document).value();
  block_on(loop, import_run(*to, scope, file, false, clock, random)).value();
  std::function<Result<std::vector<OutboxRow>>(Snapshot&)> reader = [](Snapshot& view) {
    OutboxFilter filter;
    filter.tenant = default_tenant();
    return view.outbox(filter);
  };
  auto rows = block_on(loop, read<std::vector<OutboxRow>>(*to, std::move(reader))).value();
  ASSERT_EQ(rows.size(), 1u);
  EXPECT_EQ(rows[0].status, OutboxStatus::given_up);
  EXPECT_EQ(rows[0].attempts, 1) << "a message that was given up has been tried";
  EXPECT_NE(rows[0].error.find("the original store delivers it"), std::string::npos);
}

}  // namespace
}  // namespace belay
