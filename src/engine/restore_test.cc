#include "engine/restore.h"
#include "engine/run_factory.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "engine/advance.h"
#include "engine/checkpoint.h"
#include "engine/next_task.h"

namespace belay::engine {
namespace {

using ::testing::HasSubstr;

struct Inner {
  int known = 0;
};
struct State {
  std::string text{};
  int count = 7;
  Inner inner{};
};

Update<State> pass(const State&, Context&) { return unchanged<State>(); }

std::shared_ptr<const GraphDefinition> two_nodes(std::string_view second = "b") {
  GraphBuilder<State> graph{"two"};
  graph.node("a", pass);
  graph.node(second, pass);
  graph.edge(start, "a").edge("a", second).edge(second, end);
  return std::move(graph).build().value().definition();
}

// The stored rows of a run with two commits.
struct Stored : ::testing::Test {
  std::shared_ptr<const GraphDefinition> graph = two_nodes();
  StoredRun stored = make();

  StoredRun make() {
    RunRow row;
    row.tenant = default_tenant();
    row.run = RunId(derived_uuid("run"));
    row.thread = ThreadId("t");
    auto input = std::make_shared<State>();
    input->count = 9;
    engine::Run run = new_run(*graph, row, {}, input).value();
    StoredRun found;
    Moment moment{*instant_from("2026-11-21T12:00:00Z"), 5};
    auto first = advance(*graph, std::move(run), Started{moment});
    found.first = std::get<WriteCommit>(first.actions[0]).commit->rows.checkpoint;
    found.parent_chain_hash = found.first->chain_hash;
    auto started = advance(*graph, std::move(first.run), Committed{moment});
    NodeEnded ended;
    ended.moment = moment;
    ended.of.task = started.run.tasks.front().id;
    ended.answer = set(&State::text, "hello").take_update();
    auto second = advance(*graph, std::move(started.run), ended);
    Commit commit = *std::get<WriteCommit>(second.actions[0]).commit;
    found.row = *commit.rows.run;
    found.checkpoint = *commit.rows.checkpoint;
    found.values = commit.rows.values;
    return found;
  }
};

TEST_F(Stored, ARunComesBackAsItWas) {
  engine::Run run = restore(*graph, stored).value();
  const State& state = *static_cast<const State*>(run.state.get());
  EXPECT_EQ(state.text, "hello");
  EXPECT_EQ(state.count, 9);
  EXPECT_EQ(run.tasks.front().node->name, "b");
  EXPECT_EQ(run.superstep, 2);
  EXPECT_EQ(run.chain_hash, stored.checkpoint.chain_hash);
  EXPECT_EQ(to_json(state_value(*graph, stored, run)),
            R"({"count":9,"inner":{"known":0},"text":"hello"})");
}

TEST_F(Stored, AChangedValueDoesNotFitTheChain) {
  stored.values[0].envelope = json_envelope(R"("hullo")");
  auto run = restore(*graph, stored);
  ASSERT_FALSE(run.ok());
  EXPECT_EQ(run.error().code, ErrorCode::corrupt);
  EXPECT_THAT(run.error().message, HasSubstr("chain hash"));
}

// No node has written `count`: only the input contains its value.
TEST_F(Stored, AChangedInputDoesNotFitTheFirstCommit) {
  stored.row.input = json_envelope(R"({"count":8,"inner":{"known":0},"text":""})");
  auto refused = restore(*graph, stored);
  EXPECT_EQ(refused.error().code, ErrorCode::corrupt);
  EXPECT_THAT(refused.error().message, HasSubstr("input"));
}

TEST_F(Stored, AChangedPlanOrEpochDoesNotFitTheChain) {
  StoredRun other = stored;
  other.checkpoint.next_tasks = R"([{"node":"a","superstep":2}])";
  EXPECT_EQ(restore(*graph, other).error().code, ErrorCode::corrupt);
  other = stored;
  other.checkpoint.epoch = 4;
  EXPECT_EQ(restore(*graph, other).error().code, ErrorCode::corrupt);
}

TEST_F(Stored, ALostValueDoesNotFitTheChain) {
  stored.values.clear();
  EXPECT_EQ(restore(*graph, stored).error().code, ErrorCode::corrupt);
}

// The valid chain hash for the current values, whatever else a test has changed.
Digest fitting_hash(const StoredRun& stored) {
  ChannelVersion text;
  text.name = stored.values[0].channel;
  text.seq = stored.values[0].seq;
  text.hash = sha256(*json_in_envelope(stored.values[0].envelope));
  return chain_hash(stored.parent_chain_hash, stored.checkpoint, {text});
}

TEST_F(Stored, AJoinThatTheGraphNoLongerHasHoldsNothingUp) {
  stored.checkpoint.next_tasks = R"([{"node":"b","superstep":2},{"join":7,"seen":["a"]}])";
  stored.checkpoint.chain_hash = fitting_hash(stored);
  engine::Run run = restore(*graph, stored).value();
  EXPECT_TRUE(run.joins.empty());
  Moment moment{*instant_from("2026-11-21T13:00:00Z"), 6};
  auto taken = advance(*graph, std::move(run), Claimed{moment, SessionId(derived_uuid("s"))});
  auto started = advance(*graph, std::move(taken.run), Committed{moment});
  NodeEnded ended;
  ended.moment = moment;
  ended.of.task = started.run.tasks.front().id;
  auto last = advance(*graph, std::move(started.run), ended);
  EXPECT_EQ(last.run.row.status, RunStatus::completed) << last.run.row.error;
}

TEST_F(Stored, AnAttemptThatIsNoNumberOfOneIsDamage) {
  for (std::string attempt : {"0", "-1", "4294967298"}) {
    auto read = next_tasks_from(R"([{"node":"b","attempt":)" + attempt + "}]");
    ASSERT_FALSE(read.ok()) << attempt;
    EXPECT_EQ(read.error().code, ErrorCode::corrupt);
  }
}

TEST_F(Stored, AMissingMemberTakesItsDefaultAndAnUnknownOneIsKept) {
  ValueRow row = stored.values[0];
  row.channel = "inner";
  row.envelope = json_envelope(R"({"known":3,"newer":[1]})");
  ValueRow newer = stored.values[0];
  newer.channel = "newerChannel";
  newer.envelope = json_envelope("true");
  stored.values.push_back(row);
  stored.values.push_back(newer);
  std::vector<ChannelVersion> versions;
  for (const ValueRow& value : stored.values) {
    ChannelVersion version;
    version.name = value.channel;
    version.seq = value.seq;
    version.hash = sha256(*json_in_envelope(value.envelope));
    versions.push_back(version);
  }
  std::sort(versions.begin(), versions.end(),
            [](const auto& left, const auto& right) { return left.name < right.name; });
  stored.checkpoint.chain_hash = chain_hash(stored.parent_chain_hash, stored.checkpoint, versions);
  auto restored = restore(*graph, stored);
  ASSERT_TRUE(restored.ok()) << restored.error().message;
  Value state = state_value(*graph, stored, *restored);
  EXPECT_EQ(state["newerChannel"], Value(true));

  restored->tasks.front().phase = NodeTask::Phase::running;
  restored->running = 1;
  NodeEnded ended;
  ended.moment = Moment{restored->row.updated_at, 6};
  ended.of.task = restored->tasks.front().id;
  ended.answer = set(&State::inner, Inner{4}).take_update();
  auto next = advance(*graph, *std::move(restored), ended);
  const Commit& commit = *std::get<WriteCommit>(next.actions[0]).commit;
  ASSERT_EQ(commit.rows.values.size(), 1u);
  EXPECT_EQ(*json_in_envelope(commit.rows.values[0].envelope), R"({"known":4,"newer":[1]})");
}

TEST_F(Stored, AGraphWithoutTheNextNodeCantCarryItOn) {
  auto other = two_nodes("c");
  auto run = restore(*other, stored);
  ASSERT_FALSE(run.ok());
  EXPECT_EQ(run.error().code, ErrorCode::invalid);
  EXPECT_THAT(run.error().message, HasSubstr("\"b\""));
}

TEST_F(Stored, ANewerEnvelopeIsRefusedAsSuch) {
  std::string envelope("\x09\0\0\0json+zstdxxxx", 17);
  stored.values[0].envelope = envelope;
  EXPECT_EQ(restore(*graph, stored).error().code, ErrorCode::invalid);
  stored.values[0].envelope = "\x01";
  EXPECT_EQ(restore(*graph, stored).error().code, ErrorCode::corrupt);
}

TEST(NextTasks, AreReadAsTheyAreWritten) {
  GraphDefinition::Node fetch;
  fetch.name = "fetch \"it\"";
  engine::Run run;
  run.superstep = 12;
  run.tasks.reserve(2);
  NodeTask& task = run.tasks.emplace_back();
  task.node = &fetch;
  task.attempt = 3;
  task.phase = NodeTask::Phase::backing_off;
  task.due = *instant_from("2026-11-21T12:00:00.5Z");
  task.previous_error = error(ErrorCode::unavailable, "busy\nvery");
  task.question = "q";
  InterruptResponse answer;
  answer.approved = true;
  answer.payload = Value(3);
  answer.decided_by = "ana";
  task.answers.emplace_back("key", answer);
  NodeTask& sent = run.tasks.emplace_back();
  sent.node = &fetch;
  sent.input = std::make_shared<const std::string>(R"({"url":"a"})");
  run.joins[2] = {"left"};
  run.at_breakpoint = true;
  auto read = next_tasks_from(next_tasks_text(run, true));
  ASSERT_TRUE(read.ok()) << read.error().message;
  EXPECT_EQ(read->superstep, 12);
  ASSERT_EQ(read->tasks.size(), 2u);
  EXPECT_EQ(read->nodes[0], fetch.name);
  EXPECT_EQ(read->tasks[0].attempt, 3);
  EXPECT_EQ(read->tasks[0].phase, NodeTask::Phase::backing_off);
  EXPECT_EQ(read->tasks[0].due, task.due);
  EXPECT_EQ(read->tasks[0].previous_error, task.previous_error);
  EXPECT_EQ(read->tasks[0].answers.at(0).second.payload, Value(3));
  EXPECT_EQ(*read->tasks[1].input, *sent.input);
  EXPECT_EQ(read->joins, run.joins);
  EXPECT_TRUE(read->at_breakpoint);
  run.tasks_seq = 7;
  EXPECT_EQ(next_tasks_from(next_tasks_text(run, false))->as_of, 7u);
}

TEST(NextTasks, ThatAreDamagedAreRefused) {
  for (std::string_view text :
       {"", "{}", "[1]", R"([{"node":1,"superstep":1}])",
        R"([{"node":"a","superstep":1,"due":"soon"}])", R"([{"node":"a","superstep":1},{}])"}) {
    EXPECT_EQ(next_tasks_from(text).error().code, ErrorCode::corrupt) << text;
  }
  EXPECT_TRUE(next_tasks_from("[]")->tasks.empty());
}

// The bytes that the chain hash is computed from are a stored format: each number and text of a
// checkpoint, in this order.
TEST(ChainHashes, AreOfTheStoredFormat) {
  auto word = [](std::uint64_t number) {
    std::string bytes;
    for (int i = 0; i < 8; ++i) bytes += static_cast<char>(number >> (8 * i));
    return bytes;
  };
  auto text = [&](const std::string& of) { return word(of.size()) + of; };
  Digest parent, value;
  parent.fill('p');
  value.fill('v');
  CheckpointRow row;
  row.seq = 5;
  row.state_seq = 3;
  row.epoch = 7;
  row.next_tasks = "[]";
  ChannelVersion written;
  written.name = "log";
  written.seq = 2;
  written.hash = value;
  ChannelVersion unwritten;
  unwritten.name = "never";
  std::string bytes = std::string(32, 'p') + word(5) + word(7) + word(3) + text("[]") +
                      text("log") + word(2) + std::string(32, 'v');
  EXPECT_EQ(chain_hash(parent, row, {written, unwritten}), sha256(bytes));
  row.state_seq = row.seq;
  bytes = std::string(32, 'p') + word(5) + word(7) + text("[]");
  EXPECT_EQ(chain_hash(parent, row, {unwritten}), sha256(bytes));
}

}  // namespace
}  // namespace belay::engine
