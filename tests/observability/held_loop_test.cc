// Nodes that hold the loop are named in the log, the metrics and the store.

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "belay/testing.h"
#include "telemetry/held_loop_report.h"
#include "tests/support/collected_log.h"

namespace belay::telemetry {
namespace {

using namespace std::chrono_literals;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::SizeIs;

struct HeldLoops : ::testing::Test {
  belay::testing::SimulatedClock clock{*instant_from("2026-11-29T23:59:00Z")};
  belay::testing::SeededRandom random{7};
  belay::testing::SimulatedLoop loop{clock};
  std::unique_ptr<Store> store = open_memory_store(clock, random);
  CollectedLog log;
  std::unique_ptr<Metrics> metrics = make_metrics();
  HeldLoopReport report{{&log, metrics.get()}, *store, loop, clock};

  void note(const std::string& node, std::chrono::milliseconds held) {
    report.note({default_tenant(), "mail", node, held});
    while (loop.step()) {
    }
  }
  std::vector<HeldLoopDay> days() {
    std::function<Result<std::vector<HeldLoopDay>>(Snapshot&)> reader = [](Snapshot& view) {
      return held_loop_days(view, default_tenant());
    };
    return block_on(loop, read<std::vector<HeldLoopDay>>(*store, std::move(reader))).value();
  }
};

TEST_F(HeldLoops, AreLoggedOnceAMinuteForEachNode) {
  note("write", 6s);
  note("write", 200ms);
  note("send", 300ms);
  ASSERT_THAT(log.events(), ElementsAre("loop.held", "loop.held"));
  EXPECT_EQ(log.entries[0].level, LogLevel::warning);
  EXPECT_EQ(CollectedLog::field(log.entries[0], "node"), "write");
  EXPECT_EQ(CollectedLog::field(log.entries[0], "heldMs"), "6000");
  EXPECT_EQ(CollectedLog::field(log.entries[1], "node"), "send");
  clock.move(1min);
  note("write", 150ms);
  ASSERT_THAT(log.entries, SizeIs(3));
  EXPECT_EQ(CollectedLog::field(log.entries[2], "times"), "2") << "with the one left out";
}

TEST_F(HeldLoops, AreCountedEachTime) {
  note("write", 200ms);
  note("write", 1500ms);
  note("write", 300ms);
  EXPECT_THAT(metrics->text(),
              HasSubstr("belay_loop_held_total{agent=\"mail\",node=\"write\"} 3\n"));
  EXPECT_THAT(metrics->text(),
              HasSubstr("belay_loop_held_max_seconds{agent=\"mail\",node=\"write\"} 1.5\n"));
}

TEST_F(HeldLoops, AreKeptByDayAndNode) {
  EXPECT_THAT(days(), IsEmpty());
  note("write", 200ms);
  clock.move(2min);
  note("write", 900ms);
  note("send", 300ms);
  auto kept = days();
  ASSERT_THAT(kept, SizeIs(3));
  EXPECT_EQ(kept[0].key(), "2026-11-29 mail write");
  EXPECT_EQ(kept[0].longest_ms, 200);
  EXPECT_EQ(kept[1].key(), "2026-11-30 mail send");
  EXPECT_EQ(kept[2].key(), "2026-11-30 mail write");
  EXPECT_EQ(kept[2].longest_ms, 900);
  EXPECT_EQ(kept[2].times, 1);
}

}  // namespace
}  // namespace belay::telemetry
