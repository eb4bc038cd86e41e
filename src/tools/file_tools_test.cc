// The tools as an agent calls them, and through a crash at every point.

#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>
#include <map>
#include <sstream>

#include "belay/agent.h"
#include "belay/testing.h"
#include "belay/tools.h"
#include "tests/conformance/temporary_folder.h"

namespace belay {
namespace {

namespace fs = std::filesystem;

// A model whose reply follows from the number of results in the request: the same after a crash.
class StepModel final : public Model {
 public:
  using Steps = std::vector<std::vector<ToolCall>>;
  explicit StepModel(Steps steps) : steps_(std::move(steps)) {}

  Task<Result<ModelReply>> generate(ModelRequest request) override { co_return reply_to(request); }

 private:
  ModelReply reply_to(const ModelRequest& request) const {
    ModelReply reply;
    reply.provider = "scripted";
    reply.model = "script";
    reply.method = "script";
    std::size_t results = 0;
    std::string last;
    for (const Message& message : request.messages) {
      if (message.role != Role::tool) continue;
      ++results;
      last = message.text;
    }
    std::size_t called = 0;
    for (const std::vector<ToolCall>& calls : steps_) {
      if (called == results) {
        reply.tool_calls = calls;
        reply.stop_reason = StopReason::tool_calls;
        return reply;
      }
      called += calls.size();
    }
    reply.text = last;
    return reply;
  }

  Steps steps_;
};

ToolCall write_call(std::string id, std::string path, std::string text) {
  return {std::move(id), "write_file",
          Value::object({{"path", std::move(path)}, {"text", std::move(text)}})};
}

ToolCall read_call(std::string id, std::string path) {
  return {std::move(id), "read_file", Value::object({{"path", std::move(path)}})};
}

AgentState asked(std::string question) {
  AgentState state;
  state.question = std::move(question);
  return state;
}

std::string content_of(const fs::path& path) {
  std::ifstream file(path, std::ios::binary);
  std::stringstream text;
  text << file.rdbuf();
  return text.str();
}

// The files beneath a folder by their path, with their contents.
std::map<std::string, std::string> files_in(const fs::path& folder) {
  std::map<std::string, std::string> files;
  if (!fs::exists(folder)) return files;
  for (const auto& entry : fs::recursive_directory_iterator(folder)) {
    if (!entry.is_regular_file()) continue;
    files[fs::relative(entry.path(), folder).string()] = content_of(entry.path());
  }
  return files;
}

class ToolsOfAnAgent : public ::testing::Test {
 protected:
  FileToolOptions files() const {
    FileToolOptions options;
    options.root = folder_.file("artifacts");
    return options;
  }
  Result<Graph<AgentState>> graph(const FileToolOptions& options) const {
    AgentOptions agent;
    agent.tools = {write_file_tool(options), read_file_tool(options)};
    return agent_graph("writer", agent);
  }

  conformance::TemporaryFolder folder_;
};

testing::World world_with(StepModel::Steps steps) {
  testing::World world;
  world.model(std::make_shared<StepModel>(std::move(steps)));
  return world;
}

TEST_F(ToolsOfAnAgent, ReadTheFilesOfTheirRun) {
  auto world = world_with(
      {{write_call("a", "notes/today.md", "Rain.")}, {read_call("b", "notes/today.md")}});
  auto run = world.run(graph(files()), asked("Write.")).approve_all();
  ASSERT_FALSE(run.error()) << run.error()->message;
  EXPECT_EQ(run.state().answer, "Rain.");
  EXPECT_EQ(run.state().results.at("a").text, "Wrote 5 bytes to \"notes/today.md\".");
  EXPECT_FALSE(run.state().results.at("a").is_error);
  EXPECT_EQ(run.state().results.size(), 2u);
  auto written = files_in(folder_.file("artifacts"));
  ASSERT_EQ(written.size(), 1u);
  fs::path path = written.begin()->first;
  EXPECT_TRUE(uuid_from(path.begin()->string())) << path;
}

TEST_F(ToolsOfAnAgent, UseTheRootItselfIfItIsCommonToAllRuns) {
  FileToolOptions options = files();
  options.shared = true;
  auto world = world_with({{write_call("a", "x.txt", "text")}});
  auto run = world.run(graph(options), asked("Write.")).approve_all();
  ASSERT_FALSE(run.error()) << run.error()->message;
  EXPECT_EQ(files_in(options.root), (std::map<std::string, std::string>{{"x.txt", "text"}}));
}

TEST_F(ToolsOfAnAgent, ReturnFaultsOfAPathToTheModel) {
  auto world = world_with({{write_call("a", "../x", "text"), read_call("b", "missing")}});
  auto run = world.run(graph(files()), asked("Write.")).approve_all();
  ASSERT_FALSE(run.error()) << run.error()->message;
  const ToolResult& written = run.state().results.at("a");
  EXPECT_TRUE(written.is_error);
  EXPECT_EQ(written.text,
            "Error: The path \"../x\" has the component \"..\", which is not allowed. Use a "
            "relative path such as \"notes/today.md\".");
  EXPECT_TRUE(run.state().results.at("b").is_error);
  EXPECT_FALSE(fs::exists(folder_.file("x")));
}

TEST_F(ToolsOfAnAgent, LeaveTheSameFilesWhereverTheProcessCrashes) {
  StepModel::Steps steps = {
      {write_call("a", "one.txt", "1"), write_call("b", "folder/two.txt", "2")},
      {write_call("c", "one.txt", "changed")},
      {read_call("d", "one.txt"), read_call("e", "folder/two.txt")}};
  auto world = world_with(steps);
  auto baseline = world.run(graph(files()), asked("Write.")).approve_all();
  ASSERT_FALSE(baseline.error()) << baseline.error()->message;
  auto expected = files_in(files().root);
  ASSERT_EQ(expected.size(), 2u);
  EXPECT_EQ(baseline.state().results.at("d").text, "changed");
  EXPECT_GT(baseline.crash_points().size(), 10u);
  for (const auto& crash : baseline.crash_points()) {
    fs::remove_all(files().root);
    auto crashed = world.run(graph(files()), asked("Write.")).crash_at(crash).approve_all();
    ASSERT_FALSE(crashed.error()) << crashed.error()->message;
    EXPECT_EQ(crashed.crashes(), 1);
    EXPECT_EQ(crashed.state(), baseline.state());
    EXPECT_EQ(crashed.effects("call"), 3);
    EXPECT_EQ(files_in(files().root), expected);
  }
}

TEST_F(ToolsOfAnAgent, SearchFoldersThroughACrashAtEveryPoint) {
  fs::create_directory(folder_.file("handbook"));
  std::ofstream(folder_.file("handbook/travel.md"))
      << "# Travel\n\nTrips need the approval of a lead.\n\nTrains are preferred.\n";
  auto search = local_search_tool({.folders = {folder_.file("handbook")}});
  ASSERT_TRUE(search.ok()) << search.error().message;
  AgentOptions options;
  options.tools = {*search};
  auto agent = agent_graph("guide", options);
  ToolCall call{"a", "search", Value::object({{"query", "who has the approval? \"NEAR("}})};
  auto world = world_with({{call}});
  auto baseline = world.run(agent, asked("Who?")).approve_all();
  ASSERT_FALSE(baseline.error()) << baseline.error()->message;
  EXPECT_EQ(baseline.state().answer, R"({"results":[{"file":"handbook/travel.md","line":3,)"
                                     R"("text":"Trips need the approval of a lead."}],"note":""})");
  for (const auto& crash : baseline.crash_points()) {
    auto crashed = world.run(agent, asked("Who?")).crash_at(crash).approve_all();
    ASSERT_FALSE(crashed.error()) << crashed.error()->message;
    EXPECT_EQ(crashed.state(), baseline.state());
  }
}

}  // namespace
}  // namespace belay
