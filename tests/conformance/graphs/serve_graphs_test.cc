// `belay serve --graphs conformance` as a real process.

#include <gtest/gtest.h>

#include <set>

#include "tests/cli/served.h"

namespace belay::conformance {
namespace {

using cli::tests::Got;
using cli::tests::Outcome;
using cli::tests::Served;
using cli::tests::World;

constexpr const char* kRun = R"({"threadId":"t","input":{"messages":[{"role":"human",
    "content":"foo"}]}})";

std::set<std::string> agents_of(Served& served) {
  std::set<std::string> names;
  Value listed = served.get("/api/agents").json();
  const Value::Array* agents = listed["agents"].as_array();
  if (!agents) return names;
  for (const Value& agent : *agents) names.insert(cli::tests::text(agent["name"]));
  return names;
}

TEST(ConformanceServer, HasTheGraphsAndTheRouteOnlyWithTheOption) {
  World world;
  {
    Served ordinary(world.setting);
    ASSERT_TRUE(ordinary.is_up());
    EXPECT_FALSE(agents_of(ordinary).contains("weather"));
    EXPECT_EQ(ordinary.post("/internal/truncate", R"({"threads":true})").status, 404);
    EXPECT_EQ(ordinary.post("/api/agents/agent/runs", kRun).status, 404);
  }
  Served served(world.setting, {"--graphs", "conformance"});
  ASSERT_TRUE(served.is_up());
  std::set<std::string> names = agents_of(served);
  for (const char* name : {"agent", "agent_simple", "weather", "nested", "error", "delay",
                           "dynamic", "simple_runtime"}) {
    EXPECT_TRUE(names.contains(name)) << name;
  }
  Got run = served.send("POST", "/api/agents/agent/runs", kRun, {{"Prefer", "wait=60"}});
  EXPECT_EQ(run.status, 200) << run.body;
  EXPECT_EQ(run.json()["state"]["messages"].as_array()->size(), 4u) << run.body;
  EXPECT_EQ(served.post("/internal/truncate", R"({"threads":true})").status, 200);
  EXPECT_EQ(served.get("/api/threads/t").status, 404);
}

TEST(ConformanceServer, IsNotStartedWithOtherGraphs) {
  World world;
  Outcome refused = world.run({"serve", "--graphs", "nothing"});
  EXPECT_EQ(refused.code, 2);
  EXPECT_NE(refused.err.find("--graphs"), std::string::npos) << refused.err;
}

}  // namespace
}  // namespace belay::conformance
