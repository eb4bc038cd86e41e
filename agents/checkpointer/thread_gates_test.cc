// Saves and removals of one thread at the same time.

#include "agents/checkpointer/thread_gates.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <set>

#include "agents/checkpointer/checkpointer_fixture.h"
#include "service/local_service.h"
#include "store/forwarding_store.h"

namespace belay::checkpointer {
namespace {

using ::testing::ElementsAre;
using ::testing::IsSubsetOf;

std::unique_ptr<Service> service_of_gates(Store& store, Runtime& runtime, EventLoop& loop,
                                          Clock& clock, Random& random) {
  return make_local_service({store, store, runtime, loop, clock, random, {}, {}, {}});
}

// Waits for a random time before each call.
class PausingStore final : public ForwardingStore {
 public:
  PausingStore(Store& inner, Random& random) : ForwardingStore(inner), random_(random) {}
  Task<Result<CommitOutcome>> commit(Commit commit) override {
    co_await sleep_for(pause());
    co_return co_await inner().commit(std::move(commit));
  }
  Task<Result<Done>> read(Reader reader) override {
    co_await sleep_for(pause());
    co_return co_await inner().read(std::move(reader));
  }

 private:
  std::chrono::microseconds pause() { return std::chrono::microseconds(random_.bits() % 1'000); }

  Random& random_;
};

// A put, and the one that the client sends if the first conflicts.
struct ClientPut {
  PutBody changes, whole;
};

// Checkpoint `number` of a line: its channel "a" changes in each, and is stored as a change of the
// one before; "b" never changes.
ClientPut put_in_line(int number) {
  std::string id = std::to_string(number), before = std::to_string(number - 1);
  std::optional<std::string> parent;
  if (number > 1) parent = before;
  ClientPut put{put_of("t", id, parent), put_of("t", id, parent)};
  put.changes.search = put.whole.search = Value::object({{"run_id", "run-" + id}});
  add_channel(put.whole, "a", id, std::string("QQ=="));
  add_channel(put.whole, "b", "1", std::string("Qg=="));
  add_channel(put.changes, "a", id, std::string("QQ=="));
  add_channel(put.changes, "b", "1", std::nullopt);
  if (number == 1) put.changes = put.whole;
  if (number > 1) put.changes.blobs[0].base = put.changes.blobs[0].baseCheckpointId = before;
  return put;
}

Task<Result<Done>> put_as_client(CheckpointAccess at, ClientPut put) {
  PutBody body = put.changes;
  for (int attempt = 0; attempt < 100; ++attempt) {
    auto saved = co_await put_checkpoint(at, body);
    if (saved.ok()) co_return std::move(saved);
    if (saved.error().code == ErrorCode::conflict) body = put.whole;
    if (saved.error().code != ErrorCode::conflict && saved.error().code != ErrorCode::unavailable) {
      co_return std::move(saved);
    }
    co_await sleep_for(saved.error().retry_after.value_or(std::chrono::milliseconds(1)));
  }
  co_return error(ErrorCode::unavailable, "The put was repeated too often.");
}

class ThreadsUnderWay {
 public:
  explicit ThreadsUnderWay(std::uint64_t seed) : random_(seed) {}

  CheckpointAccess at() { return CheckpointAccess{*service_, program_, UserId("ana"), clock_}; }
  template <typename T>
  T wait(Task<T> task) {
    return block_on<T>(loop_, std::move(task));
  }

  // Puts the checkpoints 3 to 6 while the removal is in progress.
  void play(int kind) {
    auto [put, removed] = run_both(put_line(3, 6), remove(kind));
    EXPECT_TRUE(put.ok()) << put.error().message;
    EXPECT_TRUE(removed.ok()) << removed.error().message;
  }

  // Runs both at the same time.
  template <typename A, typename B>
  std::pair<Result<A>, Result<B>> run_both(Task<Result<A>> one, Task<Result<B>> other) {
    Error pending = error(ErrorCode::unavailable, "It has not ended.");
    std::pair<Result<A>, Result<B>> results{pending, pending};
    std::vector<Spawned> running;
    int open = 2;
    loop_.post([&] {
      running.push_back(spawn<Result<A>>(loop_, std::move(one), [&](Result<A> ended) {
        results.first = std::move(ended);
        if (--open == 0) loop_.stop();
      }));
      running.push_back(spawn<Result<B>>(loop_, std::move(other), [&](Result<B> ended) {
        results.second = std::move(ended);
        if (--open == 0) loop_.stop();
      }));
    });
    loop_.run();
    return results;
  }

  Task<Result<Done>> copy_to(std::string source, std::string target) {
    for (int attempt = 0; attempt < 100; ++attempt) {
      CopyBody body{source, target};
      auto copied = co_await copy_thread(at(), std::move(body));
      bool is_closed = !copied.ok() && copied.error().code == ErrorCode::unavailable;
      if (!is_closed) co_return std::move(copied);
      co_await sleep_for(kGateRetry);
    }
    co_return error(ErrorCode::unavailable, "The copy was repeated too often.");
  }

  Task<Result<Done>> put_named(std::string thread, std::string id, std::string name,
                               std::chrono::microseconds delay = {}) {
    co_await sleep_for(delay);
    PutBody body = put_of(std::move(thread), std::move(id));
    body.search = Value::object({{"name", std::move(name)}});
    co_return co_await put_checkpoint(at(), std::move(body));
  }

  // The checkpoints of a thread as "id=name".
  std::vector<std::string> named(std::string thread) {
    std::vector<std::string> found;
    ListPage page = wait(list_checkpoints(at(), ListBody{.threadId = std::move(thread)})).value();
    for (const LoadedTuple& tuple : page.tuples) {
      const StoredCheckpoint& checkpoint = tuple.checkpoint;
      found.push_back(checkpoint.checkpointId + "=" + *checkpoint.search["name"].as_string());
    }
    return found;
  }

  Task<Result<Done>> put_line(int first, int last) {
    for (int number = first; number <= last; ++number) {
      ClientPut put = put_in_line(number);
      BELAY_CO_CHECK(co_await put_as_client(at(), std::move(put)));
    }
    co_return Done{};
  }

  // All stored checkpoints have all of their values.
  std::vector<std::string> check() {
    ListPage page = wait(list_checkpoints(at(), ListBody{.threadId = "t"})).value();
    std::vector<std::string> ids;
    for (const LoadedTuple& tuple : page.tuples) {
      ids.push_back(tuple.checkpoint.checkpointId);
      std::vector<std::string> channels;
      for (const ChannelValue& value : tuple.values) channels.push_back(value.channel);
      EXPECT_THAT(channels, ElementsAre("a", "b")) << ids.back();
    }
    return ids;
  }

 private:
  Task<Result<Removed>> remove(int kind) {
    for (int attempt = 0; attempt < 100; ++attempt) {
      auto removed = co_await remove_once(kind);
      bool is_closed = !removed.ok() && removed.error().code == ErrorCode::unavailable;
      if (!is_closed) co_return std::move(removed);
      co_await sleep_for(kGateRetry);
    }
    co_return error(ErrorCode::unavailable, "The removal was repeated too often.");
  }
  Task<Result<Removed>> remove_once(int kind) {
    if (kind == 0) {
      PruneBody body{{"t"}, "keep_latest"};
      return prune_threads(at(), std::move(body), clock_.now());
    }
    if (kind == 1) return delete_thread(at(), ThreadBody{"t"});
    return delete_runs(at(), RunsBody{{"run-1", "run-2", "run-4"}});
  }

  Principal program_;
  testing::SimulatedClock clock_{*instant_from("2026-01-01T09:00:00Z")};
  testing::SimulatedLoop loop_{clock_};
  testing::SeededRandom random_;
  testing::ScriptedModel model_;
  std::unique_ptr<Store> inner_ = open_memory_store(clock_, random_);
  PausingStore store_{*inner_, random_};
  std::unique_ptr<Runtime> runtime_ =
      Runtime::open(RuntimeParts{store_, loop_, clock_, random_, model_}).value();
  std::unique_ptr<Service> service_ = service_of_gates(store_, *runtime_, loop_, clock_, random_);
};

TEST(ThreadGates, KeepTheValuesOfPutsThatRunDuringRemovals) {
  for (int kind = 0; kind < 3; ++kind) {
    for (std::uint64_t seed = 1; seed <= 200; ++seed) {
      SCOPED_TRACE("removal " + std::to_string(kind) + ", seed " + std::to_string(seed));
      ThreadsUnderWay threads(seed);
      ASSERT_TRUE(threads.wait(threads.put_line(1, 2)).ok());
      threads.play(kind);
      std::vector<std::string> ids = threads.check();
      EXPECT_THAT(ids, IsSubsetOf({"6", "5", "4", "3", "2", "1"}));
      EXPECT_TRUE(kind == 1 || !ids.empty());
      if (::testing::Test::HasFailure()) return;
    }
  }
}

TEST(ThreadGates, LetOneOfTwoCopiesIntoAThreadSucceed) {
  for (std::uint64_t seed = 1; seed <= 100; ++seed) {
    SCOPED_TRACE("seed " + std::to_string(seed));
    ThreadsUnderWay threads(seed);
    ASSERT_TRUE(threads.wait(threads.put_named("one", "1", "one")).ok());
    ASSERT_TRUE(threads.wait(threads.put_named("two", "2", "two")).ok());
    auto [one, two] = threads.run_both(threads.copy_to("one", "t"), threads.copy_to("two", "t"));
    ASSERT_NE(one.ok(), two.ok());
    EXPECT_EQ((one.ok() ? two : one).error().code, ErrorCode::conflict);
    EXPECT_THAT(threads.named("t"), ElementsAre(one.ok() ? "1=one" : "2=two"));
    if (::testing::Test::HasFailure()) return;
  }
}

TEST(ThreadGates, KeepACheckpointThatIsPutDuringACopy) {
  std::set<bool> outcomes;
  for (std::uint64_t seed = 1; seed <= 200; ++seed) {
    SCOPED_TRACE("seed " + std::to_string(seed));
    ThreadsUnderWay threads(seed);
    ASSERT_TRUE(threads.wait(threads.put_named("one", "1", "copy")).ok());
    std::chrono::microseconds delay(seed * 50);
    auto [copied, put] =
        threads.run_both(threads.copy_to("one", "t"), threads.put_named("t", "1", "put", delay));
    ASSERT_TRUE(put.ok()) << put.error().message;
    EXPECT_TRUE(copied.ok() || copied.error().code == ErrorCode::conflict);
    EXPECT_THAT(threads.named("t"), ElementsAre("1=put"));
    outcomes.insert(copied.ok());
    if (::testing::Test::HasFailure()) return;
  }
  EXPECT_EQ(outcomes.size(), 2u);
}

class ClosedThreads : public ::testing::Test {
 protected:
  ThreadGate closed(const std::string& thread) {
    return store_.wait(close_gate(store_.of("ana"), thread, "prune")).value();
  }

  CheckpointerStore store_{"memory:", service_of_gates};
};

TEST_F(ClosedThreads, AnswerThatTheRequestCanBeRepeated) {
  closed("t");
  auto put = store_.put(put_of("t", "1"));
  ASSERT_FALSE(put.ok());
  EXPECT_EQ(put.error().code, ErrorCode::unavailable);
  EXPECT_EQ(put.error().retry_after, kGateRetry);
  EXPECT_EQ(store_.write(writes_of("t", "1", "w", {{"m", ""}})).error().code,
            ErrorCode::unavailable);
  EXPECT_EQ(store_.wait(delete_thread(store_.of("ana"), {"t"})).error().code,
            ErrorCode::unavailable);
  EXPECT_FALSE(store_.tuple("t"));
}

TEST_F(ClosedThreads, AreOpenedOneMinuteAfterARemovalWasStopped) {
  ThreadGate stopped = closed("t");
  store_.clock.move(kClosedTime + std::chrono::seconds(1));
  ASSERT_TRUE(store_.put(put_of("t", "1")).ok());
  // The stopped removal can no longer commit.
  std::vector<RecordWrite> late{opening_of(stopped, UserId("ana")).value()};
  CheckpointAccess at = store_.of("ana");
  EXPECT_EQ(store_.wait(at.service.save_records(at.who, std::move(late))).error().code,
            ErrorCode::conflict);
}

TEST_F(ClosedThreads, OfAStoppedRemovalCanBeRemoved) {
  ASSERT_TRUE(store_.put(put_of("t", "1")).ok());
  closed("t");
  store_.clock.move(kClosedTime + std::chrono::seconds(1));
  EXPECT_EQ(store_.wait(delete_thread(store_.of("ana"), {"t"})).value().checkpoints, 1u);
  EXPECT_TRUE(store_.put(put_of("t", "2")).ok());
}

TEST_F(ClosedThreads, RefuseACheckpointThatRefersToARemovedParent) {
  ClientPut put = put_in_line(2);
  put.changes.blobs[0].base.reset();
  EXPECT_EQ(store_.put(put.changes).error().code, ErrorCode::conflict);
  EXPECT_FALSE(store_.tuple("t"));
  ASSERT_TRUE(store_.put(put.whole).ok());
  EXPECT_THAT(value_texts(*store_.tuple("t")), ElementsAre("a=QQ==", "b=Qg=="));
}

TEST_F(ClosedThreads, AnswerThatACheckpointWithoutAStoredValueIsDamaged) {
  ASSERT_TRUE(store_.put(put_in_line(1).whole).ok());
  CheckpointAccess at = store_.of("ana");
  StoredCheckpoint checkpoint = store_.tuple("t")->checkpoint;
  std::string key = value_place(checkpoint, checkpoint.channels.at(0)).record;
  std::vector<RecordWrite> erasures;
  erasures.push_back(record_erasure(StoredValues::collection, at.owner, key));
  ASSERT_TRUE(store_.wait(at.service.save_records(at.who, std::move(erasures))).ok());
  EXPECT_EQ(store_.wait(load_tuple(at, checkpoint)).error().code, ErrorCode::corrupt);
}

}  // namespace
}  // namespace belay::checkpointer
