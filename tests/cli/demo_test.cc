// belay demo ends with commands to continue with.

#include <gtest/gtest.h>

#include <algorithm>
#include <sstream>

#include "tests/cli/belay_process.h"

namespace belay::cli::tests {
namespace {

// Returns the commands in the last lines of the demonstration, without "belay".
std::vector<Words> next_commands(const std::string& output) {
  std::vector<Words> commands;
  const std::string call = " belay ";
  std::istringstream lines(output.substr(std::min(output.find("Demo completed"), output.size())));
  for (std::string line; std::getline(lines, line);) {
    std::size_t at = line.find(call);
    if (at == line.npos) continue;
    std::istringstream words(line.substr(at + call.size()));
    Words& command = commands.emplace_back();
    for (std::string word; words >> word;) command.push_back(word);
  }
  return commands;
}

TEST(CliDemo, EndsWithCommandsThatExist) {
  World world;
  Outcome played = world.run({"demo"});
  ASSERT_EQ(played.code, 0) << played.err;
  std::vector<Words> commands = next_commands(played.out);
  EXPECT_EQ(commands.size(), 4u) << played.out;
  for (Words command : commands) {
    command.push_back("--help");
    Outcome help = world.run(command);
    EXPECT_EQ(help.code, 0) << command.front();
    // A group of commands cannot be executed: its help lists the commands.
    EXPECT_EQ(help.out.find("SUBCOMMAND"), help.out.npos) << help.out;
  }
}

TEST(CliDemo, DoesNotDependOnTheSettingsOfTheUser) {
  World world;
  world.setting.environment["AGENT_REQUIRE_APPROVAL"] = "false";
  world.setting.environment["CHECKPOINT_ENCRYPTION_KEY"] = std::string(64, 'a');
  world.setting.environment["BELAY_CONFIG"] =
      world.write("belay.yaml", "agent_require_approval: false\n");
  Outcome played = world.run({"demo"});
  EXPECT_EQ(played.code, 0) << played.out << played.err;
}

}  // namespace
}  // namespace belay::cli::tests
