#include "agents/research/checkpoints/agent_checkpointer.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <utility>

#include "agents/research/checkpoints/checkpoint_store_fixture.h"
#include "tests/conformance/temporary_folder.h"

namespace belay::research {
namespace {

using namespace std::chrono_literals;
using ::testing::ElementsAre;
using ::testing::HasSubstr;

constexpr const char* kValuationKey = "checkpoint:an-1:valuation";

class AgentCheckpoints : public ::testing::TestWithParam<std::string> {
 protected:
  std::string store_name() const {
    return GetParam() == "memory" ? "memory:" : "sqlite:" + folder_.file("checkpoints.db");
  }
  AgentCheckpointer checkpointer(CheckpointCache* cache = nullptr) {
    return AgentCheckpointer(*store_.rows, store_.versions, cache, options_);
  }
  SavedCheckpoint save(const AgentCheckpoint& checkpoint, CheckpointCache* cache = nullptr) {
    AgentCheckpointer saver = checkpointer(cache);
    return store_.wait(saver.save(checkpoint, store_.clock.now())).value();
  }
  RestoreResult restore(CheckpointCache* cache = nullptr, std::string agent_type = "valuation") {
    AgentCheckpointer reader = checkpointer(cache);
    return store_.wait(reader.restore("an-1", std::move(agent_type)));
  }
  // The number of completed subtasks that are restored.
  std::size_t restored_subtasks(CheckpointCache* cache = nullptr) {
    auto restored = restore(cache).value();
    return restored ? restored->checkpoint.completed_subtasks.size() : 0;
  }
  CheckpointSource source(CheckpointCache* cache) { return restore(cache).value()->source; }
  // Saves a row of version 1.0, which has no subtask_progress.
  void save_first_version(std::string agent_type) {
    AgentCheckpoint checkpoint = checkpoint_of(std::move(agent_type), 2);
    checkpoint.agent_version = "1.0";
    checkpoint.checkpoint_time = store_.clock.now();
    Value json = checkpoint_value(checkpoint).value();
    json.as_object()->erase("subtask_progress");
    store_.save_raw(checkpoint, json);
  }

  conformance::TemporaryFolder folder_;
  CheckpointStore store_{store_name()};
  CheckpointOptions options_;
  RecordingCache cache_;
};

INSTANTIATE_TEST_SUITE_P(Stores, AgentCheckpoints, ::testing::Values("memory", "sqlite"),
                         [](const auto& store) { return store.param; });

TEST_P(AgentCheckpoints, AreRestoredIdentically) {
  AgentCheckpoint checkpoint = checkpoint_of("valuation", 3);
  set_failure(checkpoint, error(ErrorCode::unavailable, "Rate limit."));
  SavedCheckpoint saved = save(checkpoint);
  EXPECT_TRUE(saved.is_saved);
  EXPECT_EQ(saved.checkpoint_time, store_.clock.now());
  RestoredCheckpoint restored = *restore().value();
  checkpoint.checkpoint_time = saved.checkpoint_time;
  checkpoint.agent_version = "1.1.0";
  EXPECT_EQ(checkpoint_text(restored.checkpoint).value(), checkpoint_text(checkpoint).value());
  EXPECT_EQ(restored.source, CheckpointSource::store);
  EXPECT_TRUE(restored.migrations.empty());
}

TEST_P(AgentCheckpoints, AreRestoredFromTheNewestOne) {
  for (std::size_t completed : {1u, 2u, 4u}) save(checkpoint_of("valuation", completed));
  save(checkpoint_of("credit", 5));
  save(checkpoint_of("valuation", 3, "an-2"));
  EXPECT_EQ(restored_subtasks(), 4u);
  EXPECT_EQ(store_.rows_in(AgentCheckpoint::collection).size(), 5u) << "the history remains";
  EXPECT_EQ(store_.rows_in(CheckpointHead::collection).size(), 3u);
}

TEST_P(AgentCheckpoints, OfNoAgentAreNone) {
  EXPECT_EQ(restore().value(), std::nullopt);
  save(checkpoint_of("credit", 1));
  EXPECT_EQ(restore().value(), std::nullopt);
  EXPECT_EQ(restore(nullptr, "a/b").error().code, ErrorCode::invalid);
}

TEST_P(AgentCheckpoints, OfAnAgentHaveIncreasingTimesWhateverTheClockDoes) {
  Instant first = save(checkpoint_of("valuation", 1)).checkpoint_time;
  EXPECT_EQ(save(checkpoint_of("valuation", 2)).checkpoint_time, first + 1us);
  store_.clock.move(-1h);
  EXPECT_EQ(save(checkpoint_of("valuation", 3)).checkpoint_time, first + 2us);
  EXPECT_EQ(restored_subtasks(), 3u);
}

TEST_P(AgentCheckpoints, ThatAreInvalidAreNotSaved) {
  AgentCheckpoint checkpoint = checkpoint_of("valuation", 1);
  checkpoint.stock_ticker = "LONGER-THAN-TEN";
  AgentCheckpointer saver = checkpointer(&cache_);
  auto saved = store_.wait(saver.save(checkpoint, store_.clock.now()));
  EXPECT_EQ(saved.error().code, ErrorCode::invalid);
  EXPECT_TRUE(store_.rows_in(CheckpointHead::collection).empty());
  EXPECT_TRUE(cache_.texts.empty());
}

TEST_P(AgentCheckpoints, OfTwoProcessesTheLaterSaveFails) {
  save(checkpoint_of("valuation", 1));
  for (bool has_head : {true, false}) {
    std::string analysis = has_head ? "an-1" : "an-2";
    InterposedRows rows(*store_.rows);
    AgentCheckpointer other = checkpointer();
    rows.before_write = [&]() -> Task<Done> {
      AgentCheckpoint faster = checkpoint_of("valuation", 3, analysis);
      auto saved = co_await other.save(std::move(faster), Instant());
      EXPECT_TRUE(saved.ok());
      co_return Done{};
    };
    AgentCheckpointer saver(rows, store_.versions);
    auto saved =
        store_.wait(saver.save(checkpoint_of("valuation", 2, analysis), store_.clock.now() + 1h));
    ASSERT_FALSE(saved.ok());
    EXPECT_EQ(saved.error().code, ErrorCode::conflict);
    auto restored = store_.wait(other.restore(analysis, "valuation")).value();
    EXPECT_EQ(restored->checkpoint.completed_subtasks.size(), 3u);
  }
}

TEST_P(AgentCheckpoints, CanBeSavedAfterANodeHasRemovedTheHead) {
  CheckpointHead head;
  head.analysis_id = "an-1";
  head.agent_type = "valuation";
  head.expires = store_.clock.now();
  store_.save(record_write(head, store_.owner).value());
  save(checkpoint_of("valuation", 2));
  EXPECT_EQ(restored_subtasks(&cache_), 2u);
  EXPECT_EQ(store_.rows_in(CheckpointHead::collection).size(), 1u);
}

TEST_P(AgentCheckpoints, AreCachedForSevenDaysByAnalysisAndAgent) {
  save(checkpoint_of("valuation", 2), &cache_);
  EXPECT_TRUE(cache_.texts.contains(kValuationKey));
  EXPECT_EQ(cache_.last_ttl, std::chrono::hours(24 * 7));
  RestoredCheckpoint restored = *restore(&cache_).value();
  EXPECT_EQ(restored.source, CheckpointSource::cache);
  EXPECT_EQ(checkpoint_text(restored.checkpoint).value(),
            checkpoint_text(restore()->value().checkpoint).value());
}

TEST_P(AgentCheckpoints, ThatAreNotCachedAreReadFromTheStoreAndThenCached) {
  save(checkpoint_of("valuation", 2));
  EXPECT_EQ(source(&cache_), CheckpointSource::store);
  EXPECT_EQ(source(&cache_), CheckpointSource::cache);
}

TEST_P(AgentCheckpoints, ThatAreOutdatedInTheCacheAreReadFromTheStore) {
  save(checkpoint_of("valuation", 2), &cache_);
  save(checkpoint_of("valuation", 4));
  EXPECT_EQ(restored_subtasks(&cache_), 4u);
  EXPECT_EQ(source(&cache_), CheckpointSource::cache) << "the read has cached the newest one";
}

TEST_P(AgentCheckpoints, ThatTheStoreHasNeverCommittedAreNotRestored) {
  save(checkpoint_of("valuation", 2), &cache_);
  std::string ahead = cache_.texts[kValuationKey];
  AgentCheckpoint newer = checkpoint_of("valuation", 5);
  newer.checkpoint_time = store_.clock.now() + 1h;
  newer.agent_version = "1.1.0";
  cache_.texts[kValuationKey] = checkpoint_text(newer).value();
  EXPECT_EQ(restored_subtasks(&cache_), 2u);
  EXPECT_EQ(cache_.texts[kValuationKey], ahead) << "the store's text replaces it";
}

TEST_P(AgentCheckpoints, ThatAreDamagedInTheCacheAreReadFromTheStore) {
  save(checkpoint_of("credit", 1), &cache_);
  save(checkpoint_of("valuation", 2), &cache_);
  const std::string sound = cache_.texts[kValuationKey];
  std::string changed = sound;
  changed.replace(changed.find("\"retry_count\":2"), 15, "\"retry_count\":9");
  const std::string other_agent = cache_.texts["checkpoint:an-1:credit"];
  for (const std::string& text : {std::string(), std::string("{"), std::string(1'000'000, '['),
                                  sound.substr(0, sound.size() / 2), sound + " ", changed,
                                  other_agent, std::string("null")}) {
    cache_.texts[kValuationKey] = text;
    RestoredCheckpoint restored = *restore(&cache_).value();
    EXPECT_EQ(restored.source, CheckpointSource::store) << text.substr(0, 40);
    EXPECT_EQ(restored.checkpoint.completed_subtasks.size(), 2u);
    EXPECT_EQ(restored.checkpoint.retry_count, 2);
  }
}

TEST_P(AgentCheckpoints, ThatWereRemovedAreNotRestoredFromTheCache) {
  save(checkpoint_of("valuation", 2), &cache_);
  CheckpointWrites removal;
  removal.removed_heads.push_back(
      {store_.wait(heads_of(store_.rows->records(), "an-1")).value().front().record, std::nullopt});
  removal.removed_checkpoints = {store_.rows_in(AgentCheckpoint::collection).front().key};
  store_.wait(store_.rows->write(std::move(removal))).value();
  EXPECT_EQ(restore(&cache_).value(), std::nullopt);
}

TEST_P(AgentCheckpoints, AreSavedAndRestoredWithoutTheCacheWhileItIsUnavailable) {
  cache_.is_up = false;
  EXPECT_TRUE(save(checkpoint_of("valuation", 2), &cache_).is_saved);
  EXPECT_EQ(source(&cache_), CheckpointSource::store);
  EXPECT_EQ(restored_subtasks(&cache_), 2u);
}

TEST_P(AgentCheckpoints, AreRestoredFromTheStoreIfTheCacheNeverReplies) {
  save(checkpoint_of("valuation", 2), &cache_);
  cache_.never_replies = true;
  options_.cache_wait = 1ms;
  EXPECT_EQ(source(&cache_), CheckpointSource::store);
  EXPECT_EQ(cache_.gets, 1);
}

TEST_P(AgentCheckpoints, OfAnEarlierVersionAreMigrated) {
  save_first_version("valuation");
  RestoredCheckpoint restored = *restore().value();
  EXPECT_EQ(restored.checkpoint.agent_version, "1.1.0");
  EXPECT_THAT(restored.checkpoint.subtask_progress,
              ElementsAre(std::pair<const std::string, double>("cash_flow_projection", 1.0),
                          std::pair<const std::string, double>("dcf_assumptions", 1.0)));
  ASSERT_EQ(restored.migrations.size(), 1u);
  EXPECT_EQ(restored.migrations[0].from, "1.0.0");
  RecordRow row = store_.rows_in(AgentCheckpoint::collection).at(0);
  EXPECT_EQ(parse_json(row.json).value()["agent_version"], Value("1.0")) << "unchanged";
}

TEST_P(AgentCheckpoints, OfAnEarlierVersionAreMigratedFromTheCacheToo) {
  AgentVersions old(SemanticVersion{1, 0, 0});
  AgentCheckpointer saver(*store_.rows, old, &cache_);
  store_.wait(saver.save(checkpoint_of("valuation", 2), store_.clock.now())).value();
  RestoredCheckpoint restored = *restore(&cache_).value();
  EXPECT_EQ(restored.source, CheckpointSource::cache);
  EXPECT_EQ(restored.checkpoint.agent_version, "1.1.0");
  EXPECT_EQ(restored.migrations.size(), 1u);
}

TEST_P(AgentCheckpoints, OfANewerVersionAreRefused) {
  AgentVersions newer(SemanticVersion{2, 0, 0});
  AgentCheckpointer saver(*store_.rows, newer, &cache_);
  store_.wait(saver.save(checkpoint_of("valuation", 2), store_.clock.now())).value();
  for (CheckpointCache* cache :
       {static_cast<CheckpointCache*>(&cache_), static_cast<CheckpointCache*>(nullptr)}) {
    auto restored = restore(cache);
    ASSERT_FALSE(restored.ok());
    EXPECT_EQ(restored.error().code, ErrorCode::invalid);
    EXPECT_THAT(restored.error().message, HasSubstr("newer than this program's 1.1.0"));
  }
}

TEST_P(AgentCheckpoints, ADryRunReportsTheMigrationsOfEachAgent) {
  save(checkpoint_of("credit", 1));
  save(checkpoint_of("valuation", 1));
  store_.clock.move(1s);
  save_first_version("valuation");
  AgentCheckpointer reader = checkpointer();
  auto reports = store_.wait(reader.dry_run("an-1")).value();
  ASSERT_EQ(reports.size(), 2u);
  EXPECT_EQ(reports[0].agent_type, "credit");
  EXPECT_TRUE(reports[0].steps.empty());
  ASSERT_EQ(reports[1].steps.size(), 1u);
  EXPECT_THAT(reports[1].steps[0].added, ElementsAre("subtask_progress"));
  EXPECT_EQ(reports[1].refusal, std::nullopt);
}

TEST_P(AgentCheckpoints, ThatAreOffAreNeitherSavedNorRestoredAndTheProgressStatesIt) {
  save(checkpoint_of("valuation", 3), &cache_);
  AgentCheckpoint checkpoint = checkpoint_of("valuation", 4);
  EXPECT_EQ(checkpointer().progress(checkpoint).text,
            "4 of 5 subtasks (80 %), next: sensitivity_analysis");
  options_.enabled = false;
  EXPECT_FALSE(save(checkpoint, &cache_).is_saved);
  EXPECT_EQ(restore(&cache_).value(), std::nullopt);
  AgentCheckpointer reader = checkpointer();
  EXPECT_TRUE(store_.wait(reader.restore_all("an-1"))->empty());
  AgentProgress progress = reader.progress(checkpoint);
  EXPECT_FALSE(progress.checkpoints_on);
  EXPECT_THAT(progress.text, HasSubstr("checkpoints are off"));
  options_.enabled = true;
  EXPECT_EQ(restored_subtasks(&cache_), 3u) << "the earlier checkpoint is still there";
}

TEST_P(AgentCheckpoints, OfThreeAgentsThatFailSimultaneouslyAreIndependent) {
  const std::array<std::string, 3> agents{"credit", "growth", "valuation"};
  AgentCheckpointer saver = checkpointer(&cache_);
  std::vector<Result<SavedCheckpoint>> saved;
  std::vector<Spawned> running;
  store_.loop->post([&] {
    for (std::size_t i = 0; i < agents.size(); ++i) {
      AgentCheckpoint checkpoint = checkpoint_of(agents[i], i + 1);
      set_failure(checkpoint, error(ErrorCode::unavailable, "No reply for " + agents[i]));
      running.push_back(spawn<Result<SavedCheckpoint>>(
          *store_.loop, saver.save(std::move(checkpoint), store_.clock.now()),
          [&](Result<SavedCheckpoint> one) {
            saved.push_back(std::move(one));
            if (saved.size() == agents.size()) store_.loop->stop();
          }));
    }
  });
  store_.loop->run();
  for (const auto& one : saved) EXPECT_TRUE(one.ok());
  for (CheckpointCache* cache :
       {static_cast<CheckpointCache*>(&cache_), static_cast<CheckpointCache*>(nullptr)}) {
    AgentCheckpointer reader = checkpointer(cache);
    auto restored = store_.wait(reader.restore_all("an-1")).value();
    ASSERT_EQ(restored.size(), 3u);
    for (std::size_t i = 0; i < agents.size(); ++i) {
      EXPECT_EQ(restored[i].agent_type, agents[i]);
      const AgentCheckpoint& checkpoint = restored[i].restored.value()->checkpoint;
      EXPECT_EQ(checkpoint.completed_subtasks.size(), i + 1);
      EXPECT_EQ(checkpoint.failure_reason, "No reply for " + agents[i]);
      EXPECT_EQ(checkpoint.retry_count, 3);
    }
  }
}

TEST_P(AgentCheckpoints, OfAnAgentThatCannotBeRestoredDoNotAffectTheOthers) {
  save(checkpoint_of("credit", 1));
  AgentCheckpoint damaged = checkpoint_of("growth", 2);
  save(damaged);
  damaged.checkpoint_time = store_.clock.now() + 1s;
  damaged.agent_version = "1.1.0";
  store_.save_raw(damaged, Value::object({{"analysis_id", 7}}));
  save(checkpoint_of("valuation", 3));
  AgentCheckpointer reader = checkpointer();
  auto restored = store_.wait(reader.restore_all("an-1")).value();
  ASSERT_EQ(restored.size(), 3u);
  EXPECT_EQ(restored[0].restored.value()->checkpoint.completed_subtasks.size(), 1u);
  EXPECT_EQ(restored[1].restored.error().code, ErrorCode::corrupt);
  EXPECT_EQ(restored[2].restored.value()->checkpoint.completed_subtasks.size(), 3u);
}

// Replies to no call before the expected number of calls waits.
class MeetingCache final : public CheckpointCache {
 public:
  explicit MeetingCache(std::size_t expected) : expected_(expected) {}
  Task<std::optional<std::string>> get(std::string) override {
    Completion<Done> mine;
    waiting_.push_back(mine);
    largest = std::max(largest, waiting_.size());
    if (waiting_.size() == expected_) {
      for (const Completion<Done>& each : std::exchange(waiting_, {})) each.complete(Done{});
    }
    co_await mine;
    std::optional<std::string> none;
    co_return std::move(none);
  }
  void put(const std::string&, std::string, std::chrono::milliseconds) override {}
  void remove(const std::string&) override {}

  std::size_t largest = 0;

 private:
  const std::size_t expected_;
  std::vector<Completion<Done>> waiting_;
};

TEST_P(AgentCheckpoints, OfAnAnalysisAreRestoredInParallelWithinTheBound) {
  for (int i = 0; i < 6; ++i) save(checkpoint_of("agent_" + std::to_string(i), 1));
  options_.restores_at_once = 3;
  options_.cache_wait = 60s;  // a sequential restore would wait
  MeetingCache cache(3);
  AgentCheckpointer reader = checkpointer(&cache);
  auto restored = store_.wait(reader.restore_all("an-1")).value();
  EXPECT_EQ(restored.size(), 6u);
  EXPECT_EQ(cache.largest, 3u);
}

}  // namespace
}  // namespace belay::research
