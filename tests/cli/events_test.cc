// belay events: the events of a run, read by another process than its owner.

#include <gtest/gtest.h>
#include <signal.h>

#include <algorithm>

#include "tests/cli/belay_process.h"

namespace belay::cli::tests {
namespace {

class CliEvents : public ::testing::Test {
 protected:
  void SetUp() override {
    Outcome imported = world.run({"notes", "import", "-"}, note_line("2026-01-01", hard_day()));
    ASSERT_EQ(imported.code, 0) << imported.err;
    ASSERT_EQ(world.run({"run", "daily-audit", "--date", "2026-01-01", "--thread", "t"}).code, 3);
  }
  static std::vector<std::string> lines(const std::string& text) {
    std::vector<std::string> found;
    std::size_t from = 0;
    for (std::size_t end = 0; (end = text.find('\n', from)) != text.npos; from = end + 1) {
      found.push_back(text.substr(from, end - from));
    }
    return found;
  }
  World world;
};

TEST_F(CliEvents, EachEventIsALineAndWithJsonADocument) {
  Outcome shown = world.run({"events", "t", "--kinds", "status,approvals"});
  EXPECT_EQ(shown.code, 0) << shown.err;
  EXPECT_EQ(lines(shown.out).size(), 3u) << shown.out;
  EXPECT_NE(shown.out.find("awaitingApproval"), std::string::npos);
  Outcome documents =
      world.run({"events", "t", "--json", "--kinds", "status", "--kinds", "approvals"});
  std::vector<std::string> kinds;
  for (const std::string& line : lines(documents.out)) {
    Value event = parse_json(line).value();
    kinds.push_back(*event["kind"].as_string());
    EXPECT_EQ(event["threadId"], Value("t"));
    EXPECT_TRUE(event["id"].as_string());
  }
  EXPECT_EQ(kinds, (std::vector<std::string>{"status", "approvals", "status"}));
}

TEST_F(CliEvents, ALongEventIsCutAfterTwoHundredColumns) {
  int cut = 0;
  for (const std::string& line : lines(world.run({"events", "t"}).out)) {
    if (!line.ends_with("\xE2\x80\xA6")) continue;
    ++cut;
    std::string body = line.substr(line.rfind("  ") + 2);
    auto is_first_byte = [](char byte) { return (byte & 0xc0) != 0x80; };
    EXPECT_EQ(std::count_if(body.begin(), body.end(), is_first_byte), 200) << line;
  }
  EXPECT_GT(cut, 0);
}

TEST_F(CliEvents, WhoComesBackWithAnIdGetsTheRest) {
  std::vector<std::string> all = lines(world.run({"events", "t", "--json"}).out);
  ASSERT_GT(all.size(), 10u);
  std::string id = *parse_json(all[4]).value()["id"].as_string();
  all.erase(all.begin(), all.begin() + 5);
  EXPECT_EQ(lines(world.run({"events", "t", "--json", "--after", id}).out), all);
}

TEST_F(CliEvents, AProcessThatFollowsSeesWhatAnotherOneDoes) {
  Belay following({"events", "t", "--follow", "--json"}, world.setting);
  ASSERT_EQ(world.run({"approvals", "approve", "t"}).code, 0);
  Outcome followed = following.finish();
  EXPECT_EQ(followed.code, 0) << followed.err;
  EXPECT_EQ(followed.out, world.run({"events", "t", "--json"}).out);
  EXPECT_NE(followed.out.find("\"outcome\":\"saved\""), std::string::npos);
}

TEST_F(CliEvents, ASignalEndsIt) {
  Belay following({"events", "t", "--follow"}, world.setting);
  // It has started when another command has ended.
  ASSERT_EQ(world.run({"threads"}).code, 0);
  following.send(SIGTERM);
  EXPECT_EQ(following.finish().code, 143);
}

TEST_F(CliEvents, WhatCantBeReadIsRefusedInALine) {
  EXPECT_EQ(world.run({"events", "nobody"}).code, 2);
  EXPECT_EQ(world.run({"events"}).code, 2);
  Outcome after = world.run({"events", "t", "--after", "12"});
  EXPECT_EQ(after.code, 2);
  EXPECT_TRUE(after.says({"--after", "12-3"})) << after.err;
  Outcome beyond = world.run({"events", "t", "--after", "900-0"});
  EXPECT_EQ(beyond.code, 2);
  EXPECT_TRUE(beyond.says({"900-0"})) << beyond.err;
  Outcome kinds = world.run({"events", "t", "--kinds", "status,colours"});
  EXPECT_EQ(kinds.code, 2);
  EXPECT_TRUE(kinds.says({"colours", "checkpoints"})) << kinds.err;
}

}  // namespace
}  // namespace belay::cli::tests
