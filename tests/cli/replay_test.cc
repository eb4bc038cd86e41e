// belay replay: whether a run, executed again, matches its recording.

#include <gtest/gtest.h>

#include "tests/cli/belay_process.h"

namespace belay::cli::tests {
namespace {

TEST(CliReplay, ARunComesOutAsItIsRecordedAndTheStoreStaysAsItIs) {
  World world;
  Outcome imported = world.run({"notes", "import", "-"}, note_line("2026-01-01", hard_day()));
  ASSERT_EQ(imported.code, 0) << imported.err;
  ASSERT_EQ(world.run({"run", "daily-audit", "--date", "2026-01-01", "--thread", "t"}).code, 3);
  ASSERT_EQ(world.run({"approvals", "approve", "t"}).code, 0);
  std::string before = world.store_contents();
  Outcome replayed = world.run({"replay", "t", "--json"});
  EXPECT_EQ(replayed.code, 0) << replayed.err << replayed.out;
  Value document = replayed.json();
  EXPECT_TRUE(document["divergence"].is_null());
  EXPECT_EQ(document["compared"], document["commits"]);
  EXPECT_EQ(world.store_contents(), before);
  EXPECT_EQ(world.run({"replay", "nobody"}).code, 2);
}

}  // namespace
}  // namespace belay::cli::tests
