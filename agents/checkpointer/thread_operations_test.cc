// Deltas over the ancestors of a checkpoint, and the removal and copies of threads.

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <chrono>

#include "agents/checkpointer/checkpointer_fixture.h"
#include "service/local_service.h"
#include "tests/conformance/temporary_folder.h"

namespace belay::checkpointer {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;

std::unique_ptr<Service> service_of_threads(Store& store, Runtime& runtime, EventLoop& loop,
                                            Clock& clock, Random& random) {
  return make_local_service({store, store, runtime, loop, clock, random, {}, {}, {}});
}

class CheckpointThreads : public ::testing::TestWithParam<std::string> {
 protected:
  std::string store_name() const {
    return GetParam() == "memory" ? "memory:" : "sqlite:" + folder_.file("threads.db");
  }
  // Five checkpoints: the second has the snapshot "U1M=", and each has one write to "m". The
  // newest one names "m" as a delta channel.
  void put_deltas(const std::string& thread) {
    std::optional<std::string> parent;
    for (std::string id : {"1", "2", "3", "4", "5"}) {
      PutBody body = put_of(thread, id, parent);
      add_channel(body, "m", id, id == "2" ? "U1M=" : "");
      add_channel(body, "n", id, "QQ==");
      Value counters = Value::object({{"m", Value::Array{3, 3}}});
      body.search = Value::object({{"run_id", "run-" + id}});
      if (id == "5") {
        body.search.as_object()->emplace("counters_since_delta_snapshot", std::move(counters));
      }
      ASSERT_TRUE(store_.put(body).ok());
      ASSERT_TRUE(store_.write(writes_of(thread, id, "w" + id, {{"m", ""}, {"k", ""}})).ok());
      parent = id;
    }
  }
  HistoryPage history(std::string id, std::vector<std::string> channels) {
    HistoryPage all;
    HistoryBody body{"t", "", std::move(id), std::move(channels), {}};
    while (true) {
      HistoryPage page = store_.wait(delta_history(store_.of("ana"), body)).value();
      for (TaskWrite& write : page.writes) all.writes.push_back(std::move(write));
      for (ChannelValue& seed : page.seeds) all.seeds.push_back(std::move(seed));
      if (page.next.empty()) return all;
      body.from = page.next;
    }
  }
  Removed prune(std::string strategy, std::vector<std::string> threads = {"t"}) {
    PruneBody body{std::move(threads), std::move(strategy)};
    return store_.wait(prune_threads(store_.of("ana"), std::move(body), store_.clock.now()))
        .value();
  }
  Result<Done> copy(std::string source, std::string target) {
    CopyBody body{std::move(source), std::move(target)};
    return store_.wait(copy_thread(store_.of("ana"), std::move(body)));
  }

  conformance::TemporaryFolder folder_;
  CheckpointerStore store_{store_name(), service_of_threads};
};

INSTANTIATE_TEST_SUITE_P(Stores, CheckpointThreads, ::testing::Values("memory", "sqlite"),
                         [](const auto& store) { return store.param; });

TEST_P(CheckpointThreads, HaveTheWritesOfTheAncestorsUpToASnapshot) {
  put_deltas("t");
  HistoryPage found = history("5", {"m"});
  EXPECT_THAT(write_texts(found.writes), ElementsAre("w4:m=", "w3:m=", "w2:m="));
  ASSERT_EQ(found.seeds.size(), 1u);
  EXPECT_EQ(found.seeds[0].chain.at(0).value.data, "U1M=");
  HistoryPage early = history("2", {"m"});
  EXPECT_THAT(write_texts(early.writes), ElementsAre("w1:m="));
  EXPECT_THAT(early.seeds, IsEmpty());
  EXPECT_THAT(history("5", {}).writes, IsEmpty());
  EXPECT_THAT(history("9", {"m"}).writes, IsEmpty());
}

TEST_P(CheckpointThreads, AreDeletedWithAllNamespacesAndNoOtherThread) {
  put_deltas("t");
  put_deltas("u");
  PutBody child = put_of("t", "6");
  child.checkpointNs = "child";
  ASSERT_TRUE(store_.put(child).ok());
  ASSERT_TRUE(store_.write(writes_of("t", "later", "w", {{"m", ""}})).ok());
  Removed removed = store_.wait(delete_thread(store_.of("ana"), {"t"})).value();
  EXPECT_EQ(removed.checkpoints, 6u);
  EXPECT_EQ(removed.writes, 11u);
  EXPECT_THAT(store_.ids({}), ElementsAre("5", "4", "3", "2", "1"));
  EXPECT_EQ(store_.count<StoredWrites>(), 5u);
  EXPECT_EQ(store_.count<StoredValues>(), 5u);
  EXPECT_EQ(store_.wait(delete_thread(store_.of("ana"), {"t"})).value().checkpoints, 0u);
}

TEST_P(CheckpointThreads, KeepWhatTheirNewestCheckpointsNeed) {
  put_deltas("t");
  Removed removed = prune("keep_latest");
  EXPECT_EQ(removed.checkpoints, 1u);
  EXPECT_THAT(store_.ids({.threadId = "t"}), ElementsAre("5", "4", "3", "2"));
  EXPECT_THAT(write_texts(history("5", {"m"}).writes), ElementsAre("w4:m=", "w3:m=", "w2:m="));
  EXPECT_EQ(prune("keep_latest").checkpoints, 0u);
  PutBody next = put_of("t", "6", "5");
  add_channel(next, "n", "5", std::nullopt);
  ASSERT_TRUE(store_.put(next).ok());
  EXPECT_EQ(prune("keep_latest").checkpoints, 4u);
  EXPECT_THAT(value_texts(*store_.tuple("t")), ElementsAre("n=QQ=="));
  EXPECT_EQ(store_.count<StoredValues>(), 1u);
  EXPECT_EQ(prune("delete").checkpoints, 1u);
  EXPECT_EQ(store_.count<StoredValues>() + store_.count<StoredWrites>(), 0u);
}

TEST_P(CheckpointThreads, KeepTheBasesOfKeptValues) {
  PutBody first = put_of("t", "1");
  add_channel(first, "a", "1", "QUJD");
  ASSERT_TRUE(store_.put(first).ok());
  PutBody second = put_of("t", "2", "1");
  add_channel(second, "a", "2", "RA==");
  second.blobs[0].base = second.blobs[0].baseCheckpointId = "1";
  ASSERT_TRUE(store_.put(second).ok());
  EXPECT_EQ(prune("keep_latest").checkpoints, 1u);
  EXPECT_THAT(value_texts(*store_.tuple("t")), ElementsAre("a=QUJDRA=="));
}

TEST_P(CheckpointThreads, LoseTheValuesThatWereSentWithKeptOnes) {
  PutBody first = put_of("t", "1");
  add_channel(first, "a", "1", "QUJD");
  add_channel(first, "b", "1", "Qg==");
  ASSERT_TRUE(store_.put(first).ok());
  PutBody second = put_of("t", "2", "1");
  add_channel(second, "a", "2", "RA==");
  add_channel(second, "b", "1", std::nullopt);
  ASSERT_TRUE(store_.put(second).ok());
  EXPECT_EQ(prune("keep_latest").values, 1u);
  EXPECT_THAT(value_texts(*store_.tuple("t")), ElementsAre("a=RA==", "b=Qg=="));
  EXPECT_EQ(prune("keep_latest").values, 0u);
}

TEST_P(CheckpointThreads, LoseUnusedPartsAfterAnHour) {
  std::string used = "1ef0c1a2-0000-6000-8000-000000000001";
  std::string unused = "1ef0c1a2-0000-6000-8000-000000000002";
  for (const std::string& blob : {used, unused}) {
    PartBody part{"t", blob, 0, "QQ=="};
    ASSERT_TRUE(store_.wait(put_part(store_.of("ana"), part, store_.clock.now())).ok());
  }
  PutBody body = put_of("t", "1");
  body.checkpoint = TypedValue{"json", "", used, 1};
  ASSERT_TRUE(store_.put(body).ok());
  EXPECT_EQ(prune("keep_latest").values, 0u);
  store_.clock.move(std::chrono::hours(2));
  EXPECT_EQ(prune("keep_latest").values, 1u);
  EXPECT_TRUE(store_.wait(read_part(store_.of("ana"), {"t", used, 0})).ok());
  EXPECT_FALSE(store_.wait(read_part(store_.of("ana"), {"t", unused, 0})).ok());
  ASSERT_TRUE(store_.put(put_of("t", "2")).ok());
  EXPECT_EQ(prune("keep_latest").values, 1u);
  EXPECT_EQ(store_.count<StoredPart>(), 0u);
}

TEST_P(CheckpointThreads, AreCopiedWithTheirWholeChain) {
  put_deltas("t");
  ASSERT_TRUE(copy("t", "u").ok());
  EXPECT_THAT(store_.ids({.threadId = "u"}), ElementsAre("5", "4", "3", "2", "1"));
  EXPECT_EQ(store_.tuple("u")->checkpoint.parentCheckpointId, "4");
  EXPECT_EQ(value_texts(*store_.tuple("u")), value_texts(*store_.tuple("t")));
  EXPECT_THAT(write_texts(store_.tuple("u")->writes), ElementsAre("w5:m=", "w5:k="));
  // A repeated request finds its copy; a thread with other checkpoints is not replaced.
  EXPECT_TRUE(copy("t", "u").ok());
  ASSERT_TRUE(store_.put(put_of("u", "6", "5")).ok());
  EXPECT_EQ(copy("t", "u").error().code, ErrorCode::conflict);
  EXPECT_TRUE(store_.put(put_of("u", "7", "6")).ok());
  ASSERT_TRUE(copy("absent", "v").ok());
  EXPECT_FALSE(store_.tuple("v"));
}

TEST_P(CheckpointThreads, LoseTheCheckpointsOfRuns) {
  put_deltas("t");
  put_deltas("u");
  RunsBody body{{"run-3", "run-5", "unknown"}};
  Removed removed = store_.wait(delete_runs(store_.of("ana"), std::move(body))).value();
  EXPECT_EQ(removed.checkpoints, 4u);
  EXPECT_EQ(removed.writes, 8u);
  EXPECT_THAT(store_.ids({.threadId = "t"}), ElementsAre("4", "2", "1"));
  EXPECT_THAT(value_texts(*store_.tuple("u")), ElementsAre("n=QQ=="));
  EXPECT_EQ(store_.wait(delete_runs(store_.of("ana"), {})).value().checkpoints, 0u);
}

TEST_P(CheckpointThreads, AreNotPrunedByAnUnknownStrategy) {
  PruneBody body{{"t"}, "oldest"};
  auto pruned = prune_threads(store_.of("ana"), std::move(body), store_.clock.now());
  EXPECT_EQ(store_.wait(std::move(pruned)).error().code, ErrorCode::invalid);
}

}  // namespace
}  // namespace belay::checkpointer
