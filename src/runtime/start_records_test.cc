// Records that a start saves with the run's first commit (StartOptions::records).
#include "runtime/start_records.h"

#include "belay/collection.h"
#include "tests/support/runtime_fixture.h"
#include "tests/support/slow_store.h"

namespace belay {
namespace {

using namespace std::chrono_literals;

struct Trip {
  int steps = 0;
};

struct Ticket {
  static constexpr std::string_view collection = "tickets";
  std::string id{};
  std::string used_by{};
  std::string key() const { return id; }
  static auto indexed() { return std::tuple(); }
};

Graph<Trip> trip_graph() {
  GraphBuilder<Trip> builder{"trip"};
  builder.node("step", [](const Trip&, Context&) { return add(&Trip::steps, 1); });
  builder.edge(start, "step").edge("step", end);
  return std::move(builder).build().value();
}

struct StartRecords : RuntimeFixture {
  SlowStore slow{*store};
  std::unique_ptr<Runtime> slow_runtime =
      Runtime::open(RuntimeParts{slow, loop, clock, random, model}).value();
  Graph<Trip> trip = trip_graph();

  StartRecords() {
    runtime->add(trip);
    slow_runtime->add(trip);
    save("nobody");
  }

  static RecordWrite ticket(std::string used_by, std::optional<std::uint64_t> version = {}) {
    Ticket made;
    made.id = "t";
    made.used_by = std::move(used_by);
    RecordWrite write = record_write(made, UserId("local")).value();
    write.expected_version = version;
    return write;
  }
  void save(std::string used_by) {
    std::vector<RecordWrite> writes{ticket(std::move(used_by))};
    block_on(loop, runtime->save(default_tenant(), std::move(writes))).value();
  }
  std::optional<Versioned<Ticket>> stored() {
    auto records = runtime->records(default_tenant(), UserId("local"));
    return block_on(loop, records->get_versioned<Ticket>("t")).value();
  }
  StartOptions with_ticket(std::string used_by) {
    StartOptions options;
    options.thread = ThreadId("a");
    options.records.push_back(ticket(std::move(used_by), stored()->version));
    return options;
  }
  Result<RunView> begin(StartOptions options) {
    return block_on(loop, runtime->start(trip, Trip{}, std::move(options)));
  }
  // Starts at a process whose commits take a second, and calls `meanwhile` in the middle of it.
  Result<RunView> begin_slowly(StartOptions options, const std::function<void()>& meanwhile) {
    std::optional<Result<RunView>> started;
    slow.commits_take = 1s;
    Spawned task =
        spawn<Result<RunView>>(loop, slow_runtime->start(trip, Trip{}, std::move(options)),
                               [&started](Result<RunView> result) { started = std::move(result); });
    loop.run_until(clock.now() + 500ms);
    meanwhile();
    loop.run();
    return *std::move(started);
  }
};

TEST_F(StartRecords, AreSavedByTheFirstCommit) {
  RunView view = begin(with_ticket("a")).value();
  EXPECT_EQ(stored()->record.used_by, "a");
  RecordFilter filter;
  filter.collection = Ticket::collection;
  auto rows =
      block_on(loop, runtime->records(default_tenant(), UserId("local"))->find(std::move(filter)))
          .value();
  EXPECT_EQ(rows.at(0).run, view.row.run);
  EXPECT_EQ(rows.at(0).seq, 1u);
}

TEST_F(StartRecords, AreSavedByTheCommitThatPutsTheRunIntoItsQueue) {
  auto queued = block_on(loop, runtime->enqueue(trip, Trip{}, with_ticket("a"), clock.now() + 1h));
  ASSERT_EQ(queued.value().row.status, RunStatus::queued);
  EXPECT_EQ(stored()->record.used_by, "a");
}

TEST_F(StartRecords, AreSavedByARunThatFailsToStart) {
  StartOptions options = with_ticket("a");
  options.edit.emplace();
  options.edit->go_to.push_back({"step", "", {}});
  options.edit->values = Value::object({{"steps", 7}});
  RunView view = begin(options).value();
  EXPECT_TRUE(is_final(view.row.status));
  EXPECT_EQ(stored()->record.used_by, "a");
}

TEST_F(StartRecords, ThatWereChangedPreventTheStart) {
  StartOptions options = with_ticket("a");
  save("other");
  auto refused = begin(options);
  ASSERT_FALSE(refused.ok());
  EXPECT_EQ(refused.error().code, ErrorCode::conflict);
  EXPECT_EQ(refused.error().message,
            "The record \"t\" of the collection \"tickets\" was changed since it was read. Read it "
            "again.");
  auto queued = block_on(loop, runtime->enqueue(trip, Trip{}, options, clock.now()));
  ASSERT_FALSE(queued.ok());
  EXPECT_EQ(queued.error().code, ErrorCode::conflict);
  EXPECT_TRUE(all_runs().empty());
  EXPECT_EQ(stored()->record.used_by, "other");
}

TEST_F(StartRecords, ThatAreErasedBeforeTheCommitPreventTheStart) {
  auto refused = begin_slowly(with_ticket("a"), [this] {
    UserId user("local");
    std::vector<RecordWrite> writes{record_erasure(Ticket::collection, user, "t")};
    block_on(loop, runtime->save(default_tenant(), std::move(writes))).value();
  });
  ASSERT_FALSE(refused.ok());
  EXPECT_EQ(refused.error().code, ErrorCode::conflict);
  EXPECT_TRUE(all_runs().empty());
  EXPECT_FALSE(stored());
}

TEST_F(StartRecords, OfAStartThatFollowsAFasterOneAreSaved) {
  StartOptions other;
  other.thread = ThreadId("a");
  RunView view = begin_slowly(with_ticket("a"), [&] { ASSERT_TRUE(begin(other).ok()); }).value();
  EXPECT_EQ(view.row.ordinal, 1);
  EXPECT_EQ(stored()->record.used_by, "a");
}

TEST_F(StartRecords, AreNotSavedAgainByARepeatedRequest) {
  StartOptions options = with_ticket("a");
  options.idempotency_key = "k";
  RunView first = begin(options).value();
  save("later");
  RunView again = begin(options).value();
  EXPECT_EQ(again.row.run, first.row.run);
  EXPECT_EQ(stored()->record.used_by, "later");
}

TEST_F(StartRecords, OfTwoEqualStartsAreSavedByOneOfThem) {
  StartOptions options = with_ticket("a");
  options.idempotency_key = "k";
  RunView first;
  RunView second = begin_slowly(options, [&] { first = begin(options).value(); }).value();
  EXPECT_EQ(second.row.run, first.row.run);
  EXPECT_EQ(all_runs().size(), 1u);
}

TEST_F(StartRecords, NeedAUser) {
  StartOptions options;
  options.records.push_back(ticket("a"));
  options.records.back().user = UserId();
  auto refused = begin(options);
  ASSERT_FALSE(refused.ok());
  EXPECT_EQ(refused.error().code, ErrorCode::invalid);
}

}  // namespace
}  // namespace belay
