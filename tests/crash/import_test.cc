// An import whose process is killed is atomic: the store contains all of its records, or none.

#include <gtest/gtest.h>
#include <signal.h>

#include <filesystem>
#include <iostream>
#include <thread>

#include "belay/testing.h"
#include "tests/crash/campaign.h"
#include "tests/crash/store_files.h"

namespace belay::crash {
namespace {

constexpr int kKilled = 128 + SIGKILL;
constexpr int kMoments = 24;

class CrashImport : public ::testing::Test {
 protected:
  void SetUp() override { folder = new_folder(); }
  void TearDown() override {
    if (!HasFailure()) return remove_folder(folder);
    std::cout << "the store: " << store_in(folder) << std::endl;
  }

  std::size_t notes() const {
    std::string aside = folder + "/aside";
    remove_folder(aside);
    copy_store(folder, aside);
    if (!std::filesystem::exists(store_in(aside))) return 0;
    auto sight = look_at(aside);
    EXPECT_TRUE(sight.ok()) << sight.error().message;
    return sight.ok() ? sight->notes : 0;
  }
  void import_again() {
    Outcome again = cli::tests::run_belay(words, setting_for(folder));
    EXPECT_EQ(again.code, 0) << again.err;
    EXPECT_EQ(notes(), diary_notes());
    EXPECT_EQ(integrity_faults(folder), std::vector<std::string>());
    for (std::string_view ending : {"", "-wal", "-shm"}) {
      std::filesystem::remove(store_in(folder) + std::string(ending));
    }
  }

  std::string folder;
  Words words = {"notes", "import", diary_path()};
};

TEST_F(CrashImport, BeforeItsCommitNothingIsThere) {
  Setting setting = setting_for(folder);
  pause_at(setting, 1, false);
  Belay process(words, setting);
  ASSERT_TRUE(process.waits_to_say(kPaused));
  process.send(SIGKILL);
  EXPECT_EQ(process.finish().code, kKilled);
  EXPECT_EQ(notes(), 0u);
  import_again();
}

TEST_F(CrashImport, AfterItsCommitAllIsThere) {
  Setting setting = setting_for(folder);
  pause_at(setting, 1, true);
  Belay process(words, setting);
  ASSERT_TRUE(process.waits_to_say(kPaused));
  process.send(SIGKILL);
  EXPECT_EQ(process.finish().code, kKilled);
  EXPECT_EQ(notes(), diary_notes());
  import_again();
}

TEST_F(CrashImport, AtAnyMomentItIsAllOrNothing) {
  std::uint64_t seed = chosen_seed();
  testing::SeededRandom random(seed);
  auto begin = std::chrono::steady_clock::now();
  ASSERT_EQ(cli::tests::run_belay(words, setting_for(folder)).code, 0);
  auto whole = std::chrono::steady_clock::now() - begin;
  import_again();
  int killed = 0, before = 0;
  for (int i = 0; i < kMoments; ++i) {
    SCOPED_TRACE("BELAY_CRASH_SEED=" + std::to_string(seed) + ", moment " + std::to_string(i));
    Belay process(words, setting_for(folder));
    std::this_thread::sleep_for(whole * static_cast<int>(random.bits() % 1000) / 1000);
    process.send(SIGKILL);
    killed += process.finish().code == kKilled ? 1 : 0;
    std::size_t there = notes();
    EXPECT_TRUE(there == 0 || there == diary_notes()) << there << " notes";
    before += there == 0 ? 1 : 0;
    import_again();
    if (HasFailure()) return;
  }
  EXPECT_GT(killed, 0);
  std::cout << "evidence: " << killed << " kills of an import of " << diary_notes()
            << " notes: " << before << " before its commit, " << kMoments - before
            << " after it, none in its middle, seed " << seed << std::endl;
}

}  // namespace
}  // namespace belay::crash
