// belay dev: a server that restarts after each build, while its runs continue.

#include <gtest/gtest.h>
#include <signal.h>

#include <filesystem>

#include "tests/cli/served.h"

namespace belay::cli::tests {
namespace {

class CliDev : public ::testing::Test {
 protected:
  // Replaces the binary as a linker does: the old file is removed, another one gets its name.
  void build() {
    std::filesystem::copy_file(BELAY_BINARY, program + ".new");
    std::filesystem::rename(program + ".new", program);
  }
  void begin() {
    build();
    dev = std::make_unique<Belay>(Words{"dev", program, "--listen", "127.0.0.1:0"}, world.setting);
    const std::string listening = "Listening on http://127.0.0.1:";
    ASSERT_TRUE(dev->waits_to_say(listening) && dev->waits_to_say(". Press Ctrl-C")) << dev->said();
    std::string said = dev->said();
    port = said.substr(said.find(listening) + listening.size());
    port = port.substr(0, port.find_first_not_of("0123456789"));
    client = world.setting;
    client.environment.erase("BELAY_STORE");
    client.environment["BELAY_SERVER"] = "http://127.0.0.1:" + port;
  }
  Outcome ask(const Words& words) { return run_belay(words, client); }

  World world;
  Setting client;
  std::string program = world.folder.file("agent");
  std::unique_ptr<Belay> dev;
  std::string port;
};

TEST_F(CliDev, StartsAnewWithEachBuildAndTheRunsGoOn) {
  ASSERT_EQ(world.run({"notes", "import", "-"}, note_line("2026-01-01", hard_day())).code, 0);
  begin();
  ASSERT_EQ(ask({"run", "daily-audit", "--date", "2026-01-01", "--thread", "t"}).code, 3);
  build();
  ASSERT_TRUE(dev->waits_to_say("The program was rebuilt")) << dev->said();
  ASSERT_TRUE(dev->waits_to_say("Listening on http://127.0.0.1:" + port + ". Press Ctrl-C"));
  // The first server printed the same line: wait for a result that only the second one can return.
  Outcome decided = ask({"approvals", "approve", "t", "--by", "ana"});
  for (int i = 0; i < 100 && decided.code != 0; ++i) {
    std::this_thread::sleep_for(std::chrono::milliseconds(50));
    decided = ask({"approvals", "approve", "t", "--by", "ana"});
  }
  EXPECT_EQ(decided.code, 0) << decided.err;
  dev->send(SIGTERM);
  EXPECT_EQ(dev->finish().code, 0);
  EXPECT_NE(ask({"threads"}).code, 0) << "the server has ended with it";
}

TEST_F(CliDev, WithoutAStoreItsRunsAreInAFolderThatOnlyItsUserReads) {
  namespace fs = std::filesystem;
  world.setting.environment.erase("BELAY_STORE");
  world.setting.folder = world.folder.file("work");
  fs::create_directory(world.setting.folder);
  begin();
  EXPECT_EQ(ask({"threads"}).code, 0);
  fs::path folder = world.setting.folder + "/.belay";
  EXPECT_TRUE(fs::exists(folder / "belay.db"));
  EXPECT_NE(dev->said().find("/.belay/belay.db (kept)"), std::string::npos) << dev->said();
  EXPECT_EQ(fs::status(folder).permissions(), fs::perms::owner_all);
}

TEST_F(CliDev, AServerThatDiedIsStartedWithTheNextBuild) {
  begin();
  std::filesystem::remove(program);
  std::filesystem::copy_file("/bin/false", program);
  ASSERT_TRUE(dev->waits_to_say("exited with code 1")) << dev->said();
  build();
  Outcome answered = ask({"threads"});
  for (int i = 0; i < 200 && answered.code != 0; ++i) {
    std::this_thread::sleep_for(std::chrono::milliseconds(50));
    answered = ask({"threads"});
  }
  EXPECT_EQ(answered.code, 0) << answered.err;
}

TEST_F(CliDev, WhatIsNoProgramIsRefused) {
  Outcome missing = world.run({"dev", world.folder.file("nothing")});
  EXPECT_EQ(missing.code, 2);
  EXPECT_TRUE(missing.says({"nothing", "Build it first"})) << missing.err;
  EXPECT_EQ(world.run({"dev", world.folder.path()}).code, 2) << "a folder";
  EXPECT_EQ(world.run({"dev", "--server", "http://127.0.0.1:1"}).code, 2);
}

}  // namespace
}  // namespace belay::cli::tests
