// The sources of settings, and their effect on the output.

#include <gtest/gtest.h>

#include <filesystem>

#include "tests/cli/belay_process.h"

namespace belay::cli::tests {
namespace {

TEST(CliSettings, TheStoreIsInTheUsersDataDirectoryByDefault) {
  World world;
  world.setting.environment.erase("BELAY_STORE");
  Words run = {"run", "routine", "--date", "2026-01-01"};
  ASSERT_EQ(world.run(run).code, 3);
  std::string store = world.folder.file(".local/share/belay/belay.db");
  EXPECT_TRUE(std::filesystem::exists(store));
  auto rights = std::filesystem::status(std::filesystem::path(store).parent_path()).permissions();
  EXPECT_EQ(rights & std::filesystem::perms::others_all, std::filesystem::perms::none);

  world.setting.environment["XDG_DATA_HOME"] = world.folder.file("data");
  ASSERT_EQ(world.run(run).code, 3);
  EXPECT_TRUE(std::filesystem::exists(world.folder.file("data/belay/belay.db")));

  world.setting.environment.erase("XDG_DATA_HOME");
  world.setting.environment.erase("HOME");
  Outcome homeless = world.run({"threads"});
  EXPECT_EQ(homeless.code, 2);
  EXPECT_TRUE(homeless.says({"HOME", "--store"})) << homeless.err;
}

TEST(CliSettings, AFlagWinsOverTheEnvironment) {
  World world;
  std::string other = "sqlite:" + world.folder.file("other.db");
  Outcome run = world.run({"run", "routine", "--date", "2026-01-01", "--store", other});
  EXPECT_EQ(run.code, 3) << run.err;
  EXPECT_TRUE(std::filesystem::exists(world.folder.file("other.db")));
  EXPECT_FALSE(std::filesystem::exists(world.store_path()));
  EXPECT_NE(run.out.find("--store " + other), std::string::npos)
      << "the next command names the store too: " << run.out;

  world.setting.environment["AGENT_MAX_RETRIES"] = "1";
  world.setting.environment["BELAY_TEST_MODEL_FAILS"] = "1";
  EXPECT_EQ(world.run({"run", "routine", "--date", "2026-01-01"}).code, 1);
  EXPECT_EQ(world.run({"run", "routine", "--date", "2026-01-01", "--max-retries", "2"}).code, 3);
}

TEST(CliSettings, AModelThatDoesNotExistIsRefusedAndNothingElseTakesItsPlace) {
  World world;
  world.setting.environment["BELAY_MODEL"] = "llama3.2";
  Outcome refused = world.run({"run", "routine", "--date", "2026-01-01"});
  EXPECT_EQ(refused.code, 2);
  EXPECT_TRUE(refused.says({"llama3.2", "builtin"})) << refused.err;
  EXPECT_EQ(world.run({"run", "routine", "--date", "2026-01-01", "--model", "builtin"}).code, 3);
}

TEST(CliSettings, BadVariablesAreNamed) {
  World world;
  for (const auto& [name, value] : std::map<std::string, std::string>{
           {"BELAY_STORE", "postgres:x"},
           {"BELAY_LANGUAGE", "fr"},
           {"BELAY_USER", "a\nb"},
           {"AGENT_TIMEOUT_MS", "5 minutes"},
           {"AGENT_REQUIRE_APPROVAL", "perhaps"},
       }) {
    Setting setting = world.setting;
    setting.environment[name] = value;
    Outcome refused = run_belay({"run", "routine", "--date", "2026-01-01"}, setting);
    EXPECT_EQ(refused.code, 2) << name << refused.err;
    EXPECT_TRUE(refused.says({"belay: "})) << name << ": " << refused.err;
    EXPECT_FALSE(std::filesystem::exists(world.store_path())) << name;
  }
}

TEST(CliSettings, ColoursOnlyOnATerminalThatWantsThem) {
  World world;
  Setting setting = world.setting;
  Words words = {"run", "routine", "--date", "2026-01-01"};
  EXPECT_EQ(world.run(words).out.find('\x1b'), std::string::npos);
  setting.terminal = true;
  setting.environment["TERM"] = "xterm";
  Outcome coloured = run_belay(words, setting);
  EXPECT_NE(coloured.out.find("\x1b[1m"), std::string::npos);
  EXPECT_NE(coloured.out.find("\r\x1b[K"), std::string::npos) << "a living line a node";
  setting.environment["NO_COLOR"] = "1";
  EXPECT_EQ(run_belay(words, setting).out.find("\x1b[1m"), std::string::npos);
  setting.environment.erase("NO_COLOR");
  setting.environment["TERM"] = "dumb";
  EXPECT_EQ(run_belay(words, setting).out.find('\x1b'), std::string::npos);
}

TEST(CliSettings, PlainLettersWhereTheLocaleHasNoOthers) {
  World world;
  world.setting.environment["LC_ALL"] = "C";
  Outcome run = world.run({"run", "routine", "--date", "2026-01-01"});
  EXPECT_NE(run.err.find("ok analyzer"), std::string::npos) << run.err;
}

}  // namespace
}  // namespace belay::cli::tests
