#include "agents/research/checkpoints/checkpoint_cache.h"

#include <gtest/gtest.h>

#include "belay/testing.h"

namespace belay::research {
namespace {

using namespace std::chrono_literals;

struct MemoryCache : ::testing::Test {
  std::optional<std::string> get(const std::string& key) {
    return block_on<std::optional<std::string>>(loop, cache.get(key));
  }
  testing::SimulatedClock clock{*instant_from("2026-01-01T09:00:00Z")};
  testing::SimulatedLoop loop{clock};
  MemoryCheckpointCache cache{clock, 10};
};

TEST(CheckpointCacheKey, NamesTheAnalysisAndTheAgent) {
  EXPECT_EQ(checkpoint_cache_key("an-1", "valuation"), "checkpoint:an-1:valuation");
}

TEST_F(MemoryCache, ReturnsATextUntilItsTimeHasPassed) {
  cache.put("a", "one", 1h);
  cache.put("a", "two", 2h);
  EXPECT_EQ(get("b"), std::nullopt);
  clock.move(2h - 1us);
  EXPECT_EQ(get("a"), "two");
  clock.move(1us);
  EXPECT_EQ(get("a"), std::nullopt);
  EXPECT_EQ(cache.bytes(), 0u);
}

TEST_F(MemoryCache, RemovesTheFirstTextsAboveItsBound) {
  cache.put("a", "1234", 1h);
  cache.put("b", "1234", 1h);
  EXPECT_EQ(cache.bytes(), 10u);
  EXPECT_EQ(get("a"), "1234");
  cache.put("c", "1", 1h);
  EXPECT_EQ(get("a"), std::nullopt);
  EXPECT_EQ(get("b"), "1234");
  EXPECT_EQ(get("c"), "1");
  cache.put("b", "longer than all", 1h);
  EXPECT_EQ(get("b"), std::nullopt) << "the earlier text is outdated";
  EXPECT_EQ(get("c"), "1");
  cache.remove("c");
  EXPECT_EQ(get("c"), std::nullopt);
  EXPECT_EQ(cache.bytes(), 0u);
}

}  // namespace
}  // namespace belay::research
