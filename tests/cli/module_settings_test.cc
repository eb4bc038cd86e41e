// The settings of modules contain the HTTP access and the cache of texts of the process, and
// receivers can be made from them.

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tests/cli/served.h"
#include "tests/redis/redis_server.h"

namespace belay::cli::tests {
namespace {

using belay::tests::connected;
using belay::tests::RedisServer;
using ::testing::HasSubstr;

constexpr const char* kParcelKey = "belay:checkpoint:parcel:item";

struct ModulePartsOfProcesses : ::testing::Test {
  ModulePartsOfProcesses() { world.setting.binary = BELAY_PARCEL_BINARY; }
  void set(const std::string& variable, const std::string& value) {
    world.setting.environment[variable] = value;
  }
  void cache_in(const RedisServer& server) {
    set("BELAY_REDIS", server.url());
    set("BELAY_REDIS_FOR", "hints,checkpoints");
  }
  std::string parts() {
    Outcome shown = world.run({"parts", "--json"});
    EXPECT_EQ(shown.code, 0) << shown.err;
    Value document = shown.json();
    return text(document["validate"]) + " " + text(document["command"]) + " " +
           text(document["sent"]);
  }
  // Starts a parcel, and returns the parts of the settings with which its graph was built.
  std::string sent(const std::string& item) {
    Outcome run =
        world.run({"run", "parcel", "--thread", item, "--input", "item=" + item, "--json"});
    EXPECT_EQ(run.code, 0) << run.err;
    return text(run.json()["state"]["parts"]);
  }
  Value message() {
    Value listed = world.run({"outbox", "list", "--all", "--json"}).json()["messages"];
    const Value::Array* messages = listed.as_array();
    return messages && messages->size() == 1 ? messages->front() : Value();
  }

  World world;
};

TEST_F(ModulePartsOfProcesses, AreSetForGraphsAndCommands) {
  EXPECT_EQ(parts(), "http http forbidden");
  EXPECT_EQ(sent("hat"), "http");
  RedisServer server;
  cache_in(server);
  EXPECT_EQ(parts(), "http,texts http,texts forbidden");
  EXPECT_EQ(sent("cap"), "http,texts");
  auto random = system_random();
  auto client = connected(server.url(), *random);
  EXPECT_EQ(client->call_and_wait({"GET", kParcelKey})->text, "cap");
  set("BELAY_REDIS_FOR", "hints,limits");
  EXPECT_EQ(parts(), "http http forbidden");
  set("BELAY_REDIS_FOR", "checkpoints");
  set("BELAY_STORE", "memory:");
  EXPECT_EQ(parts(), "http http forbidden") << "no other process has this store";
  EXPECT_EQ(world.run({"agents", "list"}).code, 0) << "graphs are built without them";
}

TEST_F(ModulePartsOfProcesses, ObeyTheEgressPolicyOfTheProgram) {
  set("BELAY_EGRESS_NETWORKS", "127.0.0.1/32");
  EXPECT_EQ(parts(), "http http forbidden") << "the port is not permitted";
  set("BELAY_EGRESS_PORTS", "any");
  set("BELAY_EGRESS_HOSTS", "127.0.0.1");
  EXPECT_EQ(parts(), "http http unavailable");
}

TEST_F(ModulePartsOfProcesses, AreSetForRoutesAndNotWhereAServerHasTheRuns) {
  RedisServer server;
  cache_in(server);
  Served served(world.setting);
  ASSERT_TRUE(served.is_up());
  EXPECT_EQ(text(served.get("/api/parts").json()["route"]), "http,texts");
  world.setting.environment.erase("BELAY_STORE");
  set("BELAY_SERVER", served.url(""));
  EXPECT_EQ(parts(), "none none none");
  EXPECT_EQ(sent("hat"), "http,texts") << "the graph is that of the server";
}

TEST_F(ModulePartsOfProcesses, AreUsedByReceiversOfAWorker) {
  RedisServer server;
  cache_in(server);
  EXPECT_EQ(sent("hat"), "http,texts");
  Outcome worked = world.run({"worker", "--until-idle"});
  EXPECT_EQ(worked.code, 0) << worked.err;
  EXPECT_THAT(to_json(message()["error"]), HasSubstr("The cached text is"));
  EXPECT_THAT(to_json(message()["error"]), HasSubstr("hat"));
  // A worker without Redis, and a text that is lost, find no text.
  set("BELAY_REDIS", "redis://127.0.0.1:1/0");
  EXPECT_EQ(world.run({"outbox", "retry", text(message()["id"])}).code, 0);
  worked = world.run({"worker", "--until-idle"});
  EXPECT_EQ(worked.code, 0) << worked.err;
  EXPECT_EQ(message()["status"], Value("delivered"));
}

TEST_F(ModulePartsOfProcesses, AReceiverOfAServerIsCalled) {
  EXPECT_EQ(sent("hat"), "http");
  Served served(world.setting);
  ASSERT_TRUE(served.is_up());
  EXPECT_TRUE(
      belay::tests::becomes_true([&] { return message()["status"] == Value("delivered"); }));
}

TEST_F(ModulePartsOfProcesses, ReceiversThatCannotBeMadeEndAProcessThatWouldDeliver) {
  for (const Words& words :
       {Words{"worker", "--until-idle"}, Words{"serve", "--listen", ":0"}, Words{"mcp", "serve"}}) {
    set("BELAY_PARCEL_RECEIVERS", "failing");
    Outcome refused = world.run(words);
    EXPECT_EQ(refused.code, 2) << words.front();
    EXPECT_THAT(refused.err, HasSubstr("No carrier accepts parcels."));
    set("BELAY_PARCEL_RECEIVERS", "duplicate");
    refused = world.run(words);
    EXPECT_EQ(refused.code, 2) << words.front();
    EXPECT_THAT(refused.err, HasSubstr("The modules \"letters\" and \"parcels\" both have the "
                                       "topic \"letters\"."));
  }
  EXPECT_EQ(sent("hat"), "http") << "a command that does not deliver makes no receivers";
}

}  // namespace
}  // namespace belay::cli::tests
