// The belay program with a configured Redis: the diagnostics of doctor, and that nothing else
// depends on Redis.

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tests/cli/served.h"
#include "tests/redis/redis_server.h"

namespace belay::cli::tests {
namespace {

using belay::tests::Authority;
using belay::tests::connected;
using belay::tests::RedisServer;
using belay::tests::ScriptedRedis;
using std::chrono::hours;
using ::testing::HasSubstr;
using ::testing::Not;

constexpr const char* kNowhere = "redis://:hidden-word@127.0.0.1:1/0";

struct BelayWithRedis : ::testing::Test {
  void use(const std::string& url) { world.setting.environment["BELAY_REDIS"] = url; }
  // Returns doctor's diagnostics of Redis: "status detail -> advice" of each. A slow machine might
  // not complete a handshake in time: asks again, up to five times.
  std::string told() {
    std::string lines = told_once();
    for (int i = 0; i < 5 && lines.find("handshake in time") != lines.npos; ++i) {
      lines = told_once();
    }
    return lines;
  }
  std::string told_once() {
    Outcome doctor = world.run({"doctor", "--json"});
    EXPECT_EQ(doctor.code, 0) << doctor.err << doctor.out;
    std::string lines;
    const Value document = doctor.json();
    const Value::Array* checks = document["checks"].as_array();
    for (const Value& one : checks ? *checks : Value::Array()) {
      if (one["name"] != Value("redis")) continue;
      lines +=
          text(one["status"]) + " " + text(one["detail"]) + " -> " + text(one["advice"]) + "\n";
    }
    return lines;
  }
  void import_day() {
    ASSERT_EQ(world.run({"notes", "import", "-"}, note_line("2026-11-21", hard_day())).code, 0);
  }

  World world;
};

TEST_F(BelayWithRedis, DoctorTellsWhatIsWrongAndNamesTheSetting) {
  import_day();
  EXPECT_EQ(told(), "");
  use(kNowhere);
  EXPECT_THAT(told(), HasSubstr("warning redis://127.0.0.1:1/0: no server responds"));
  EXPECT_THAT(told(), HasSubstr("BELAY_REDIS"));
  EXPECT_THAT(told(), Not(HasSubstr("hidden-word")));
  RedisServer server({"--requirepass", "right", "--maxmemory", "1mb"});
  use(server.url(":wrong"));
  EXPECT_THAT(told(), HasSubstr("does not accept the password"));
  use(server.url());
  EXPECT_THAT(told(), HasSubstr("redis://:PASSWORD@HOST:PORT"));
  use(server.url(":right"));
  EXPECT_THAT(told(), HasSubstr("noeviction"));
}

TEST_F(BelayWithRedis, DoctorKnowsAGoodOneAForeignOneAndAReplica) {
  import_day();
  RedisServer server;
  use(server.url());
  EXPECT_THAT(told(), HasSubstr("ok redis://127.0.0.1:"));
  EXPECT_THAT(told(), HasSubstr("used for hints,limits"));
  auto random = system_random();
  auto client = connected(server.url(), *random);
  ASSERT_TRUE(client->call_and_wait({"SET", "somebody", "else"}).ok());
  EXPECT_THAT(told(), HasSubstr("1 of 1 inspected"));
  ASSERT_TRUE(client->call_and_wait({"REPLICAOF", "127.0.0.1", "1"}).ok());
  EXPECT_THAT(told(), HasSubstr("replica"));
}

constexpr const char* kHere = "IP:127.0.0.1,DNS:localhost";

TEST_F(BelayWithRedis, DoctorTrustsWhomTheSystemOrTheNamedFileTrusts) {
  import_day();
  Authority authority;
  RedisServer server(authority.issue(kHere), {"--requirepass", "right"});
  use(server.url(":right"));
  EXPECT_THAT(told(),
              HasSubstr("its certificate is not signed by an authority that this system trusts"));
  EXPECT_THAT(told(), HasSubstr("-> set redis_ca_file (BELAY_REDIS_CA_FILE) to a PEM file with the "
                                "certificate of its authority"));
  world.setting.environment["SSL_CERT_FILE"] = authority.file();
  EXPECT_THAT(told(), HasSubstr("ok rediss://127.0.0.1:"));
  world.setting.environment.erase("SSL_CERT_FILE");
  world.setting.environment["BELAY_REDIS_CA_FILE"] = authority.file();
  EXPECT_THAT(told(), HasSubstr("ok rediss://127.0.0.1:"));
  use(server.url(":wrong"));
  EXPECT_THAT(told(), HasSubstr("rediss://:PASSWORD@HOST:PORT"));
  Authority other;
  world.setting.environment["BELAY_REDIS_CA_FILE"] = other.file();
  EXPECT_THAT(told(), HasSubstr("not signed by an authority in \"" + other.file() + "\""));
  world.setting.environment["BELAY_REDIS_CA_FILE"] = "/nowhere/authority.pem";
  EXPECT_THAT(told(), HasSubstr("/nowhere/authority.pem\" of redis_ca_file could not be "));
  world.setting.environment["BELAY_REDIS_CA_FILE"] = world.write("nonsense.pem", "nonsense\n");
  EXPECT_THAT(told(), HasSubstr("contains no PEM certificates"));
  EXPECT_THAT(told(), Not(HasSubstr("wrong")));
}

TEST_F(BelayWithRedis, DoctorTellsAWrongCertificateFromAWrongPort) {
  import_day();
  Authority authority;
  world.setting.environment["BELAY_REDIS_CA_FILE"] = authority.file();
  RedisServer elsewhere(authority.issue("DNS:other.example"), {});
  use(elsewhere.url());
  EXPECT_THAT(told(), HasSubstr("its certificate is not for \"127.0.0.1\" -> use a host name"));
  RedisServer old(authority.issue(kHere, {.from = hours(-48), .until = hours(-24)}), {});
  use(old.url());
  EXPECT_THAT(told(), HasSubstr("has expired -> renew it"));
  ScriptedRedis answers([](int socket, int) { ScriptedRedis::say(socket, "-ERR what?\r\n"); });
  use("rediss" + answers.url().substr(std::string("redis").size()));
  EXPECT_THAT(told(), HasSubstr("that port does not use TLS -> write redis://"));
  RedisServer plain;
  use("rediss" + plain.url().substr(std::string("redis").size()));
  EXPECT_THAT(told(), HasSubstr("did not complete the TLS handshake in time -> check that"));
  world.setting.environment.erase("BELAY_REDIS_CA_FILE");
  RedisServer good(authority.issue(kHere), {});
  use("redis" + good.url().substr(std::string("rediss").size()));
  EXPECT_THAT(told(), HasSubstr("-> if that port uses TLS, write rediss://"));
}

TEST_F(BelayWithRedis, AFileOfAuthoritiesIsExplainedAndRefusedWhereNothingAsksForIt) {
  std::string file = world.write("belay.yaml", "redis_ca_file: certificates/authority.pem\n");
  world.setting.environment["BELAY_CONFIG"] = file;
  use("rediss://:hidden-word@127.0.0.1:1/0");
  Outcome explained = world.run({"config", "explain"});
  EXPECT_EQ(explained.code, 0) << explained.err;
  EXPECT_THAT(explained.out, HasSubstr(world.folder.file("certificates/authority.pem")));
  EXPECT_THAT(explained.out, HasSubstr("rediss://127.0.0.1:1/0"));
  use(kNowhere);
  Outcome refused = world.run({"threads"});
  EXPECT_EQ(refused.code, 2);
  EXPECT_TRUE(refused.says({file + ", line 1", "rediss://", "redis_ca_file"})) << refused.err;
  EXPECT_THAT(refused.err, Not(HasSubstr("hidden-word")));
}

TEST_F(BelayWithRedis, ASettingThatIsWrongIsRefusedWithoutItsPassword) {
  for (const char* wrong : {"redis://:hidden-word@", "rediss://:hidden-word@", "hidden-word"}) {
    use(wrong);
    Outcome refused = world.run({"threads"});
    EXPECT_EQ(refused.code, 2);
    EXPECT_TRUE(refused.says({"BELAY_REDIS"})) << refused.err;
    EXPECT_THAT(refused.err, Not(HasSubstr("hidden-word")));
  }
  use(kNowhere);
  world.setting.environment["BELAY_REDIS_FOR"] = "hints,magic";
  EXPECT_TRUE(world.run({"threads"}).says({"BELAY_REDIS_FOR", "magic"}));
  world.setting.environment["BELAY_REDIS_FOR"] = "replies";
  EXPECT_TRUE(world.run({"threads"}).says({"encrypted"}));
  world.setting.environment["BELAY_REDIS_FOR"] = "limits,checkpoints";
  Outcome explained = world.run({"config", "explain"});
  EXPECT_THAT(explained.out, HasSubstr("redis://127.0.0.1:1/0"));
  EXPECT_THAT(explained.out, HasSubstr("limits,checkpoints"));
  EXPECT_THAT(explained.out, Not(HasSubstr("hidden-word")));
}

TEST_F(BelayWithRedis, CommandsAnswerTheSameWhateverThatRedisDoes) {
  import_day();
  world.setting.environment["BELAY_REDIS_FOR"] = "hints,limits,checkpoints";
  RedisServer server;
  std::vector<std::string> states;
  for (const std::string& url : {std::string(), server.url(), std::string(kNowhere)}) {
    if (!url.empty()) use(url);
    std::string thread = "audit-" + std::to_string(states.size());
    Outcome run = world.run({"run", "daily-audit", "--date", "2026-11-21", "--thread", thread});
    EXPECT_EQ(run.code, world.run({"resume", thread}).code) << run.err;
    Value state = world.run({"state", thread, "--json"}).json();
    states.push_back(text(state["status"]) + " " + to_json(state["state"]["riskLevel"]));
    EXPECT_EQ(world.run({"check"}).code, 0);
  }
  EXPECT_EQ(states[1], states[0]);
  EXPECT_EQ(states[2], states[0]);
}

TEST_F(BelayWithRedis, TwoServersAllowTogetherWhatOneWouldAndEachByItselfWithoutIt) {
  import_day();
  RedisServer server;
  use(server.url());
  Served one(world.setting, {"--starts-per-minute", "3"});
  Served other(world.setting, {"--starts-per-minute", "3"});
  ASSERT_TRUE(one.is_up() && other.is_up());
  auto begun = [](Served& served, int day) {
    std::string body = R"({"date":"2026-10-0)" + std::to_string(day) + "\"}";
    return served.post("/api/agents/daily-audit", body).status;
  };
  for (int i = 0; i < 5; ++i) {
    EXPECT_EQ(one.post("/api/agents/daily-audit").status, 422) << "it counts nowhere";
  }
  EXPECT_NE(begun(one, 1), 429);
  EXPECT_NE(begun(other, 2), 429);
  EXPECT_NE(begun(one, 3), 429);
  EXPECT_EQ(begun(other, 4), 429);
  EXPECT_EQ(begun(one, 4), 429);
  server.kill();
  Served third(world.setting, {"--starts-per-minute", "3"});
  ASSERT_TRUE(third.is_up());
  // Without Redis a server counts only its own starts.
  for (int day = 5; day <= 7; ++day) EXPECT_NE(begun(third, day), 429);
  EXPECT_EQ(begun(third, 8), 429) << "its own limit holds";
}

}  // namespace
}  // namespace belay::cli::tests
