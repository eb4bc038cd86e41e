// belay api: the description of the server's responses, without a server.

#include <gtest/gtest.h>

#include <fstream>
#include <sstream>

#include "tests/cli/belay_process.h"

namespace belay::cli::tests {
namespace {

TEST(CliApi, DescribesEachAddressAndLeavesTheStoreAlone) {
  World world;
  Outcome described = world.run({"api"});
  ASSERT_EQ(described.code, 0) << described.err;
  Value description = described.json();
  EXPECT_EQ(description["openapi"], Value("3.1.0"));
  EXPECT_FALSE(description["paths"]["/api/agents/daily-audit"]["post"].is_null());
  EXPECT_FALSE(std::ifstream(world.store_path()).good());
}

// Update with: belay api --markdown > docs/api-reference.md
TEST(CliApi, TheReferenceInTheDocumentsIsWhatItSays) {
  std::ifstream file(BELAY_SOURCE_DIR "/docs/api-reference.md");
  ASSERT_TRUE(file);
  std::ostringstream kept;
  kept << file.rdbuf();
  Outcome described = World().run({"api", "--markdown"});
  EXPECT_EQ(described.out, kept.str());
}

TEST(CliDemo, PlaysToItsEndAndLeavesNothingBehind) {
  World world;
  Outcome played = world.run({"demo", "--json"});
  EXPECT_EQ(played.code, 0) << played.err;
  EXPECT_EQ(played.json()["worked"], Value(true));
  EXPECT_EQ(played.json()["steps"].as_array()->size(), 6u);
  EXPECT_FALSE(std::ifstream(world.store_path()).good());
}

}  // namespace
}  // namespace belay::cli::tests
