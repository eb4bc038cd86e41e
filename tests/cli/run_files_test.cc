// A run as a file: exported from one store, imported into another.

#include <gtest/gtest.h>
#include <sys/stat.h>

#include "tests/cli/belay_process.h"

namespace belay::cli::tests {
namespace {

class CliRunFiles : public ::testing::Test {
 protected:
  void SetUp() override {
    Outcome imported = world.run({"notes", "import", "-"}, note_line("2026-01-01", hard_day()));
    ASSERT_EQ(imported.code, 0) << imported.err;
    ASSERT_EQ(world.run({"run", "daily-audit", "--date", "2026-01-01", "--thread", "t"}).code, 3);
  }
  void approve() { ASSERT_EQ(world.run({"approvals", "approve", "t", "--by", "ana"}).code, 0); }

  World world;
  World elsewhere;
};

TEST_F(CliRunFiles, ARunGoesIntoAnotherStoreAndIsTheSameThere) {
  approve();
  std::string file = world.folder.file("t.json");
  Outcome written = world.run({"export", "t", "--to", file});
  ASSERT_EQ(written.code, 0) << written.err;
  struct stat status{};
  ASSERT_EQ(stat(file.c_str(), &status), 0);
  EXPECT_EQ(status.st_mode & 0777, 0600u);
  EXPECT_EQ(world.run({"export", "t", "--to", file}).code, 2) << "it is there already";

  Outcome read = elsewhere.run({"import", file});
  ASSERT_EQ(read.code, 0) << read.err;
  for (const Words& words : std::vector<Words>{{"history", "t", "--json"},
                                               {"calls", "t", "--json"},
                                               {"state", "t", "--json"},
                                               {"events", "t", "--json"}}) {
    EXPECT_EQ(elsewhere.run(words).out, world.run(words).out) << words.front();
  }
  EXPECT_EQ(elsewhere.run({"check"}).code, 0);
  EXPECT_EQ(elsewhere.run({"fork", "t", "--at", "2", "--thread", "u"}).code, 3) << "it waits anew";
  EXPECT_EQ(elsewhere.run({"import", file}).code, 0) << "the same again changes nothing";
  Outcome line = elsewhere.run({"import", file});
  EXPECT_NE(line.out.find("  (Thread t)\n  show:  "), std::string::npos) << line.out;
  EXPECT_EQ(line.out.find("no diagnosis"), std::string::npos) << line.out;
}

TEST_F(CliRunFiles, ARunThatGoesOnIsTakenOnlyWhereSomebodyMeansIt) {
  std::string text = world.run({"export", "t"}).out;
  Outcome refused = elsewhere.run({"import", "-"}, text);
  EXPECT_EQ(refused.code, 2);
  EXPECT_NE(refused.err.find("it is paused"), std::string::npos) << refused.err;
  EXPECT_NE(refused.err.find("--allow-unfinished"), std::string::npos) << refused.err;
  EXPECT_EQ(elsewhere.run({"state", "t"}).code, 2) << "nothing was written";
  EXPECT_EQ(elsewhere.run({"import", "-", "--allow-unfinished"}, text).code, 0);
  EXPECT_EQ(elsewhere.run({"approvals", "approve", "t", "--by", "ana"}).code, 0);
}

TEST_F(CliRunFiles, WhatIsNoSoundFileIsRefusedAndWritesNothing) {
  approve();
  std::string text = world.run({"export", "t"}).out;
  std::string changed = text;
  changed.replace(changed.find("\"saved\""), 7, "\"spoilt\"");
  for (const auto& [what, spoilt] : std::vector<std::pair<std::string, std::string>>{
           {"changed", changed},
           {"cut off", text.substr(0, text.size() / 2)},
           {"empty", ""},
           {"no object", "[]"},
           {"another document", R"({"belay":"graph"})"},
           {"of a later version", R"({"belay":"run","version":99})"}}) {
    Outcome refused = elsewhere.run({"import", "-"}, spoilt);
    EXPECT_NE(refused.code, 0) << what;
    EXPECT_FALSE(refused.err.empty()) << what;
  }
  EXPECT_EQ(elsewhere.run({"import", elsewhere.folder.file("nothing.json")}).code, 2);
  EXPECT_EQ(world.run({"export", "nobody"}).code, 2);
  EXPECT_TRUE(elsewhere.run({"threads", "--json"}).json()["threads"].as_array()->empty());
}

}  // namespace
}  // namespace belay::cli::tests
