// A store with a Redis in front of it returns the same data as the store alone, whatever that Redis
// does.

#include <gtest/gtest.h>

#include "belay/storage.h"
#include "redis/cached_store.h"
#include "redis/checkpoint_entry.h"
#include "tests/conformance/store_suite.h"
#include "tests/redis/redis_server.h"

namespace belay::redis {
namespace {

using conformance::Caller;
using conformance::RunScript;
using tests::becomes_true;
using tests::connected;
using tests::RedisServer;

// A run as a process that continues it reads it: everything in one snapshot.
struct Loaded {
  RunRow row;
  std::optional<CheckpointRow> checkpoint;
  std::vector<ValueRow> values;
  friend bool operator==(const Loaded&, const Loaded&) = default;
};

Result<Loaded> load_in(Snapshot& view, const RunId& run) {
  Loaded loaded;
  RunFilter runs;
  runs.tenant = default_tenant();
  runs.run = run;
  BELAY_TRY(auto rows, view.runs(runs));
  if (rows.empty()) return loaded;
  loaded.row = rows.front();
  CheckpointFilter newest;
  newest.tenant = default_tenant();
  newest.run = run;
  newest.limit = 2;
  BELAY_TRY(auto checkpoints, view.checkpoints(newest));
  if (checkpoints.empty()) return loaded;
  loaded.checkpoint = checkpoints.front();
  ValueFilter values;
  values.tenant = default_tenant();
  values.run = run;
  values.at_seq = checkpoints.front().state_seq;
  values.checkpoint_ns = "";
  BELAY_TRY(loaded.values, view.values(values));
  return loaded;
}

class CachedStoreTest : public ::testing::Test {
 protected:
  Loaded load(Store& store, const RunId& run) {
    std::function<Result<Loaded>(Snapshot&)> reader = [run](Snapshot& view) {
      return load_in(view, run);
    };
    return block_on(*loop_, read<Loaded>(store, std::move(reader))).value();
  }
  void commit(Store& store, Commit wanted) {
    Caller call(store);
    ASSERT_EQ(call.commit(std::move(wanted)), CommitOutcome::applied);
  }
  // Waits until Redis has the entry of the run's newest commit.
  void wait_for_hit(const RunId& run) {
    EXPECT_TRUE(becomes_true([&] {
      auto before = cache_counts(*cached_).hits;
      load(*cached_, run);
      return cache_counts(*cached_).hits > before;
    }));
  }
  void expect_the_same(const RunId& run) {
    EXPECT_EQ(load(*cached_, run), load(*bare_, run));
    EXPECT_EQ(Caller(*cached_).all(), Caller(*bare_).all());
  }
  std::string key_of(const RunScript& script) { return client_->name(checkpoint_key(script.row)); }
  std::string entry_of(const RunScript& script) {
    return client_->call_and_wait({"GET", key_of(script)}).value().text;
  }

  RedisServer server_;
  conformance::StandingClock clock_;
  conformance::SeededRandom random_;
  std::unique_ptr<EventLoop> loop_ = make_event_loop();
  std::unique_ptr<Client> client_ = connected(server_.url(), random_);
  std::unique_ptr<Store> bare_ = open_memory_store(clock_, random_);
  std::unique_ptr<Store> cached_ = cache_store(*bare_, *client_);
};

TEST_F(CachedStoreTest, ReadsWhatTheStoreHasAlsoFromRedis) {
  RunScript script("a");
  commit(*cached_, script.first());
  wait_for_hit(script.row.run);
  expect_the_same(script.row.run);
  for (int i = 0; i < 5; ++i) {
    commit(*cached_,
           script.next_with({{"text"}, {"list", WriteOp::append}, {"list", WriteOp::append, 1}}));
    wait_for_hit(script.row.run);
    expect_the_same(script.row.run);
  }
  EXPECT_FALSE(load(*cached_, script.row.run).values.empty());
  auto ttl = client_->call_and_wait({"TTL", key_of(script)}).value().number;
  EXPECT_GT(ttl, 6 * 24 * 3'600);
  EXPECT_LE(ttl, 7 * 24 * 3'600);
}

TEST_F(CachedStoreTest, TakesNothingThatIsOldOrChangedOrOfAnotherRun) {
  RunScript script("a");
  RunScript other("b");
  commit(*cached_, script.first());
  wait_for_hit(script.row.run);
  std::string old = entry_of(script);
  commit(*cached_, other.first());
  wait_for_hit(other.row.run);
  std::string of_other = entry_of(other);
  commit(*cached_, script.next());
  wait_for_hit(script.row.run);
  std::string good = entry_of(script);
  std::vector<std::string> lies{"",
                                "x",
                                "BLY1",
                                old,
                                of_other,
                                good + "x",
                                good.substr(0, good.size() - 1),
                                std::string(100'000, '\xff')};
  for (std::size_t at = 0; at < good.size(); at += 7) {
    lies.push_back(good);
    lies.back()[at] ^= 0x20;
  }
  for (const std::string& lie : lies) {
    ASSERT_TRUE(client_->call_and_wait({"SET", key_of(script), lie}).ok());
    auto before = cache_counts(*cached_);
    ASSERT_EQ(load(*cached_, script.row.run), load(*bare_, script.row.run));
    auto after = cache_counts(*cached_);
    ASSERT_EQ(after.hits, before.hits);
    ASSERT_EQ(after.misses, before.misses + 1);
  }
  ASSERT_TRUE(client_->call_and_wait({"DEL", key_of(script)}).ok());
  ASSERT_TRUE(client_->call_and_wait({"LPUSH", key_of(script), "of another kind"}).ok());
  expect_the_same(script.row.run);
  commit(*cached_, script.next());
  wait_for_hit(script.row.run);
  expect_the_same(script.row.run);
}

// An attacker with access to Redis but not to the store cannot forge values that are accepted.
TEST_F(CachedStoreTest, TakesNoValuesThatWereMadeUpWithTheRightHead) {
  RunScript script("a");
  commit(*cached_, script.first());
  commit(*cached_, script.next());
  wait_for_hit(script.row.run);
  auto truth = load(*bare_, script.row.run);
  CheckpointRow guessed = *truth.checkpoint;
  guessed.chain_hash = sha256("a guess");
  auto values = truth.values;
  values.front().envelope = json_envelope("\"forged\"");
  std::string forged = checkpoint_entry(guessed, values);
  ASSERT_TRUE(client_->call_and_wait({"SET", key_of(script), forged}).ok());
  EXPECT_EQ(load(*cached_, script.row.run), truth);
}

TEST_F(CachedStoreTest, GoesOnWithoutARedis) {
  RunScript script("a");
  commit(*cached_, script.first());
  wait_for_hit(script.row.run);
  ASSERT_TRUE(client_->call_and_wait({"FLUSHALL"}).ok());
  expect_the_same(script.row.run);
  server_.kill();
  commit(*cached_, script.next());
  expect_the_same(script.row.run);
  server_.start();
  ASSERT_TRUE(becomes_true([&] { return client_->is_up(); }));
  expect_the_same(script.row.run);
  commit(*cached_, script.next());
  wait_for_hit(script.row.run);
  expect_the_same(script.row.run);
}

TEST_F(CachedStoreTest, KeepsNothingOfARunThatHasEnded) {
  RunScript script("a");
  commit(*cached_, script.first());
  wait_for_hit(script.row.run);
  ASSERT_FALSE(entry_of(script).empty());
  EXPECT_EQ(key_of(script),
            client_->name("checkpoint:" + script.row.thread.text + ":" + script.row.graph));
  Commit last = script.next();
  last.rows.run->status = last.rows.checkpoint->status = RunStatus::completed;
  commit(*cached_, std::move(last));
  EXPECT_TRUE(becomes_true([&] { return entry_of(script).empty(); }));
  expect_the_same(script.row.run);
}

TEST_F(CachedStoreTest, AnyHistoryLooksTheSame) {
  for (int seed = 0; seed < 12; ++seed) {
    RunScript script("run-" + std::to_string(seed));
    commit(*cached_, script.first());
    for (int i = 0; i < 12; ++i) {
      switch (random_.bits() % 5) {
        case 0:
          commit(*cached_, script.next());
          break;
        case 1:
          commit(*cached_, script.next_with({{"text", WriteOp::append}, {"more"}}));
          break;
        case 2:
          commit(*cached_, script.next_with({{"count", WriteOp::add}, {"of", WriteOp::merge}}));
          break;
        case 3:
          commit(*cached_, script.pending({{"text", WriteOp::append, i + 1}}));
          break;
        default:
          ASSERT_TRUE(random_.bits() % 2 || client_->call_and_wait({"FLUSHALL"}).ok());
      }
      ASSERT_EQ(load(*cached_, script.row.run), load(*bare_, script.row.run)) << seed << " " << i;
    }
  }
  EXPECT_EQ(Caller(*cached_).all(), Caller(*bare_).all());
  EXPECT_GT(cache_counts(*cached_).puts, 0u);
}

TEST_F(CachedStoreTest, BelowSealingKeepsNothingInPlain) {
  EncryptionOptions encryption;
  encryption.keys = KeyRing::from_text("key:" + std::string(64, 'a')).value();
  auto sealed = make_encrypted_store(*cached_, random_, encryption);
  RunScript script("a");
  Commit first = script.first();
  first.rows.values = {script.value({"text"}, 1)};
  first.rows.values.front().envelope = json_envelope("\"a secret\"");
  commit(*sealed, std::move(first));
  wait_for_hit(script.row.run);
  EXPECT_EQ(entry_of(script).find("a secret"), std::string::npos);
  auto loaded = load(*sealed, script.row.run);
  ASSERT_EQ(loaded.values.size(), 1u);
  EXPECT_EQ(loaded.values.front().envelope, json_envelope("\"a secret\""));
}

}  // namespace
}  // namespace belay::redis
