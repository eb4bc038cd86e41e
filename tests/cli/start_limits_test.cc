// Limits on the runs in progress that requests of one address have started.

#include <gtest/gtest.h>
#include <sys/stat.h>

#include "tests/cli/served.h"

namespace belay::cli::tests {
namespace {

// A server with API keys that trusts the addresses in X-Forwarded-For.
class CliStartLimits : public ::testing::Test {
 protected:
  CliStartLimits() {
    world.setting.binary = BELAY_SHOP_BINARY;
    world.setting.environment["BELAY_TRUSTED_PROXIES"] = "127.0.0.1";
    keys = world.write("keys", "ana run token-of-ana-0001\nbob run token-of-bob-0001\n");
    ::chmod(keys.c_str(), 0600);
  }
  // Starts a run that is in progress for longer than the test.
  static Got start(Served& served, const std::string& who, const std::string& address) {
    return served.send("POST", "/api/agents/journey/runs", R"({"input":{"seconds":600}})",
                       {{"Authorization", "Bearer token-of-" + who + "-0001"},
                        {"X-Forwarded-For", address},
                        {"Prefer", "wait=0"}});
  }
  static void expect_refused(const Got& got, const std::string& limit) {
    EXPECT_EQ(got.status, 429) << got.body;
    EXPECT_EQ(got.retry_after, "1");
    EXPECT_NE(text(got.json()["detail"]).find(limit), std::string::npos) << got.body;
  }

  World world;
  std::string keys;
};

TEST_F(CliStartLimits, WithKeysAnAddressHasFiveRunsInProgressIfNoOptionIsGiven) {
  Served served(world.setting, {"--api-keys", keys});
  ASSERT_TRUE(served.is_up());
  for (const char* who : {"ana", "bob", "ana", "bob", "ana"}) {
    EXPECT_EQ(start(served, who, "192.0.2.1").status, 202);
  }
  expect_refused(start(served, "bob", "192.0.2.1"),
                 R"(5 runs started by requests of the address "192.0.2.1")");
  EXPECT_EQ(start(served, "bob", "192.0.2.2").status, 202) << "this user has fewer than five runs";
}

TEST_F(CliStartLimits, TheLimitOfAUserIsAlsoThatOfAnAddress) {
  world.setting.environment["BELAY_RUNS_PER_USER"] = "1";
  Served served(world.setting, {"--api-keys", keys});
  ASSERT_TRUE(served.is_up());
  EXPECT_EQ(start(served, "ana", "192.0.2.1").status, 202);
  expect_refused(start(served, "bob", "192.0.2.1"),
                 R"(1 runs started by requests of the address "192.0.2.1")");
  EXPECT_EQ(start(served, "bob", "192.0.2.2").status, 202);
}

}  // namespace
}  // namespace belay::cli::tests
