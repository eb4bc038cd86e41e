// `belay mcp`: the tools of an MCP server, which is a real process, listed, compared and called.

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <poll.h>
#include <signal.h>

#include <fstream>

#include "tests/cli/belay_process.h"

namespace belay::cli::tests {
namespace {

using ::testing::AllOf;
using ::testing::HasSubstr;
using ::testing::Not;

struct CliMcp : ::testing::Test {
  // Runs `mcp` with the words, on the scripted server with these arguments.
  Outcome run(Words words, const Words& server_arguments) {
    words.insert(words.begin(), "mcp");
    words.insert(words.end(), {"--program", SCRIPTED_MCP_SERVER});
    for (const std::string& each : server_arguments) words.push_back("--argument=" + each);
    return world.run(words);
  }

  World world;
};

TEST_F(CliMcp, ListsTheToolsOfAServerOfEitherEra) {
  Outcome modern = run({"list"}, {"modern"});
  EXPECT_EQ(modern.code, 0) << modern.err;
  EXPECT_THAT(modern.out, AllOf(HasSubstr("scripted 1, protocol 2026-07-28"), HasSubstr("echo"),
                                HasSubstr("Returns its text."), HasSubstr("refused: ")));
  Value document = run({"list", "--json"}, {"legacy"}).json();
  EXPECT_EQ(document["server"]["protocol"], Value("2025-11-25"));
  const Value::Array* tools = document["tools"].as_array();
  ASSERT_TRUE(tools && tools->size() > 2);
  EXPECT_EQ(tools->front()["name"], Value("echo"));
  EXPECT_EQ(tools->front()["effect"], Value("reads"));
  EXPECT_EQ(tools->front()["inputSchema"]["type"], Value("object"));
}

TEST_F(CliMcp, ChecksThePinsAndAcceptsTheToolsAsTheyAre) {
  TempFolder folder;
  Words check{"check", "--pins", folder.file("pins.json")};
  Words accept = check;
  accept.push_back("--accept");
  EXPECT_EQ(run(check, {"modern"}).code, 1) << "no tool is pinned";
  EXPECT_EQ(run(accept, {"modern"}).code, 0);
  Outcome equal = run(check, {"modern"});
  EXPECT_EQ(equal.code, 0) << equal.out;
  EXPECT_THAT(equal.out, HasSubstr("equal their pins"));
  // Other arguments are another server, also if its tools are equal.
  EXPECT_EQ(run(check, {"modern", "--greets"}).code, 1);
}

TEST_F(CliMcp, TriesATool) {
  Outcome echo = run({"try", "echo", R"({"text":"one\ntwo\u001b[31m"})"}, {"modern"});
  EXPECT_EQ(echo.code, 0) << echo.err;
  EXPECT_THAT(echo.out, AllOf(HasSubstr("one\ntwo"), Not(HasSubstr("\x1b"))));
  EXPECT_EQ(run({"try", "fail", "--json"}, {"modern"}).json()["isError"], Value(true));
  EXPECT_EQ(run({"try", "fail"}, {"modern"}).code, 1);
  EXPECT_EQ(run({"try", "echo", "[1]"}, {"modern"}).code, 2);
  EXPECT_EQ(run({"try", "echo", "{"}, {"modern"}).code, 2);
}

TEST_F(CliMcp, NamesTheFaultOfAServerThatCannotBeUsed) {
  EXPECT_TRUE(run({"try", "die"}, {"modern"}).says({"the disk is on fire"}));
  Outcome missing = world.run({"mcp", "list", "--program", "/nonexistent/server"});
  EXPECT_NE(missing.code, 0);
  EXPECT_THAT(missing.err, HasSubstr("/nonexistent/server"));
  EXPECT_EQ(world.run({"mcp", "list"}).code, 2);
  EXPECT_EQ(world.run({"mcp", "list", "--url", "ftp://example.com"}).code, 2);
  EXPECT_EQ(world.run({"mcp", "list", "--url", "http://127.0.0.1/", "--env", "A=b"}).code, 2);
  EXPECT_NE(world.run({"mcp", "list", "--url", "http://127.0.0.1:1/mcp"}).code, 0);
}

// Returns the first child of a process, which might not have started it yet; 0: none within a
// minute.
pid_t child_of(pid_t parent) {
  std::string name = std::to_string(parent);
  for (int i = 0; i < 6'000; ++i) {
    std::ifstream children("/proc/" + name + "/task/" + name + "/children");
    pid_t child = 0;
    if (children >> child) return child;
    ::poll(nullptr, 0, 10);
  }
  return 0;
}

TEST_F(CliMcp, EndsAtASignalTogetherWithTheServer) {
  Words words{"mcp",
              "try",
              "hang",
              "--program",
              SCRIPTED_MCP_SERVER,
              "--argument=modern",
              "--argument=--stays"};
  Belay process(words, world.setting);
  pid_t server = child_of(process.process());
  ASSERT_GT(server, 0);
  process.send(SIGTERM);
  EXPECT_EQ(process.finish().code, 128 + SIGTERM);
  EXPECT_EQ(::kill(server, 0), -1) << "the server is still there";
}

}  // namespace
}  // namespace belay::cli::tests
