// The settings file: where it is found, what overrides it, and what it can contain.

#include <gtest/gtest.h>

#include <filesystem>
#include <map>

#include "tests/cli/belay_process.h"

namespace belay::cli::tests {
namespace {

class CliConfig : public testing::Test {
 protected:
  CliConfig() { world_.setting.environment.erase("BELAY_STORE"); }
  // Writes the settings file into its folder in the home folder.
  std::string write_settings(const std::string& text) {
    std::filesystem::create_directories(world_.folder.file(".config/belay"));
    return world_.write(".config/belay/belay.yaml", text);
  }
  using Answer = std::pair<std::string, std::string>;

  // Returns the value and the source of each setting, as `config explain` shows them.
  std::map<std::string, Answer> all_explained(Words words = {}) {
    words.insert(words.begin(), {"config", "explain", "--json"});
    Outcome shown = world_.run(words);
    EXPECT_EQ(shown.code, 0) << shown.err;
    const Value document = shown.json();
    std::map<std::string, Answer> all;
    const Value::Array* settings = document["settings"].as_array();
    for (const Value& one : settings ? *settings : Value::Array()) {
      all[*one["name"].as_string()] = {*one["value"].as_string(), *one["from"].as_string()};
    }
    return all;
  }
  Answer explained(const std::string& name, Words words = {}) {
    return all_explained(std::move(words))[name];
  }
  World world_;
};

TEST_F(CliConfig, AFlagWinsOverTheEnvironmentThatOverTheFileThatOverTheDefault) {
  EXPECT_EQ(explained("user"), Answer("local", "default"));
  std::string file = write_settings("# mine\nuser: ana\n");
  EXPECT_EQ(explained("user"), Answer("ana", "file " + file + ", line 2"));
  world_.setting.environment["BELAY_USER"] = "ben";
  EXPECT_EQ(explained("user"), Answer("ben", "environment BELAY_USER"));
  EXPECT_EQ(explained("user", {"--user", "eva"}), Answer("eva", "flag --user"));
}

TEST_F(CliConfig, AWorkersNameAndItsLimitsAreExplained) {
  EXPECT_EQ(explained("worker_name"), Answer("", "default"));
  EXPECT_EQ(explained("runs_per_user"), Answer("0", "default"));
  EXPECT_EQ(explained("starts_at_work"), Answer("1000", "default"));
  EXPECT_EQ(explained("blocking_threads"), Answer("4", "default"));
  EXPECT_EQ(explained("egress_hosts"), Answer("", "default"));
  EXPECT_EQ(explained("egress_networks"), Answer("", "default"));
  EXPECT_EQ(explained("egress_ports"), Answer("80, 443", "default"));
  world_.setting.environment["BELAY_TRUSTED_PROXIES"] = "10.0.0.1, ::1";
  EXPECT_EQ(explained("trusted_proxies").first, "10.0.0.1, ::1");
  world_.setting.environment["BELAY_TRUSTED_PROXIES"] = "10.0.0.1, proxy";
  EXPECT_EQ(world_.run({"threads"}).code, 2);
  world_.setting.environment.erase("BELAY_TRUSTED_PROXIES");
  using Refused = std::pair<const char*, const char*>;
  for (const auto& [variable, value] : {Refused("BELAY_EGRESS_HOSTS", "https://example.com"),
                                        {"BELAY_EGRESS_HOSTS", "a b"},
                                        {"BELAY_EGRESS_NETWORKS", "10.0.0.0/33"},
                                        {"BELAY_EGRESS_NETWORKS", "example.com"},
                                        {"BELAY_EGRESS_PORTS", "0"},
                                        {"BELAY_EGRESS_PORTS", "65536"},
                                        {"BELAY_EGRESS_PORTS", ","},
                                        {"BELAY_EGRESS_PORTS", "http"}}) {
    world_.setting.environment[variable] = value;
    auto refused = world_.run({"threads"});
    EXPECT_EQ(refused.code, 2) << variable << "=" << value;
    EXPECT_TRUE(refused.says({variable})) << refused.err;
    world_.setting.environment.erase(variable);
  }
  for (const char* threads : {"0", "-1", "257", "many", ""}) {
    world_.setting.environment["BELAY_BLOCKING_THREADS"] = threads;
    EXPECT_EQ(world_.run({"threads"}).code, *threads ? 2 : 0) << threads;
  }
  world_.setting.environment.erase("BELAY_BLOCKING_THREADS");
  std::string file = write_settings("worker_name: left\nruns_per_key: 3\n");
  EXPECT_EQ(explained("worker_name"), Answer("left", "file " + file + ", line 1"));
  EXPECT_EQ(explained("runs_per_key"), Answer("3", "file " + file + ", line 2"));
  world_.setting.environment["BELAY_WORKER_NAME"] = "right";
  EXPECT_EQ(explained("worker_name"), Answer("right", "environment BELAY_WORKER_NAME"));
  world_.setting.environment["BELAY_WORKER_NAME"] = std::string(300, 'x');
  Outcome refused = world_.run({"threads"});
  EXPECT_EQ(refused.code, 2);
  EXPECT_TRUE(refused.says({"worker name", "200"})) << refused.err;
  world_.setting.environment.erase("BELAY_WORKER_NAME");
  EXPECT_EQ(world_.run({"worker", "--until-idle", "--name", ""}).code, 2);
}

// Each setting that has a variable, by its key in the file: a new one needs a row.
TEST_F(CliConfig, EverySettingIsReadFromItsVariableAndFromTheFile) {
  const std::map<std::string, std::pair<std::string, std::string>> values = {
      {"store", {"BELAY_STORE", "sqlite:" + world_.folder.file("other.db")}},
      {"user", {"BELAY_USER", "ben"}},
      {"model", {"BELAY_MODEL", "ollama:a"}},
      {"model_url", {"BELAY_MODEL_URL", "http://127.0.0.1:9"}},
      {"language", {"BELAY_LANGUAGE", "es"}},
      {"time_zone", {"BELAY_TIME_ZONE", "Europe/Madrid"}},
      {"agent_max_retries", {"AGENT_MAX_RETRIES", "2"}},
      {"agent_timeout_ms", {"AGENT_TIMEOUT_MS", "1500"}},
      {"agent_require_approval", {"AGENT_REQUIRE_APPROVAL", "false"}},
      {"metrics_batch_interval_ms", {"METRICS_BATCH_INTERVAL_MS", "2500"}},
      {"failure_webhook_url", {"BELAY_FAILURE_WEBHOOK_URL", "https://alerts.example.com"}},
      {"runs_per_user", {"BELAY_RUNS_PER_USER", "3"}},
      {"runs_per_key", {"BELAY_RUNS_PER_KEY", "4"}},
      {"runs_per_queue", {"BELAY_RUNS_PER_QUEUE", "5"}},
      {"starts_per_minute", {"BELAY_STARTS_PER_MINUTE", "6"}},
      {"starts_at_work", {"BELAY_STARTS_AT_WORK", "7"}},
      {"blocking_threads", {"BELAY_BLOCKING_THREADS", "8"}},
      {"egress_hosts", {"BELAY_EGRESS_HOSTS", "none"}},
      {"egress_networks", {"BELAY_EGRESS_NETWORKS", "10.1.0.0/16, fd00::/8"}},
      {"egress_ports", {"BELAY_EGRESS_PORTS", "any"}},
      {"trusted_proxies", {"BELAY_TRUSTED_PROXIES", "10.0.0.1"}},
      {"worker_name", {"BELAY_WORKER_NAME", "left"}},
      {"log_level", {"BELAY_LOG_LEVEL", "warning"}},
      {"log_format", {"BELAY_LOG_FORMAT", "json"}},
      {"roles", {"BELAY_ROLES", "editor"}},
      {"no_approval_takes", {"BELAY_NO_APPROVAL_TAKES", "nobody"}},
      {"compression", {"BELAY_COMPRESSION", "never"}},
      {"redis", {"BELAY_REDIS", "redis://127.0.0.1:9/0"}},
      {"redis_for", {"BELAY_REDIS_FOR", "hints"}},
      {"redis_prefix", {"BELAY_REDIS_PREFIX", "mine:"}},
  };
  std::string text;
  for (const auto& [key, given] : values) {
    world_.setting.environment[given.first] = given.second;
    text += key + ": \"" + given.second + "\"\n";
  }
  auto shown = all_explained();
  for (const auto& [key, given] : values) {
    EXPECT_EQ(shown[key], Answer(given.second, "environment " + given.first));
    world_.setting.environment.erase(given.first);
  }
  std::string file = write_settings(text);
  shown = all_explained();
  int line = 0;
  for (const auto& [key, given] : values) {
    std::string from = "file " + file + ", line " + std::to_string(++line);
    EXPECT_EQ(shown[key], Answer(given.second, from));
  }
}

TEST_F(CliConfig, OfRedisAreNotUsedWithoutARedis) {
  EXPECT_EQ(explained("redis_for"), Answer("hints,limits", "default"));
  world_.setting.environment["BELAY_REDIS_FOR"] = "hints";
  EXPECT_EQ(explained("redis_for"), Answer("hints", "not used: no Redis is set"));
  std::string file = write_settings("redis_prefix: \"mine:\"\n");
  EXPECT_EQ(explained("redis_prefix"), Answer("mine:", "not used: no Redis is set"));
  EXPECT_EQ(explained("redis_for", {"--redis", "redis://127.0.0.1:9/0"}),
            Answer("hints", "environment BELAY_REDIS_FOR"));
}

// The default that `serve` uses.
TEST_F(CliConfig, WhoMayStartWithoutApprovalFollowsWhetherTheServerAsksAnybody) {
  EXPECT_EQ(explained("no_approval_takes"), Answer("decide", "default"));
  world_.setting.environment["AGENT_REQUIRE_APPROVAL"] = "false";
  EXPECT_EQ(explained("no_approval_takes"), Answer("run", "default"));
}

TEST_F(CliConfig, TheFileIsTheFirstThatThereIs) {
  write_settings("user: home\n");
  EXPECT_EQ(explained("user").first, "home");
  world_.setting.environment["XDG_CONFIG_HOME"] = world_.folder.file("xdg");
  EXPECT_EQ(explained("user").first, "local");
  std::filesystem::create_directories(world_.folder.file("xdg/belay"));
  world_.write("xdg/belay/belay.yaml", "user: xdg\n");
  EXPECT_EQ(explained("user").first, "xdg");
  world_.setting.environment["BELAY_CONFIG"] = world_.write("variable.yaml", "user: variable\n");
  EXPECT_EQ(explained("user").first, "variable");
  std::string flag = world_.write("flag.yaml", "user: flag\n");
  EXPECT_EQ(explained("user", {"--config", flag}).first, "flag");
  EXPECT_EQ(world_.run({"config", "path", "--config", flag}).out, flag + "\n");
}

TEST_F(CliConfig, WithoutAFilePathSaysWhereOneWouldBeRead) {
  Outcome path = world_.run({"config", "path"});
  EXPECT_EQ(path.code, 0);
  EXPECT_NE(path.out.find("./belay.yaml"), std::string::npos) << path.out;
  EXPECT_NE(path.out.find(".config/belay/belay.yaml"), std::string::npos) << path.out;
}

TEST_F(CliConfig, WhatItSaysIsObeyedAndItsPathsAreRelativeToIt) {
  write_settings("store: sqlite:mine.db\nlanguage: es\nhelp_text: Llama a Ana.\n");
  Outcome run = world_.run({"run", "routine", "--date", "2026-01-01"});
  EXPECT_EQ(run.code, 3) << run.err;
  EXPECT_TRUE(std::filesystem::exists(world_.folder.file(".config/belay/mine.db")));
  EXPECT_NE(run.out.find("pendiente de decisión"), std::string::npos) << run.out;
  EXPECT_EQ(explained("help_text").first, "Llama a Ana.");
}

TEST_F(CliConfig, WhatIsWrongInItIsToldWithItsLineAndOpensNoStore) {
  for (const auto& [text, parts] : std::map<std::string, Words>{
           {"user: ana\nstoer: x\n", {"line 2", "stoer", "Did you mean \"store\"?"}},
           {"user: ana\n\nuser: ben\n", {"line 3", "user", "twice"}},
           {"user: [ana]\n", {"line 1", "user"}},
           {"- user\n", {"line 1", "key: value"}},
           {"user: [ana\n", {"invalid YAML"}},
           {"language: fr\n", {"line 1", "fr", "en or es"}},
           {"compression: lots\n", {"line 1", "lots"}},
       }) {
    write_settings(text);
    Outcome refused = world_.run({"run", "routine", "--date", "2026-01-01"});
    EXPECT_EQ(refused.code, 2) << text << refused.err;
    EXPECT_TRUE(refused.says(parts)) << text << refused.err;
  }
  EXPECT_FALSE(std::filesystem::exists(world_.folder.file(".local/share/belay/belay.db")));
}

TEST_F(CliConfig, AFileThatIsNamedHasToBeThere) {
  Outcome refused = world_.run({"threads", "--config", world_.folder.file("none.yaml")});
  EXPECT_EQ(refused.code, 2);
  EXPECT_TRUE(refused.says({"none.yaml"})) << refused.err;
}

TEST_F(CliConfig, NoKeyIsShown) {
  world_.setting.environment["BELAY_KEYS"] = "k1:" + std::string(64, 'a');
  Outcome shown = world_.run({"config", "explain"});
  EXPECT_EQ(shown.code, 0) << shown.err;
  EXPECT_EQ(shown.out.find("aaaa"), std::string::npos) << shown.out;
  EXPECT_NE(shown.out.find("BELAY_KEYS"), std::string::npos) << shown.out;
}

// The variables that hosting platforms set; a variable or setting of Belay overrides them.
TEST_F(CliConfig, TheNamesOfHostsCountWhereNothingElseDoes) {
  auto& environment = world_.setting.environment;
  environment["REDIS_URL"] = "redis://127.0.0.1:1/3";
  environment["CHECKPOINT_ENCRYPTION_KEY"] = std::string(64, 'a');
  EXPECT_EQ(explained("redis"), Answer("redis://127.0.0.1:1/3", "environment REDIS_URL"));
  EXPECT_EQ(explained("key_file"), Answer("", "environment CHECKPOINT_ENCRYPTION_KEY"));
  std::string file = write_settings("redis: redis://127.0.0.1:2/4\n");
  environment["BELAY_KEYS"] = "k1:" + std::string(64, 'b');
  EXPECT_EQ(explained("redis"), Answer("redis://127.0.0.1:2/4", "file " + file + ", line 1"));
  EXPECT_EQ(explained("key_file"), Answer("", "environment BELAY_KEYS"));
  environment.erase("BELAY_KEYS");
  environment["CHECKPOINT_ENCRYPTION_KEY"] = "short";
  Outcome refused = world_.run({"threads"});
  EXPECT_EQ(refused.code, 2) << refused.err;
  EXPECT_TRUE(refused.says({"CHECKPOINT_ENCRYPTION_KEY cannot be used"})) << refused.err;
  environment.erase("CHECKPOINT_ENCRYPTION_KEY");
  // A URL for another program is ignored.
  write_settings("user: ana\n");
  environment["REDIS_URL"] = "unix:///run/other.sock";
  EXPECT_EQ(explained("redis"), Answer("", "default"));
}

}  // namespace
}  // namespace belay::cli::tests
