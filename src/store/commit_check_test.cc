// Malformed commits are rejected before any store evaluates them, with a message that states the
// fault: no store has to detect rows that would make a run inconsistent.

#include "store/commit_check.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <functional>

#include "belay/clock.h"

namespace belay::store {
namespace {

using ::testing::HasSubstr;

Uuid id(int number) {
  Uuid uuid;
  uuid.bytes[15] = static_cast<std::uint8_t>(number);
  return uuid;
}
const RunId kRun{id(1)};
const RunId kOther{id(2)};

template <typename Row>
Row of_run(std::uint64_t seq = 0) {
  Row row;
  row.run = kRun;
  if constexpr (requires { row.seq; }) row.seq = seq;
  return row;
}

ApprovalRow question() {
  ApprovalRow row = of_run<ApprovalRow>(2);
  row.interrupt = InterruptId(id(7));
  row.tenant = default_tenant();
  row.thread = ThreadId("t");
  row.user = UserId("ana");
  row.graph = "mail";
  return row;
}

// The second commit of a run, with a row of each kind.
Commit sound() {
  Commit commit;
  commit.tenant = default_tenant();
  commit.run_guard = RunGuard{1, 1, {}};
  commit.rows.run.emplace();
  RunRow& run = *commit.rows.run;
  run.tenant = default_tenant();
  run.run = kRun;
  run.thread = ThreadId("t");
  run.user = UserId("ana");
  run.graph = "mail";
  run.seq = 2;
  run.epoch = 1;
  run.checkpoint = CheckpointId(id(3));
  run.status = RunStatus::running;
  commit.rows.checkpoint = of_run<CheckpointRow>(2);
  commit.rows.checkpoint->id = run.checkpoint;
  commit.rows.checkpoint->state_seq = 2;
  commit.rows.values = {of_run<ValueRow>(2)};
  commit.rows.values[0].channel = "draft";
  commit.rows.tasks = {of_run<TaskRow>()};
  commit.rows.effects = {of_run<EffectRow>()};
  commit.rows.inner_checkpoints = {of_run<CheckpointRow>(1)};
  commit.rows.inner_checkpoints[0].checkpoint_ns = "inner";
  commit.rows.events = {of_run<EventRow>(2)};
  commit.rows.outbox = {of_run<OutboxRow>(2)};
  commit.rows.opened = {question()};
  return commit;
}

// A pending write: the result of one of several tasks, before the end of its superstep.
Commit pending() {
  Commit commit;
  commit.tenant = default_tenant();
  commit.run_guard = RunGuard{1, 1, kRun};
  commit.rows.values = {of_run<ValueRow>(2)};
  commit.rows.tasks = {of_run<TaskRow>()};
  commit.rows.opened = {question()};
  return commit;
}

RecordPut record() { return RecordPut{"letters", UserId("ana"), "first", {}, {}}; }

// The result of a message's delivery.
Commit delivery() {
  Commit commit;
  commit.tenant = default_tenant();
  commit.message_guard = OutboxGuard{kRun, 2, 0, 0};
  commit.rows.outbox = {of_run<OutboxRow>(2)};
  return commit;
}

// A decision, with the rows that are written instead if the approval has expired.
Commit decision() {
  Commit commit = sound();
  commit.approval_guard.emplace();
  commit.approval_guard->interrupt = question().interrupt;
  commit.rows.decided = question();
  commit.if_expired = commit.rows;
  return commit;
}

struct Fault {
  std::string says;
  std::function<void(Commit&)> make;
};

void expect_refused(const Commit& whole, const std::vector<Fault>& faults) {
  auto accepted = check_commit(whole);
  ASSERT_TRUE(accepted.ok()) << accepted.error().message;
  for (const Fault& fault : faults) {
    Commit broken = whole;
    fault.make(broken);
    auto refused = check_commit(broken);
    ASSERT_FALSE(refused.ok()) << "accepted, though " << fault.says;
    EXPECT_EQ(refused.error().code, ErrorCode::invalid);
    EXPECT_THAT(refused.error().message, HasSubstr(fault.says));
  }
}

// Adds a second message to `rows`.
void add_message(CommitRows& rows, std::int64_t index) {
  rows.outbox.push_back(of_run<OutboxRow>(2));
  rows.outbox.back().index = index;
}

TEST(CommitCheck, RefusesARunThatDoesNotFollowItsGuard) {
  auto run = [](Commit& commit) -> RunRow& { return *commit.rows.run; };
  auto point = [](Commit& commit) -> CheckpointRow& { return *commit.rows.checkpoint; };
  expect_refused(
      sound(), {{"needs a run and a checkpoint", [](Commit& c) { c.rows.run.reset(); }},
                {"needs a run and a checkpoint", [](Commit& c) { c.rows.checkpoint.reset(); }},
                {"another tenant", [&](Commit& c) { run(c).tenant = TenantId("other"); }},
                {"does not follow", [&](Commit& c) { run(c).seq = 3; }},
                {"epoch is below", [&](Commit& c) { run(c).epoch = 0; }},
                {"checkpoint is of another run", [&](Commit& c) { point(c).run = kOther; }},
                {"checkpoint is of another run", [&](Commit& c) { point(c).seq = 1; }},
                {"subgraph's space", [&](Commit& c) { point(c).checkpoint_ns = "inner"; }},
                {"state is beyond", [&](Commit& c) { point(c).state_seq = 3; }},
                {"names another checkpoint", [&](Commit& c) { point(c).id = CheckpointId(id(9)); }},
                {"another run status", [&](Commit& c) { point(c).status = RunStatus::failed; }},
                {"first commit", [](Commit& c) {
                   c.rows.thread.emplace();
                   c.rows.thread->tenant = default_tenant();
                   c.rows.thread->thread = ThreadId("t");
                 }}});
}

TEST(CommitCheck, RefusesAFirstCommitOfAnotherThreadOrTenant) {
  Commit first = sound();
  first.run_guard = RunGuard{};
  first.rows.run->seq = first.rows.checkpoint->seq = first.rows.checkpoint->state_seq = 1;
  first.rows.opened.clear();
  first.rows.values[0].seq = first.rows.events[0].seq = first.rows.outbox[0].seq = 1;
  first.rows.thread.emplace();
  first.rows.thread->tenant = default_tenant();
  first.rows.thread->thread = ThreadId("t");
  expect_refused(
      first, {{"first commit", [](Commit& c) { c.rows.thread->thread = ThreadId("u"); }},
              {"another tenant", [](Commit& c) { c.rows.thread->tenant = TenantId("other"); }}});
}

TEST(CommitCheck, RefusesWhatIsOfAnotherRunOrOutOfOrder) {
  auto asked = [](Commit& commit) -> ApprovalRow& { return commit.rows.opened[0]; };
  expect_refused(
      sound(),
      {{"names another run", [](Commit& c) { c.rows.values[0].run = kOther; }},
       {"seq beyond", [](Commit& c) { c.rows.values[0].seq = 0; }},
       {"seq beyond", [](Commit& c) { c.rows.values[0].seq = 4; }},
       {"two values", [](Commit& c) { c.rows.values.push_back(c.rows.values[0]); }},
       {"a task names", [](Commit& c) { c.rows.tasks[0].run = kOther; }},
       {"the effect", [](Commit& c) { c.rows.effects[0].run = kOther; }},
       {"a subgraph's checkpoint", [](Commit& c) { c.rows.inner_checkpoints[0].run = kOther; }},
       {"a subgraph's checkpoint",
        [](Commit& c) { c.rows.inner_checkpoints[0].checkpoint_ns.clear(); }},
       {"an event names", [](Commit& c) { c.rows.events[0].run = kOther; }},
       {"an event names", [](Commit& c) { c.rows.events[0].seq = 1; }},
       {"order of their index", [](Commit& c) { c.rows.events.push_back(c.rows.events[0]); }},
       {"a message names", [](Commit& c) { c.rows.outbox[0].run = kOther; }},
       {"a message names", [](Commit& c) { c.rows.outbox[0].seq = 1; }},
       {"order of their index", [](Commit& c) { add_message(c.rows, 0); }},
       {"opened approval", [&](Commit& c) { asked(c).tenant = TenantId("other"); }},
       {"opened approval", [&](Commit& c) { asked(c).run = kOther; }},
       {"opened approval", [&](Commit& c) { asked(c).thread = ThreadId("u"); }},
       {"opened approval", [&](Commit& c) { asked(c).user = UserId("ben"); }},
       {"opened approval", [&](Commit& c) { asked(c).graph = "letter"; }},
       {"opened approval", [&](Commit& c) { asked(c).seq = 1; }}});
}

TEST(CommitCheck, FindsAChannelWithTwoValuesAmongMany) {
  Commit many = sound();
  for (int i = 0; i < 20; ++i) {
    many.rows.values.push_back(of_run<ValueRow>(2));
    many.rows.values.back().channel = "c" + std::to_string(20 - i);
  }
  auto add = [](Commit& c) { c.rows.values.push_back(c.rows.values[5]); };
  expect_refused(many, {{"two values", add}});
}

TEST(CommitCheck, RefusesAPendingWriteThatMovesItsRun) {
  Commit other = sound();
  expect_refused(
      pending(),
      {{"must not advance its run", [&](Commit& c) { c.rows.run = other.rows.run; }},
       {"must not advance its run", [&](Commit& c) { c.rows.checkpoint = other.rows.checkpoint; }},
       {"must not advance its run", [](Commit& c) { c.rows.thread.emplace().tenant = c.tenant; }},
       {"must not advance its run", [&](Commit& c) { c.rows.events = other.rows.events; }},
       {"must not advance its run", [](Commit& c) { c.rows.ends_run = true; }},
       {"expects no version of a record",
        [](Commit& c) {
          c.rows.records.push_back(record());
          c.rows.records.back().expected_version = 0;
        }},
       {"must not advance its run", [&](Commit& c) { c.rows.outbox = other.rows.outbox; }},
       {"must not advance its run",
        [](Commit& c) {
          c.approval_guard.emplace().interrupt = question().interrupt;
          c.rows.decided = question();
        }},
       {"guards no approval", [](Commit& c) { c.approval_guard.emplace(); }},
       {"guards no approval", [](Commit& c) { c.if_expired.emplace(); }},
       {"has started", [](Commit& c) { c.run_guard->seq = 0; }},
       {"opened approval", [](Commit& c) { c.rows.opened[0].tenant = TenantId("other"); }},
       {"opened approval", [](Commit& c) { c.rows.opened[0].run = kOther; }},
       {"opened approval", [](Commit& c) { c.rows.opened[0].seq = 3; }}});
}

TEST(CommitCheck, RefusesWhatOnlyAGuardedCommitMayWrite) {
  Commit other = sound();
  Commit bare;
  bare.tenant = default_tenant();
  expect_refused(
      bare, {{"without a guard", [&](Commit& c) { c.rows.run = other.rows.run; }},
             {"without a guard", [&](Commit& c) { c.rows.checkpoint = other.rows.checkpoint; }},
             {"without a guard", [&](Commit& c) { c.rows.values = other.rows.values; }},
             {"without a guard", [&](Commit& c) { c.rows.events = other.rows.events; }},
             {"without a guard", [&](Commit& c) { c.rows.opened = other.rows.opened; }},
             {"without a guard", [](Commit& c) { c.rows.ends_run = true; }},
             {"without a guard", [&](Commit& c) { c.rows.tasks = other.rows.tasks; }},
             {"without a guard",
              [&](Commit& c) { c.rows.inner_checkpoints = other.rows.inner_checkpoints; }},
             {"does not guard", [&](Commit& c) { c.rows.outbox = other.rows.outbox; }},
             {"does not guard", [](Commit& c) { c.rows.decided = question(); }},
             {"not UTF-8",
              [](Commit& c) {
                c.rows.records.push_back(record());
                c.rows.records[0].indexed = {{"field", "\xff"}};
              }},
             {"not UTF-8", [](Commit& c) {
                c.rows.records.push_back(record());
                c.rows.records[0].indexed = {{std::string("a\0b", 3), "value"}};
              }}});
}

TEST(CommitCheck, RefusesADeliveryOfAnythingButItsMessage) {
  expect_refused(
      delivery(),
      {{"new row of this message", [](Commit& c) { c.rows.outbox.clear(); }},
       {"new row of this message", [](Commit& c) { c.rows.outbox[0].run = kOther; }},
       {"new row of this message", [](Commit& c) { c.rows.outbox[0].seq = 3; }},
       {"new row of this message", [](Commit& c) { c.rows.outbox[0].index = 1; }},
       {"both a run and a message", [](Commit& c) { c.run_guard = RunGuard{1, 1, {}}; }}});
}

TEST(CommitCheck, RefusesARunThatTidiesTheStore) {
  auto preserve = [](Commit& c) { c.rows.preserve.emplace(ThreadId("t"), true); };
  expect_refused(sound(),
                 {{"must not preserve", preserve},
                  {"must not preserve", [](Commit& c) { c.rows.prune.emplace_back(); }},
                  {"must not preserve", [](Commit& c) { c.rows.rewrites.emplace_back(); }},
                  {"must not preserve", [](Commit& c) { c.rows.delete_blobs.emplace_back(); }}});
}

TEST(CommitCheck, RefusesADecisionWhoseExpiryIsNotItsOwn) {
  expect_refused(
      decision(),
      {{"does not guard", [](Commit& c) { c.approval_guard->interrupt = InterruptId(id(8)); }},
       {"does not guard", [](Commit& c) { c.approval_guard.reset(); }},
       {"for an active run", [](Commit& c) { c.approval_guard->run_is_active = true; }},
       {"guards no approval's expiry",
        [](Commit& c) {
          c.rows.decided.reset();
          c.approval_guard.reset();
        }},
       {"guards no approval's expiry",
        [](Commit& c) { c.approval_guard->expiry = ApprovalGuard::Expiry::passed; }},
       {"of different runs", [](Commit& c) { c.if_expired->run->run = kOther; }},
       {"needs a run and a checkpoint", [](Commit& c) { c.if_expired->run.reset(); }}});
}

}  // namespace
}  // namespace belay::store
