#pragma once
// real_server/real_server_world.h - a fixture that calls a real llama-server through the real belay
//
// It uses OpenAI's protocol or Anthropic's.

#include <gtest/gtest.h>

#include <cstdlib>
#include <memory>
#include <string>

#include "tests/cli/served.h"
#include "tests/providers/real_server/llama_server.h"

namespace belay::providers {

// Skips the test, with instructions, if no server is named.
class RealServer : public ::testing::TestWithParam<const char*> {
 protected:
  void SetUp() override {
    const char* named = std::getenv("BELAY_LLAMA_SERVER");
    program_ = named ? named : "";
    if (program_.empty()) {
      GTEST_SKIP() << "A real model server is asked where BELAY_LLAMA_SERVER names llama.cpp's "
                      "llama-server: scripts/check-real-model PATH; docs/models.md says how to "
                      "build one.";
    }
  }

  std::string provider() const { return GetParam(); }
  std::string model() const { return provider() + ":" + LlamaServer::kModel; }
  std::string base_url() const { return llama->url(provider() == "openai" ? "/v1" : ""); }

  // Starts the server, and configures belay to use it.
  void start(const cli::tests::Words& more = {"--seed", "1"}) {
    llama = std::make_unique<LlamaServer>(program_, more);
    ASSERT_TRUE(llama->is_up()) << llama->log();
    world.setting.environment["BELAY_MODEL"] = model();
    world.setting.environment["BELAY_MODEL_URL"] = base_url();
  }
  void serve() {
    served = std::make_unique<cli::tests::Served>(world.setting);
    ASSERT_TRUE(served->is_up());
  }
  // Sends a question to the assistant without waiting for the reply.
  void ask(const std::string& question) {
    Value input = Value::object({{"question", question}});
    Value body = Value::object({{"input", std::move(input)}, {"threadId", "talk"}});
    cli::tests::Got begun = served->send("POST", "/api/agents/assistant/runs", to_json(body),
                                         {{"Prefer", "respond-async"}});
    ASSERT_EQ(begun.status, 202) << begun.body;
  }
  Value talk() { return served->get("/api/threads/talk").json(); }

  // Returns the stored model calls of the thread's run.
  Value calls_of(const std::string& thread) {
    return world.run({"calls", thread, "--json"}).json()["calls"];
  }

  std::unique_ptr<LlamaServer> llama;
  cli::tests::World world;
  std::unique_ptr<cli::tests::Served> served;

 private:
  std::string program_;
};

inline std::string name_of_protocol(const ::testing::TestParamInfo<const char*>& one) {
  return one.param;
}

}  // namespace belay::providers
