#include "agents/research/checkpoints/retention.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "agents/research/checkpoints/checkpoint_store_fixture.h"
#include "tests/conformance/temporary_folder.h"

namespace belay::research {
namespace {

using namespace std::chrono_literals;

constexpr std::chrono::hours kThirtyDays{24 * 30};

class KeptCheckpoints : public ::testing::TestWithParam<std::string> {
 protected:
  std::string store_name() const {
    return GetParam() == "memory" ? "memory:" : "sqlite:" + folder_.file("checkpoints.db");
  }
  Instant now() { return store_.clock.now(); }
  // Saves `count` checkpoints, a second apart.
  void save(const std::string& analysis, const std::string& agent_type, int count = 1) {
    AgentCheckpointer saver(*store_.rows, store_.versions, &cache_, options_);
    for (int i = 0; i < count; ++i) {
      AgentCheckpoint checkpoint = checkpoint_of(agent_type, 1, analysis);
      store_.wait(saver.save(std::move(checkpoint), now())).value();
      store_.clock.move(1s);
    }
  }
  CheckpointRetention retention(CheckpointRows* rows = nullptr) {
    return CheckpointRetention(rows ? *rows : *store_.rows, &cache_, options_);
  }
  Removal succeed(std::string analysis) {
    CheckpointRetention kept = retention();
    return store_.wait(kept.succeeded(std::move(analysis), now())).value();
  }
  SweepPage sweep() {
    CheckpointRetention kept = retention();
    return store_.wait(kept.sweep(now())).value();
  }
  std::size_t preserve(std::string analysis) {
    CheckpointRetention kept = retention();
    return store_.wait(kept.preserve(std::move(analysis), now())).value();
  }
  void end_preservation(std::string analysis) {
    CheckpointRetention kept = retention();
    store_.wait(kept.end_preservation(std::move(analysis))).value();
  }
  std::size_t checkpoints() { return store_.rows_in(AgentCheckpoint::collection).size(); }
  std::size_t heads() { return store_.rows_in(CheckpointHead::collection).size(); }

  conformance::TemporaryFolder folder_;
  CheckpointStore store_{store_name()};
  CheckpointOptions options_;
  RecordingCache cache_;
};

INSTANTIATE_TEST_SUITE_P(Stores, KeptCheckpoints, ::testing::Values("memory", "sqlite"),
                         [](const auto& store) { return store.param; });

TEST_P(KeptCheckpoints, OfASuccessfulAnalysisAreDeletedEverywhere) {
  save("an-1", "credit", 3);
  save("an-1", "valuation", 5);
  save("an-2", "credit", 2);
  Removal removal = succeed("an-1");
  EXPECT_EQ(removal.checkpoints, 8u);
  EXPECT_EQ(removal.agents, 2u);
  EXPECT_EQ(removal.archived, 0u);
  EXPECT_EQ(removal.conflicts, 0u);
  EXPECT_FALSE(removal.is_unfinished);
  EXPECT_EQ(checkpoints(), 2u) << "those of the other analysis";
  EXPECT_EQ(heads(), 1u);
  EXPECT_EQ(cache_.texts.size(), 1u);
  EXPECT_TRUE(store_.rows_in(ArchivedCheckpoint::collection).empty());
  EXPECT_EQ(succeed("an-1").checkpoints, 0u) << "a repeated call";
}

TEST_P(KeptCheckpoints, OfASuccessfulAnalysisAreMovedToTheArchiveIfThatIsOn) {
  save("an-1", "credit", 3);
  std::vector<RecordRow> before = store_.rows_in(AgentCheckpoint::collection);
  options_.archive = true;
  EXPECT_EQ(succeed("an-1").archived, 3u);
  EXPECT_EQ(checkpoints(), 0u);
  std::vector<RecordRow> after = store_.rows_in(ArchivedCheckpoint::collection);
  ASSERT_EQ(after.size(), 3u);
  for (std::size_t i = 0; i < after.size(); ++i) {
    EXPECT_EQ(after[i].key, before[i].key);
    Value archived = parse_json(after[i].json).value();
    EXPECT_EQ(archived["checkpoint"], parse_json(before[i].json).value());
    EXPECT_EQ(archived["archived_at"], Value(to_text(now())));
  }
}

TEST_P(KeptCheckpoints, OfAFailedAnalysisRemainForThirtyDays) {
  save("an-1", "credit", 2);
  Instant failure = now();
  CheckpointRetention kept = retention();
  EXPECT_EQ(store_.wait(kept.failed("an-1", failure)).value(), 1u);
  store_.clock.move(kThirtyDays - 1us);
  EXPECT_EQ(sweep().heads, 0u);
  EXPECT_EQ(checkpoints(), 2u);
  store_.clock.move(1us);
  SweepPage page = sweep();
  EXPECT_EQ(page.analyses, 1u);
  EXPECT_EQ(page.removed.checkpoints, 2u);
  EXPECT_EQ(checkpoints(), 0u);
  EXPECT_EQ(heads(), 0u);
  EXPECT_TRUE(cache_.texts.empty());
}

TEST_P(KeptCheckpoints, OfAnAbandonedAnalysisAreSweptThirtyDaysAfterItsLastOne) {
  save("an-1", "credit");
  Instant saved = now() - 1s;
  store_.clock.move(saved + kThirtyDays - 1us - now());
  EXPECT_EQ(sweep().removed.checkpoints, 0u);
  store_.clock.move(1us);
  EXPECT_EQ(sweep().removed.checkpoints, 1u);
}

TEST_P(KeptCheckpoints, OfAnAnalysisAreKeptWhileOneOfItsAgentsIsActive) {
  save("an-1", "credit");
  store_.clock.move(kThirtyDays - 24h);
  save("an-1", "valuation");
  store_.clock.move(48h);
  SweepPage page = sweep();
  EXPECT_EQ(page.heads, 1u);
  EXPECT_EQ(page.active, 1u);
  EXPECT_EQ(checkpoints(), 2u);
  store_.clock.move(kThirtyDays);
  EXPECT_EQ(sweep().removed.checkpoints, 2u);
}

TEST_P(KeptCheckpoints, OfAPreservedAnalysisAreNeverRemoved) {
  options_.heads_per_page = 10;  // an analysis is counted on each of its pages
  save("an-1", "credit", 2);
  save("an-2", "credit", 2);
  EXPECT_EQ(preserve("an-1"), 1u);
  save("an-1", "valuation");
  EXPECT_TRUE(succeed("an-1").is_preserved);
  EXPECT_EQ(checkpoints(), 5u);
  store_.clock.move(2 * kThirtyDays);
  SweepPage page = sweep();
  EXPECT_EQ(page.preserved, 1u);
  EXPECT_EQ(page.removed.checkpoints, 2u);
  EXPECT_EQ(checkpoints(), 3u);
  end_preservation("an-1");
  EXPECT_EQ(sweep().removed.checkpoints, 3u);
  EXPECT_EQ(heads(), 0u);
}

TEST_P(KeptCheckpoints, OfAnAnalysisThatIsPreservedDuringItsRemovalRemain) {
  save("an-1", "credit", 2);
  InterposedRows rows(*store_.rows);
  CheckpointRetention other = retention();
  rows.before_write = [&]() -> Task<Done> {
    auto preserved = co_await other.preserve("an-1", Instant());
    EXPECT_EQ(preserved.value(), 1u);
    co_return Done{};
  };
  CheckpointRetention kept = retention(&rows);
  Removal removal = store_.wait(kept.succeeded("an-1", now())).value();
  EXPECT_EQ(removal.conflicts, 1u);
  EXPECT_EQ(removal.checkpoints, 0u);
  EXPECT_EQ(checkpoints(), 2u);
  EXPECT_EQ(heads(), 1u);
}

TEST_P(KeptCheckpoints, OfAnAgentThatSavesDuringTheSweepRemain) {
  save("an-1", "credit", 2);
  store_.clock.move(kThirtyDays);
  InterposedRows rows(*store_.rows);
  AgentCheckpointer saver(*store_.rows, store_.versions, &cache_, options_);
  rows.before_write = [&]() -> Task<Done> {
    AgentCheckpoint resumed = checkpoint_of("credit", 4);
    auto saved = co_await saver.save(std::move(resumed), now());
    EXPECT_TRUE(saved.ok());
    co_return Done{};
  };
  CheckpointRetention kept = retention(&rows);
  SweepPage page = store_.wait(kept.sweep(now())).value();
  EXPECT_EQ(page.removed.conflicts, 1u);
  EXPECT_EQ(page.removed.checkpoints, 0u);
  auto restored = store_.wait(saver.restore("an-1", "credit")).value();
  EXPECT_EQ(restored->checkpoint.completed_subtasks.size(), 4u);
  EXPECT_EQ(checkpoints(), 3u);
}

TEST_P(KeptCheckpoints, AreRemovedOnceByTwoProcessesThatSweepTogether) {
  for (int i = 0; i < 7; ++i) save("an-" + std::to_string(i), "credit", 3);
  store_.clock.move(kThirtyDays);
  options_.heads_per_page = 2;
  options_.rows_per_commit = 2;
  CheckpointRetention one = retention();
  CheckpointRetention other = retention();
  std::vector<Result<SweepPage>> pages;
  std::vector<Spawned> running;
  store_.loop->post([&] {
    for (CheckpointRetention* each : {&one, &other}) {
      running.push_back(
          spawn<Result<SweepPage>>(*store_.loop, each->sweep(now()), [&](Result<SweepPage> page) {
            pages.push_back(std::move(page));
            if (pages.size() == 2) store_.loop->stop();
          }));
    }
  });
  store_.loop->run();
  ASSERT_TRUE(pages[0].ok() && pages[1].ok());
  EXPECT_EQ(pages[0]->removed.agents + pages[1]->removed.agents, 7u);
  EXPECT_EQ(checkpoints(), 0u);
  EXPECT_EQ(heads(), 0u);
}

TEST_P(KeptCheckpoints, AreSweptInPagesAndCommitsAtTheirBounds) {
  options_.heads_per_page = 2;
  options_.rows_per_commit = 3;
  for (int count : {3, 4, 6, 7}) {  // rows: exactly a commit, one more, two commits, one more
    save("an-" + std::to_string(count), "credit", count);
  }
  store_.clock.move(kThirtyDays);
  CheckpointRetention kept = retention();
  SweepPage first = store_.wait(kept.sweep_page("", now())).value();
  EXPECT_EQ(first.heads, 2u);
  EXPECT_EQ(first.removed.checkpoints, 7u);
  EXPECT_EQ(first.removed.agents, 2u);
  ASSERT_FALSE(first.next.empty()) << "the page is full";
  SweepPage second = store_.wait(kept.sweep_page(first.next, now())).value();
  EXPECT_EQ(second.heads, 2u);
  EXPECT_EQ(second.removed.checkpoints, 13u);
  ASSERT_FALSE(second.next.empty());
  SweepPage third = store_.wait(kept.sweep_page(second.next, now())).value();
  EXPECT_EQ(third.heads, 0u);
  EXPECT_TRUE(third.next.empty());
  EXPECT_EQ(checkpoints(), 0u);
  EXPECT_EQ(heads(), 0u);
}

TEST_P(KeptCheckpoints, ThatAreNotRemovedDoNotHideThoseOfLaterPages) {
  options_.heads_per_page = 2;
  for (int i = 0; i < 5; ++i) save("an-" + std::to_string(i), "credit");
  for (int i = 0; i < 4; ++i) preserve("an-" + std::to_string(i));
  store_.clock.move(kThirtyDays);
  SweepPage page = sweep();
  EXPECT_EQ(page.heads, 5u);
  EXPECT_EQ(page.preserved, 4u);
  EXPECT_EQ(page.removed.checkpoints, 1u);
}

TEST_P(KeptCheckpoints, OfAStoppedRemovalAreRestoredOrRemovedByTheNextSweep) {
  options_.rows_per_commit = 2;
  save("an-1", "credit", 5);
  InterposedRows rows(*store_.rows);
  // The first commit is written; the process is stopped before the second one.
  bool is_stopped = false;
  Completion<Done> never;
  rows.before_write = [&]() -> Task<Done> {
    rows.before_write = [&]() -> Task<Done> {
      is_stopped = true;
      store_.loop->stop();
      co_await never;
      co_return Done{};
    };
    co_return Done{};
  };
  CheckpointRetention kept = retention(&rows);
  Spawned running;
  store_.loop->post([&] {
    running =
        spawn<Result<Removal>>(*store_.loop, kept.succeeded("an-1", now()), [](Result<Removal>) {});
  });
  store_.loop->run();
  running.reset();
  ASSERT_TRUE(is_stopped);
  EXPECT_EQ(checkpoints(), 3u);
  AgentCheckpointer reader(*store_.rows, store_.versions, nullptr, options_);
  EXPECT_TRUE(store_.wait(reader.restore("an-1", "credit")).value().has_value());
  store_.clock.move(kThirtyDays);
  EXPECT_EQ(sweep().removed.checkpoints, 3u);
  EXPECT_EQ(heads(), 0u);
}

TEST_P(KeptCheckpoints, ThatAreDamagedAreRemovedAndArchivedToo) {
  save("an-1", "credit");
  AgentCheckpoint damaged = checkpoint_of("credit", 2);
  damaged.checkpoint_time = now();
  store_.save_raw(damaged, Value("no checkpoint"));
  options_.archive = true;
  EXPECT_EQ(succeed("an-1").archived, 2u);
  EXPECT_EQ(checkpoints(), 0u);
  std::vector<RecordRow> archived = store_.rows_in(ArchivedCheckpoint::collection);
  EXPECT_EQ(parse_json(archived.at(1).json).value()["checkpoint"], Value("no checkpoint"));
}

}  // namespace
}  // namespace belay::research
