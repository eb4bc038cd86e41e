// A language model behind a server: its text reaches the reader while it is generated, a cancel
// closes its connection, and its errors fail the run, not the server.

#include <gtest/gtest.h>

#include "tests/cli/served.h"
#include "tests/providers/scripted_provider.h"

namespace belay::cli::tests {
namespace {

class CliServeModel : public ::testing::Test {
 protected:
  void serve(const std::string& model) {
    world.setting.environment["BELAY_MODEL"] = "openai:" + model;
    world.setting.environment["BELAY_MODEL_URL"] = provider.url("/v1");
    world.setting.environment["OPENAI_API_KEY"] = "a-key";
    served = std::make_unique<Served>(world.setting);
    ASSERT_TRUE(served->is_up());
  }
  Got ask(std::vector<net::HttpHeader> headers = {}) {
    return served->send("POST", "/api/agents/assistant/runs",
                        R"({"input":{"question":"Hello?"},"threadId":"talk"})", std::move(headers));
  }

  providers::ScriptedProvider provider;
  World world;
  std::unique_ptr<Served> served;
};

TEST_F(CliServeModel, WhatItSaysIsToldWhileItComesAndStandsInTheStateAtTheEnd) {
  serve("drip");
  ASSERT_EQ(ask({{"Prefer", "respond-async"}}).status, 202);
  Stream events(*served, "/api/threads/talk/events?kinds=messages,status");
  ASSERT_TRUE(events.reads("event: messages\n"));
  // A delta arrived before the whole text: such an event has no id.
  EXPECT_TRUE(events.so_far().find("\"id\":null") != std::string::npos ||
              events.so_far().find("\"offset\":0") != std::string::npos);
  ASSERT_TRUE(events.reads("event: end"));
  Value run = served->get("/api/threads/talk").json();
  EXPECT_EQ(text(run["outcome"]), "answered") << to_json(run);
  EXPECT_TRUE(served->process().waits_to_say("run.completed agent=assistant thread=talk"));
  EXPECT_EQ(text(run["state"]["answer"]), "Hello, w\xC3\xB6rld!");
  EXPECT_EQ(text(run["state"]["provider"]), "openai");
}

TEST_F(CliServeModel, ACancelClosesTheConnectionOfACallThatHangs) {
  serve("hang-midway");
  ASSERT_EQ(ask({{"Prefer", "respond-async"}}).status, 202);
  Stream events(*served, "/api/threads/talk/events?kinds=messages,status");
  ASSERT_TRUE(events.reads("event: messages\n"));
  Got cancelled = served->post("/api/threads/talk/cancel", R"({"by":"ana"})");
  EXPECT_EQ(cancelled.status, 200) << cancelled.body;
  ASSERT_TRUE(events.reads("event: end"));
  EXPECT_EQ(text(served->get("/api/threads/talk").json()["status"]), "cancelled");
  // The provider detects that its client has closed the connection.
  net::HttpRequest seen;
  seen.url = provider.url("/seen");
  Value told;
  for (int i = 0; i < 200 && told["closed"] != Value(1); ++i) {
    auto answer = block_on(served->loop(), served->client().begin(seen));
    ASSERT_TRUE(answer.ok());
    told = parse_json(block_on(served->loop(), answer->read_all()).value()).value();
  }
  EXPECT_EQ(told["closed"], Value(1)) << to_json(told);
}

TEST_F(CliServeModel, ABusyOneIsAskedAgainWhenItSaidSo) {
  serve("busy-ms");
  Got answered = ask();
  EXPECT_EQ(answered.status, 200) << answered.body;
  EXPECT_EQ(text(answered.json()["outcome"]), "answered");
  EXPECT_EQ(answered.json()["retryCount"], Value(1));
}

TEST_F(CliServeModel, OneThatCantBeUsedFailsTheRunWithWhatToDoAndOthersAreServed) {
  serve("no-key");
  Got failed = ask();
  EXPECT_EQ(failed.status, 200) << failed.body;
  EXPECT_EQ(text(failed.json()["status"]), "failed");
  std::string why = text(failed.json()["error"]["message"]);
  EXPECT_NE(why.find("OPENAI_API_KEY"), std::string::npos) << why;
  EXPECT_TRUE(served->process().waits_to_say("run.failed agent=assistant thread=talk"))
      << "in the server's log";
  EXPECT_TRUE(served->process().waits_to_say(why));
  EXPECT_EQ(failed.body.find("a-key"), std::string::npos) << failed.body;
  EXPECT_EQ(served->get("/readyz").status, 200);
}

}  // namespace
}  // namespace belay::cli::tests
