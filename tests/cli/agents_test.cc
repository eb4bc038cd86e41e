// belay agents: the agents that this program can run, without a store.

#include <gtest/gtest.h>

#include <filesystem>

#include "tests/cli/belay_process.h"

namespace belay::cli::tests {
namespace {

TEST(CliAgents, AreListedAndShownWithoutAStore) {
  World world;
  Outcome list = world.run({"agents", "list"});
  EXPECT_EQ(list.code, 0) << list.err;
  EXPECT_NE(list.out.find("daily_auditor"), std::string::npos) << list.out;
  EXPECT_NE(list.out.find("routine_generator"), std::string::npos) << list.out;

  Outcome shown = world.run({"agents", "show", "daily_auditor", "--json"});
  EXPECT_EQ(shown.code, 0) << shown.err;
  EXPECT_EQ(shown.json()["name"], Value("daily_auditor"));
  EXPECT_EQ(shown.json()["entries"], Value(Value::Array{"fetchNotes"}));
  EXPECT_EQ(shown.json()["nodes"].as_array()->size(), 5u);
  EXPECT_FALSE(std::filesystem::exists(world.store_path()));
}

TEST(CliAgents, AGraphIsDrawnInEachFormat) {
  World world;
  Outcome mermaid = world.run({"agents", "graph", "daily_auditor", "--format", "mermaid"});
  EXPECT_EQ(mermaid.code, 0) << mermaid.err;
  EXPECT_TRUE(mermaid.out.starts_with("flowchart TD\n")) << mermaid.out;
  Outcome dot = world.run({"agents", "graph", "daily_auditor", "--format", "dot"});
  EXPECT_TRUE(dot.out.starts_with("digraph \"daily_auditor\" {\n")) << dot.out;
  Outcome text = world.run({"agents", "graph", "daily_auditor"});
  EXPECT_TRUE(text.out.starts_with("start\n  -> fetchNotes\n")) << text.out;
  EXPECT_EQ(world.run({"agents", "graph", "daily_auditor", "--format", "png"}).code, 2);
}

TEST(CliAgents, AnUnknownNameIsToldWhichThereAre) {
  World world;
  Outcome refused = world.run({"agents", "show", "auditor"});
  EXPECT_EQ(refused.code, 2);
  EXPECT_TRUE(refused.says({"auditor", "daily_auditor"})) << refused.err;
}

}  // namespace
}  // namespace belay::cli::tests
