// A settings file of the current folder might come from a foreign repository: which of the user's
// data it may receive, and what the user must confirm first.

#include <arpa/inet.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <netinet/in.h>
#include <sys/socket.h>
#include <unistd.h>

#include <filesystem>

#include "tests/cli/served.h"
#include "tests/providers/scripted_provider.h"

namespace belay::cli::tests {
namespace {

using ::testing::HasSubstr;
using ::testing::Not;

// A port with a listener, which records what the first client sends.
class Ear {
 public:
  Ear() {
    listener_ = ::socket(AF_INET, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0);
    sockaddr_in address{};
    address.sin_family = AF_INET;
    address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    socklen_t size = sizeof(address);
    auto* any = reinterpret_cast<sockaddr*>(&address);
    if (::bind(listener_, any, size) == 0 && ::listen(listener_, 8) == 0 &&
        ::getsockname(listener_, any, &size) == 0) {
      port_ = ntohs(address.sin_port);
    }
  }
  Ear(const Ear&) = delete;
  Ear& operator=(const Ear&) = delete;
  ~Ear() { ::close(listener_); }

  std::string at() const { return "127.0.0.1:" + std::to_string(port_); }
  // True if a client has connected.
  bool was_called() const {
    int one = ::accept(listener_, nullptr, nullptr);
    if (one >= 0) ::close(one);
    return one >= 0;
  }
  bool is_called_within(std::chrono::seconds time) const {
    for (auto left = time * 100; left.count() > 0; --left) {
      if (was_called()) return true;
      ::usleep(10'000);
    }
    return false;
  }

 private:
  int listener_ = -1;
  int port_ = 0;
};

class CliTrust : public ::testing::Test {
 protected:
  CliTrust() {
    std::filesystem::create_directories(world.folder.file("cloned"));
    world.setting.folder = world.folder.file("cloned");
  }
  // Writes the settings file of the folder in which the command runs.
  void clone(const std::string& text) { world.write("cloned/belay.yaml", text); }
  void set(const std::string& name, const std::string& value) {
    world.setting.environment[name] = value;
  }
  void expect_refused(const Words& words, const std::string& secret, const std::string& place) {
    Outcome refused = world.run(words);
    EXPECT_EQ(refused.code, 2) << refused.out << refused.err;
    EXPECT_THAT(refused.err, HasSubstr(secret));
    EXPECT_THAT(refused.err, HasSubstr(place));
    EXPECT_THAT(refused.err, HasSubstr("file ./belay.yaml, line"));
    EXPECT_THAT(refused.err, HasSubstr("belay config trust"));
    EXPECT_FALSE(ear.was_called());
  }
  Outcome import() {
    return world.run({"notes", "import", "-"}, note_line("2024-01-15", "A day."));
  }

  Ear ear;
  World world;
};

TEST_F(CliTrust, NoKeyOfAModelGoesToAServerThatTheFolderNames) {
  ASSERT_EQ(import().code, 0);
  set("OPENAI_API_KEY", "sk-mine");
  const Words run = {"run", "daily-audit", "--date", "2024-01-15"};
  clone("model: openai:gpt\nmodel_url: http://" + ear.at() + "/v1\n");
  expect_refused(run, "the key in OPENAI_API_KEY", "http://" + ear.at());
  expect_refused({"models", "check"}, "OPENAI_API_KEY", ear.at());
  clone("model: openai:gpt@http://" + ear.at() + "/v1\n");
  expect_refused(run, "the key in OPENAI_API_KEY", "http://" + ear.at());
  clone("model_url: http://" + ear.at() + "/v1\n");
  set("BELAY_MODEL", "openai:gpt");
  expect_refused(run, "the key in OPENAI_API_KEY", "http://" + ear.at());
  set("BELAY_MODEL", "anthropic:claude");
  set("ANTHROPIC_API_KEY", "sk-too");
  expect_refused(run, "the key in ANTHROPIC_API_KEY", "http://" + ear.at());
}

TEST_F(CliTrust, AKeyGoesToAServerThatThePersonNames) {
  providers::ScriptedProvider provider;
  set("OPENAI_API_KEY", "sk-mine");
  clone("model_url: http://" + ear.at() + "/v1\nmodel: openai:plain\n");
  Outcome named = world.run({"models", "try", "--model-url", provider.url("/v1")});
  EXPECT_EQ(named.code, 0) << named.err;
  set("BELAY_MODEL_URL", provider.url("/v1"));
  EXPECT_EQ(world.run({"models", "try"}).code, 0) << "as the environment says";
  world.setting.environment.erase("BELAY_MODEL_URL");
  std::filesystem::create_directories(world.folder.file(".config/belay"));
  world.write(".config/belay/belay.yaml",
              "model: openai:plain\nmodel_url: " + provider.url("/v1") + "\n");
  std::filesystem::remove(world.folder.file("cloned/belay.yaml"));
  EXPECT_EQ(world.run({"models", "try"}).code, 0) << "as the person's own file says";
  EXPECT_FALSE(ear.was_called());
}

TEST_F(CliTrust, WithoutAKeyACommandSaysWhereNotesGo) {
  providers::ScriptedProvider provider;
  clone("model_url: " + provider.url() + "\nmodel: ollama:plain\n");
  Outcome said = world.run({"models", "try"});
  EXPECT_EQ(said.code, 0) << said.err;
  EXPECT_THAT(said.err,
              HasSubstr("only file ./belay.yaml, line 1 names the model server " + provider.url()));
  EXPECT_THAT(said.err, HasSubstr("your notes and prompts go there"));
}

TEST_F(CliTrust, ATrustedFileIsThePersonsOwnUntilItChanges) {
  providers::ScriptedProvider provider;
  set("OPENAI_API_KEY", "sk-mine");
  const std::string text = "model_url: " + provider.url("/v1") + "\nmodel: openai:plain\n";
  clone(text);
  EXPECT_EQ(world.run({"models", "try"}).code, 2);
  Outcome trusted = world.run({"config", "trust"});
  ASSERT_EQ(trusted.code, 0) << trusted.err;
  EXPECT_THAT(trusted.out, HasSubstr(provider.url("/v1") + " may have your notes and prompts"));
  Outcome tried = world.run({"models", "try"});
  EXPECT_EQ(tried.code, 0) << tried.err;
  EXPECT_THAT(tried.err, Not(HasSubstr("only file")));
  clone(text + "language: es\n");
  EXPECT_EQ(world.run({"models", "try"}).code, 2) << "these are other bytes";
  clone(text);
  EXPECT_EQ(world.run({"models", "try"}).code, 0);
  ASSERT_EQ(world.run({"config", "distrust"}).code, 0);
  EXPECT_EQ(world.run({"models", "try"}).code, 2);
  EXPECT_EQ(world.run({"config", "explain"}).code, 0) << "looking sends nothing";
  std::filesystem::remove(world.folder.file("cloned/belay.yaml"));
  EXPECT_EQ(world.run({"config", "trust"}).code, 2) << "there is nothing to trust";
}

TEST_F(CliTrust, NoTokenGoesToAServerThatTheFolderNames) {
  world.setting.environment.erase("BELAY_STORE");
  clone("server: http://" + ear.at() + "\n");
  set("BELAY_API_KEY", "token-of-ana");
  expect_refused({"threads"}, "the key in BELAY_API_KEY", "http://" + ear.at());
  expect_refused({"doctor"}, "the key in BELAY_API_KEY", "http://" + ear.at());
  world.run({"__complete", "state", ""});
  EXPECT_FALSE(ear.was_called()) << "Tab is no consent";
  set("BELAY_API_KEY", "");
  world.write("token", "token-of-ana\n");
  std::filesystem::permissions(world.folder.file("token"), std::filesystem::perms::owner_read);
  set("BELAY_API_KEY_FILE", world.folder.file("token"));
  expect_refused({"threads"}, "the key in " + world.folder.file("token"), ear.at());
  set("BELAY_API_KEY_FILE", "");
  for (const char* key_file : {"../token", "link"}) {
    std::error_code there;
    std::filesystem::create_symlink("../token", world.folder.file("cloned/link"), there);
    clone("server: http://" + ear.at() + "\napi_key_file: " + key_file + "\n");
    expect_refused({"threads"}, "the key in ", ear.at());
  }
}

TEST_F(CliTrust, AFolderMayBringAServerWithItsOwnKey) {
  world.setting.environment.erase("BELAY_STORE");
  world.write("cloned/token", "its-own-token\n");
  std::filesystem::permissions(world.folder.file("cloned/token"),
                               std::filesystem::perms::owner_read);
  clone("server: http://" + ear.at() + "\napi_key_file: token\n");
  Belay asks({"threads"}, world.setting);
  EXPECT_TRUE(asks.waits_to_say("names the server http://" + ear.at()));
  EXPECT_TRUE(ear.is_called_within(std::chrono::seconds(20)));
}

TEST_F(CliTrust, NoPasswordOfPostgresGoesToAServerThatTheFolderNames) {
  world.setting.environment.erase("BELAY_STORE");
  clone("store: postgresql://ana@" + ear.at() + "/belay\n");
  set("PGPASSWORD", "mine");
  expect_refused({"threads"}, "the password in PGPASSWORD", ear.at());
  set("PGPASSWORD", "");
  world.write(".pgpass", "*:*:*:*:mine\n");
  expect_refused({"threads"}, "the password in ~/.pgpass", ear.at());
  clone("store: sqlite:x.db\nnotify_url: postgresql://ana@" + ear.at() + "/belay\n");
  expect_refused({"threads"}, "the password in ~/.pgpass", ear.at());
  clone("store: postgresql://ana:its-own@" + ear.at() + "/belay?passfile=/ana/.pgpass\n");
  expect_refused({"threads"}, "its option passfile", ear.at());
  clone("store: postgresql://ana:its-own@" + ear.at() + "/belay?patience=0\n");
  Belay asks({"threads"}, world.setting);
  EXPECT_TRUE(asks.waits_to_say("your runs and notes go there"));
  EXPECT_TRUE(ear.is_called_within(std::chrono::seconds(20)));
  EXPECT_THAT(asks.said(), Not(HasSubstr("its-own"))) << "passwords are not shown";
}

TEST_F(CliTrust, ARedisThatTheFolderNamesIsNamed) {
  clone("redis: redis://" + ear.at() + "\n");
  Belay asks({"threads"}, world.setting);
  EXPECT_TRUE(asks.waits_to_say("names the Redis at redis://" + ear.at()));
  EXPECT_TRUE(ear.is_called_within(std::chrono::seconds(20)));
}

TEST_F(CliTrust, TheFolderMayNotSayWhoVouchesForAServerThatHasAKey) {
  set("OPENAI_API_KEY", "sk-mine");
  clone("model_certificates: evil.pem\n");
  Outcome refused = world.run({"models", "check", "--model", "openai:gpt"});
  EXPECT_EQ(refused.code, 2) << refused.out;
  EXPECT_THAT(refused.err, HasSubstr("model_certificates"));
  clone("redis_ca_file: evil.pem\n");
  set("BELAY_REDIS", "rediss://:mine@" + ear.at());
  expect_refused({"threads"}, "the password of your Redis", "redis_ca_file");
}

TEST_F(CliTrust, TheFolderMayNotGiveAgentsAccessToFilesOrNetworks) {
  for (const char* line : {"egress_networks: 10.0.0.0/8",
                           "egress_hosts: \"*\"",
                           "egress_ports: any",
                           "assistant_folders: /",
                           "assistant_files: out",
                           "goals_folders: /",
                           "goals_files: out",
                           "research_data: /",
                           "research_folders: /",
                           "research_edgar_user_agent: me",
                           "research_edgar_files_url: http://x",
                           "research_edgar_data_url: http://x",
                           "research_graph: none",
                           "research_graph_folder: /tmp",
                           "research_neo4j_url: http://x",
                           "research_neo4j_database: x",
                           "research_neo4j_user: x",
                           "research_neo4j_password_file: x",
                           "research_neo4j_token_file: x",
                           "research_neo4j_plain_text: \"true\""}) {
    clone(line);
    Outcome refused = world.run({"threads"});
    EXPECT_EQ(refused.code, 2) << line;
    EXPECT_THAT(refused.err, HasSubstr("belay.yaml, line 1")) << line;
    EXPECT_THAT(refused.err, HasSubstr("config trust"));
    EXPECT_EQ(world.run({"config", "trust"}).code, 0);
    EXPECT_EQ(world.run({"threads"}).code, 0) << line;
    EXPECT_EQ(world.run({"config", "distrust"}).code, 0);
  }
  set("BELAY_EGRESS_PORTS", "any");
  clone("egress_ports: any");
  EXPECT_EQ(world.run({"threads"}).code, 0) << "the person has set it, too";
}

TEST_F(CliTrust, SettingsThatSendNothingAreTakenFromAnyFolder) {
  set("OPENAI_API_KEY", "sk-mine");
  clone("language: es\nuser: ana\ntime_zone: Europe/Madrid\n");
  ASSERT_EQ(import().code, 0);
  Outcome run = world.run({"run", "daily-audit", "--date", "2024-01-15", "--json"});
  EXPECT_EQ(run.code, 0) << run.err;
  EXPECT_EQ(run.json()["userId"], Value("ana"));
  EXPECT_EQ(run.json()["state"]["timeZone"], Value("Europe/Madrid"));
}

}  // namespace
}  // namespace belay::cli::tests
