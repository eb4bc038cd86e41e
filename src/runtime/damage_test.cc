// Tests damaged stored bytes: typed errors, a quarantined run with its reason, and other runs that
// continue. Damaged data is never used.
// Long on purpose: one test for each kind of damage, with the readers that detect it.

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <set>

#include "belay/storage.h"
#include "store/forwarding_snapshot.h"
#include "store/forwarding_store.h"
#include "tests/support/crashing_store_fixture.h"

namespace belay {
namespace {

using namespace std::chrono_literals;
using ::testing::HasSubstr;

struct Case {
  std::string name{};
  std::string text{};
  std::vector<std::string> log{};
  std::map<std::string, int> table{};
};

struct Filed {
  static constexpr std::string_view collection = "filed";
  std::string name{};
  std::string key() const { return name; }
  static auto indexed() { return std::tuple{&Filed::name}; }
};

Graph<Case> inner_graph() {
  GraphBuilder<Case> graph{"inner"};
  graph.node("note", [](const Case& state, Context&) {
    return append(&Case::log, "inside " + state.name);
  });
  graph.wait("rest", 2h);
  graph.node("close", [](const Case&, Context&) { return append(&Case::log, "closed"); });
  graph.edge(start, "note").edge("note", "rest").edge("rest", "close").edge("close", end);
  return std::move(graph).build().value();
}

// A run with every kind of stored data: values, large values, increments, records, messages,
// effects, approvals, completed and waiting tasks, and a subgraph in progress.
Graph<Case> case_graph() {
  GraphBuilder<Case> graph{"case"};
  graph.node("open", [](const Case& state, Context& context) {
    context.save(Filed{state.name});
    context.publish("opened", Value(state.name));
    std::string paid = context.keyed_effect("pay", [&] { return "paid by " + state.name; });
    return set(&Case::text, paid + std::string(600, state.name[0]))
        .append(&Case::log, "open")
        .merge(&Case::table, "open", 1);
  });
  graph.node("quick", [](const Case&, Context& context) {
    context.publish("quick", Value(true));
    return append(&Case::log, "quick").merge(&Case::table, "quick", 2);
  });
  graph.wait("nap", 1h);
  graph.approval("review", &Case::text, {.question = "So?", .expires = 24h})
      .approved("last")
      .rejected("last");
  graph.subgraph(
      "inside", inner_graph(),
      [](const Case& state) {
        Case inner;
        inner.name = state.name;
        return inner;
      },
      [](const Case& inner) { return append(&Case::log, inner.log.at(0)); });
  graph.node("last", [](const Case&, Context&) { return append(&Case::log, "last"); });
  graph.edge(start, "open");
  for (std::string name : {"quick", "nap", "review", "inside"}) graph.edge("open", name);
  graph.edge("quick", end).edge("nap", end).edge("inside", end).edge("last", end);
  return std::move(graph).build().value();
}

// Changes the checkpoints that reads return, and drops those whose run id the change clears.
class ShownStore final : public ForwardingStore {
 public:
  using Change = std::function<void(CheckpointRow&)>;
  ShownStore(Store& inner, Change change) : ForwardingStore(inner), change_(std::move(change)) {}
  Task<Result<Done>> read(Reader reader) override {
    return inner().read([change = change_, reader = std::move(reader)](Snapshot& view) {
      Shown shown(view, change);
      return reader(shown);
    });
  }

 private:
  class Shown final : public ForwardingSnapshot {
   public:
    Shown(Snapshot& inner, const Change& change) : ForwardingSnapshot(inner), change_(change) {}
    Result<std::vector<CheckpointRow>> checkpoints(const CheckpointFilter& filter) override {
      BELAY_TRY(auto rows, inner().checkpoints(filter));
      for (CheckpointRow& row : rows) change_(row);
      std::erase_if(rows, [](const CheckpointRow& row) { return row.run.is_null(); });
      return rows;
    }

   private:
    const Change& change_;
  };

  Change change_;
};

EncryptionOptions encryption_with(char digit) {
  EncryptionOptions encryption;
  encryption.keys = KeyRing::from_text("k1:" + std::string(64, digit) + "\n").value();
  encryption.blob_above = 256;
  return encryption;
}

// Two threads of one graph, paused within a superstep, in an encrypted store.
struct Cases : CrashingStoreFixture {
  Graph<Case> graph = case_graph();
  std::unique_ptr<Store> sealed = make_encrypted_store(*kept, random, encryption_with('a'));

  Cases() {
    for (std::string name : {"ana", "bob"}) {
      auto runtime = over(*sealed);
      StartOptions options;
      options.thread = ThreadId(name);
      Case begun;
      begun.name = name;
      auto view = block_on(loop, runtime->start(graph, std::move(begun), options)).value();
      EXPECT_EQ(view.row.status, RunStatus::paused) << view.row.error;
    }
  }
  void TestBody() override {}

  std::unique_ptr<Runtime> over(Store& shown) {
    auto runtime = Runtime::open(RuntimeParts{shown, loop, clock, random, model}).value();
    runtime->add(graph);
    return runtime;
  }

  void work(Store& shown, std::chrono::hours time = 48h) {
    auto runtime = over(shown);
    std::optional<Result<std::size_t>> ended;
    Spawned working;
    loop.post([&] {
      working = spawn<Result<std::size_t>>(
          loop, runtime->run_worker(WorkerOptions{.poll_interval = 1min, .retry_delay_max = 1h}),
          [&](Result<std::size_t> count) { ended = std::move(count); });
    });
    loop.run_until(clock.now() + time);
    EXPECT_FALSE(ended) << "work() goes on whatever it finds";
  }

  std::vector<StoredEnvelope> envelopes() {
    std::function<Result<std::vector<StoredEnvelope>>(Snapshot&)> reader = [](Snapshot& view) {
      return view.envelopes(EnvelopeFilter{.tenant = default_tenant()});
    };
    return block_on(loop, read<std::vector<StoredEnvelope>>(*kept, std::move(reader))).value();
  }

  void overwrite(const StoredEnvelope& stored, std::string bytes) {
    Commit commit;
    commit.tenant = default_tenant();
    commit.rows.rewrites.push_back({stored.position, sha256(stored.envelope), std::move(bytes)});
    ASSERT_EQ(block_on(loop, kept->commit(std::move(commit))).value(), CommitOutcome::applied);
  }

  // Reads the runs as a page of many rows: damage of a row does not affect the others.
  std::map<std::string, RunRow> rows() {
    std::function<Result<std::vector<RunRow>>(Snapshot&)> reader = [](Snapshot& view) {
      return view.runs(RunFilter{.tenant = default_tenant()});
    };
    std::map<std::string, RunRow> by_thread;
    auto found = block_on(loop, read<std::vector<RunRow>>(*sealed, std::move(reader))).value();
    for (RunRow& row : found) by_thread[row.thread.text] = row;
    return by_thread;
  }

  std::string end_of(const std::string& thread) {
    auto runtime = over(*sealed);
    auto view = block_on(loop, runtime->status(default_tenant(), ThreadId(thread)));
    return view.ok() ? to_json(view->state["log"]) : std::string(name_of(view.error().code));
  }
};

std::string expected_log(const std::string& name) {
  return R"(["open","quick","inside )" + name + R"(","last"])";
}

// Returns the envelope with one changed bit, in its data or its header.
std::string with_flipped_bit(std::string envelope, std::size_t place) {
  envelope.at(place) = static_cast<char>(envelope.at(place) ^ 0x10);
  return envelope;
}

std::size_t header_of(const std::string& envelope) {
  return 4 + static_cast<unsigned char>(envelope.at(0));
}

TEST(Damage, OfNothingEachRunComesToItsEnd) {
  Cases world;
  world.work(*world.sealed);
  for (const auto& [thread, row] : world.rows()) {
    EXPECT_EQ(row.status, RunStatus::completed) << row.reason;
    EXPECT_EQ(world.end_of(thread), expected_log(thread));
  }
}

TEST(Damage, OfAnyStoredEnvelopeIsCorruptAndQuarantinesItsRunAlone) {
  std::size_t count = Cases().envelopes().size();
  ASSERT_GE(count, 30u);
  std::set<std::string> kinds;  // of data without which a run could not continue
  for (std::size_t i = 0; i < count; ++i) {
    Cases world;
    StoredEnvelope stored = world.envelopes().at(i);
    std::size_t header = header_of(stored.envelope);
    std::size_t place = header + (stored.envelope.size() - header) * (i % 3) / 3;
    world.overwrite(stored, with_flipped_bit(stored.envelope, place));
    auto seals = block_on(world.loop, inspect_encryption(*world.kept, world.random,
                                                         encryption_with('a'), default_tenant()));
    EXPECT_GE(seals.value().unreadable, 1u) << stored.subject;
    world.work(*world.sealed);
    int quarantined = 0;
    for (const auto& [thread, row] : world.rows()) {
      if (row.status == RunStatus::quarantined) {
        ++quarantined;
        EXPECT_FALSE(row.reason.empty()) << stored.subject;
        EXPECT_EQ(world.end_of(thread), "corrupt") << stored.subject;
        kinds.insert(stored.subject.substr(0, stored.subject.find(' ')));
        continue;
      }
      EXPECT_EQ(row.status, RunStatus::completed) << stored.subject << ": " << row.error;
      std::string log = world.end_of(thread);
      EXPECT_TRUE(log == expected_log(thread) || log == "corrupt") << stored.subject << log;
    }
    EXPECT_LE(quarantined, 1) << stored.subject;
  }
  EXPECT_GE(kinds.size(), 4u) << "inputs, values, tasks and payloads each stop their run";
}

TEST(Damage, OfAnEnvelopesHeaderStopsItsRunAlone) {
  std::size_t count = Cases().envelopes().size();
  for (std::size_t i = 0; i < count; ++i) {
    Cases world;
    StoredEnvelope stored = world.envelopes().at(i);
    // The flipped bit is not in the key id: if no envelope has a known key, the store reports a
    // wrong key ring instead.
    std::size_t header = header_of(stored.envelope) - std::string_view("k1").size();
    world.overwrite(stored, with_flipped_bit(stored.envelope, i % header));
    world.work(*world.sealed);
    int ended = 0;
    for (const auto& [thread, row] : world.rows()) {
      if (row.status != RunStatus::completed) continue;
      ++ended;
      std::string log = world.end_of(thread);
      EXPECT_TRUE(log == expected_log(thread) || log == "corrupt" || log == "invalid") << log;
    }
    EXPECT_GE(ended, 1) << stored.subject;
  }
}

TEST(Damage, OfACheckpointQuarantinesItsRunAlone) {
  std::vector<std::function<void(CheckpointRow&)>> changes = {
      [](CheckpointRow& row) { row.chain_hash[3] ^= 0x10; },
      [](CheckpointRow& row) { row.epoch ^= 0x10; },
      [](CheckpointRow& row) { row.next_tasks.at(row.next_tasks.size() / 2) ^= 0x10; },
      [](CheckpointRow& row) { row.next_tasks = "["; },
  };
  for (std::size_t i = 0; i < changes.size(); ++i) {
    Cases world;
    RunId damaged = world.rows().at("ana").run;
    ShownStore shown(*world.sealed, [damaged, change = changes[i]](CheckpointRow& row) {
      if (row.run == damaged && row.checkpoint_ns.empty()) change(row);
    });
    world.work(shown);
    auto rows = world.rows();
    EXPECT_EQ(rows.at("ana").status, RunStatus::quarantined) << i;
    EXPECT_THAT(rows.at("ana").reason, HasSubstr("belay check")) << i;
    EXPECT_EQ(rows.at("bob").status, RunStatus::completed) << i;
  }
}

// If there is no commit that the quarantine could follow, the run is left unchanged.
TEST(Damage, OfAllCommitsOfARunLeavesItAsItIsAndHoldsUpNoOther) {
  Cases world;
  RunRow damaged = world.rows().at("ana");
  ShownStore shown(*world.sealed, [run = damaged.run](CheckpointRow& row) {
    if (row.run == run) row.run = RunId();
  });
  world.work(shown);
  auto rows = world.rows();
  EXPECT_EQ(rows.at("ana"), damaged);
  EXPECT_EQ(rows.at("bob").status, RunStatus::completed);
}

TEST(Damage, OfOneRunHoldsUpNothingElseThatIsDue) {
  Cases world;
  RunId damaged = world.rows().at("ana").run;
  ShownStore shown(*world.sealed, [damaged](CheckpointRow& row) {
    if (row.run == damaged) row.chain_hash[0] ^= 1;
  });
  world.clock.move(25h);
  auto runtime = world.over(shown);
  auto applied = block_on(world.loop, runtime->process_due(default_tenant()));
  ASSERT_TRUE(applied.ok()) << applied.error().message;
  EXPECT_GE(applied->total(), 1u);
  EXPECT_EQ(world.rows().at("ana").status, RunStatus::quarantined);
  EXPECT_EQ(world.rows().at("bob").status, RunStatus::completed);
}

TEST(Damage, AWrongOrMissingKeyIsNamedAndChangesNothing) {
  for (bool is_missing : {true, false}) {
    Cases world;
    auto before = world.rows();
    auto other = make_encrypted_store(*world.kept, world.random,
                                      is_missing ? EncryptionOptions{} : encryption_with('b'));
    auto runtime = world.over(*other);
    auto refused = block_on(world.loop, runtime->resume(default_tenant(), ThreadId("ana")));
    ASSERT_FALSE(refused.ok());
    EXPECT_EQ(refused.error().code, ErrorCode::invalid) << refused.error().message;
    EXPECT_THAT(refused.error().message, HasSubstr("k1"));
    auto interrupt = InterruptId(derived_uuid("none"));
    EXPECT_FALSE(block_on(world.loop, runtime->decide(default_tenant(), interrupt, {})).ok());
    EXPECT_EQ(world.rows(), before);
    world.work(*world.sealed);
    EXPECT_EQ(world.end_of("ana"), expected_log("ana"));
  }
}

TEST(Damage, AQuarantinedRunTakesNoDecision) {
  Cases world;
  auto runtime = world.over(*world.sealed);
  auto paused = block_on(world.loop, runtime->status(default_tenant(), ThreadId("ana"))).value();
  ASSERT_TRUE(paused.approval);
  RunId damaged = paused.row.run;
  ShownStore shown(*world.sealed, [damaged](CheckpointRow& row) {
    if (row.run == damaged) row.chain_hash[0] ^= 1;
  });
  world.work(shown, 2h);
  ASSERT_EQ(world.rows().at("ana").status, RunStatus::quarantined);
  Decision decision;
  decision.approved = true;
  decision.decided_by = "ana";
  auto refused = block_on(world.loop, runtime->decide(default_tenant(), paused.approval->interrupt,
                                                      std::move(decision)));
  ASSERT_FALSE(refused.ok());
  EXPECT_TRUE(refused.error().code == ErrorCode::conflict ||
              refused.error().code == ErrorCode::corrupt)
      << refused.error().message;
}

}  // namespace
}  // namespace belay
