// Models on the command line: selected, listed, checked, tried, and the errors if there is none.

#include <gtest/gtest.h>

#include <fstream>

#include "tests/cli/belay_process.h"
#include "tests/providers/scripted_provider.h"
#include "tests/support/scripted_server.h"

namespace belay::cli::tests {
namespace {

struct CliModels : ::testing::Test {
  CliModels() {
    // The test must not depend on models and keys of the machine.
    world.setting.environment["OLLAMA_HOST"] = "http://127.0.0.1:1";
    for (const char* key : {"OPENAI_API_KEY", "ANTHROPIC_API_KEY", "BELAY_MODEL"}) {
      world.setting.environment[key] = "";
    }
  }
  std::string openai() { return server.url("/v1"); }

  providers::ScriptedProvider server;
  World world;
};

TEST_F(CliModels, AreTried) {
  Outcome tried =
      world.run({"models", "try", "--model", "openai:plain", "--model-url", openai(), "--json"});
  ASSERT_EQ(tried.code, 0) << tried.err;
  Value document = tried.json();
  EXPECT_EQ(document["provider"], Value("openai"));
  EXPECT_EQ(document["text"], Value("Hello, w\xC3\xB6rld!"));
  EXPECT_EQ(document["usage"]["outputTokens"], Value(5));
  world.setting.environment["BELAY_MODEL"] = "anthropic:plain";
  world.setting.environment["BELAY_MODEL_URL"] = server.url();
  world.setting.environment["ANTHROPIC_API_KEY"] = "a-key";
  EXPECT_TRUE(world.run({"models", "try"}).out.find("anthropic:plain answered") !=
              std::string::npos);
}

TEST_F(CliModels, GetTheKeyOfTheirOwnProviderAndNoOther) {
  world.setting.environment["OPENAI_API_KEY"] = "openai-key";
  world.setting.environment["ANTHROPIC_API_KEY"] = "anthropic-key";
  world.setting.environment["OLLAMA_API_KEY"] = "ollama-key";
  for (std::string provider : {"openai", "anthropic", "ollama"}) {
    std::string asked;
    {
      net::ScriptedServer listener([&](net::Peer& peer, int) {
        asked += peer.request();
        peer.send("HTTP/1.1 401 No\r\nContent-Length: 0\r\nConnection: close\r\n\r\n");
      });
      (void)world.run(
          {"models", "try", "--model", provider + ":x", "--model-url", listener.url("")});
    }
    for (std::string other : {"openai", "anthropic", "ollama"}) {
      EXPECT_EQ(asked.find(other + "-key") != std::string::npos, other == provider)
          << provider << ": " << asked;
    }
  }
}

TEST_F(CliModels, AreListedByTheirServers) {
  world.setting.environment["OLLAMA_HOST"] = server.url();
  Outcome list = world.run({"models", "list"});
  ASSERT_EQ(list.code, 0) << list.err;
  EXPECT_NE(list.out.find("ollama:plain\n"), std::string::npos) << list.out;
  Value document = world.run({"models", "list", "--json"}).json();
  EXPECT_EQ(document["servers"].as_array()->front()["server"], Value(server.url()));
}

TEST_F(CliModels, AreCheckedWithoutBeingAsked) {
  world.setting.environment["BELAY_MODEL_URL"] = openai();
  Outcome good = world.run({"models", "check", "--model", "openai:plain"});
  EXPECT_EQ(good.code, 0) << good.out;
  Outcome unknown = world.run({"models", "check", "--model", "openai:plain,openai:nobody"});
  EXPECT_EQ(unknown.code, 1);
  EXPECT_NE(unknown.out.find("does not list it"), std::string::npos) << unknown.out;
  EXPECT_EQ(world.run({"models", "check"}).code, 0) << "builtin is always there";
}

TEST_F(CliModels, SayWhatToTypeWhereNoneIsSetUp) {
  for (const Words& words : {Words{"models", "list"}, Words{"models", "try"}}) {
    Outcome outcome = world.run(words);
    EXPECT_EQ(outcome.code, 2) << outcome.out;
    EXPECT_EQ(outcome.err, "");
    for (const char* hint : {"--model ollama:", "OPENAI_API_KEY=", "--model-url http://"}) {
      EXPECT_NE(outcome.out.find(hint), std::string::npos) << outcome.out;
    }
  }
}

TEST_F(CliModels, AModelThatCantBeReachedIsNamedWithItsSettingAndNothingTakesItsPlace) {
  world.setting.environment["BELAY_MODEL"] = "openai:plain";
  world.setting.environment["BELAY_MODEL_URL"] = "http://127.0.0.1:1/v1";
  Outcome tried = world.run({"models", "try"});
  EXPECT_EQ(tried.code, 6);
  EXPECT_TRUE(tried.says({"openai:plain", "127.0.0.1:1", "BELAY_MODEL"})) << tried.err;
  EXPECT_EQ(world.run({"models", "check"}).code, 1);
  ASSERT_EQ(world.run({"notes", "import", "-"}, note_line("2026-01-01", "I slept badly.")).code, 0);
  Outcome run = world.run({"run", "daily-audit", "--date", "2026-01-01", "--max-retries", "1"});
  EXPECT_EQ(run.code, 1) << run.out;
  EXPECT_EQ(run.out.find("not a language model"), std::string::npos) << run.out;
  EXPECT_NE((run.out + run.err).find("openai:plain"), std::string::npos) << run.err;
  Outcome doctor = world.run({"doctor"});
  EXPECT_EQ(doctor.code, 0) << "the store is well";
  EXPECT_NE(doctor.out.find("openai:plain"), std::string::npos) << doctor.out;
}

TEST_F(CliModels, AreRefusedByNameAndByAddress) {
  for (const Words& words :
       {Words{"models", "try", "--model", "gpt"}, Words{"threads", "--model", "gemini:x"},
        Words{"models", "try", "--model", "openai:m"},
        Words{"models", "try", "--model", "openai:m", "--model-url", "localhost"}}) {
    Outcome refused = world.run(words);
    EXPECT_EQ(refused.code, 2) << words.back() << refused.err;
  }
}

TEST_F(CliModels, SettingsThatCantBeReadAreNamed) {
  for (const char* name :
       {"BELAY_MODEL_CACHE", "BELAY_MODEL_PRICES", "BELAY_MODEL_MAX_TOKENS", "BELAY_MODEL_TIMEOUT",
        "BELAY_MODEL_CONCURRENT", "BELAY_MODEL_IDLE_TIMEOUT"}) {
    Setting setting = world.setting;
    setting.environment[name] = "whatever";
    Outcome refused = run_belay({"threads"}, setting);
    EXPECT_EQ(refused.code, 2) << name;
    EXPECT_TRUE(refused.says({"whatever"})) << name << refused.err;
  }
}

TEST_F(CliModels, AnswerAnAgent) {
  world.setting.environment["BELAY_MODEL"] = "openai:plain";
  world.setting.environment["BELAY_MODEL_URL"] = openai();
  ASSERT_EQ(world.run({"notes", "import", "-"}, note_line("2026-01-01", "I slept badly.")).code, 0);
  Outcome run = world.run({"run", "daily-audit", "--date", "2026-01-01", "--max-retries", "1"});
  EXPECT_EQ(run.code, 1) << "what it says is no audit";
  EXPECT_NE((run.out + run.err).find("Invalid LLM response format"), std::string::npos) << run.err;
}

}  // namespace
}  // namespace belay::cli::tests
