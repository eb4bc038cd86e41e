// Belay with an external model server: llama.cpp's llama-server, with a model whose text is
// senseless. As with any model, its replies must be parsed, counted and stopped, and the run must
// fail with a reason if a reply is unusable.

#include <gmock/gmock.h>

#include <set>

#include "belay/models.h"
#include "tests/providers/real_server/bigram_model.h"
#include "tests/providers/real_server/real_server_world.h"

namespace belay::providers {
namespace {

using cli::tests::Outcome;
using cli::tests::Stream;
using cli::tests::text;
using ::testing::HasSubstr;

constexpr std::size_t model_bytes_max = 3 * 1024 * 1024;

INSTANTIATE_TEST_SUITE_P(Protocols, RealServer, ::testing::Values("openai", "anthropic"),
                         name_of_protocol);

TEST(BigramModel, IsTheSameFileEveryTime) {
  std::string file = bigram_model();
  EXPECT_EQ(file.substr(0, 4), "GGUF");
  EXPECT_LT(file.size(), model_bytes_max);
  EXPECT_EQ(file, bigram_model());
}

TEST_P(RealServer, IsTriedAndItsTokensAreCountedAsItCountsThem) {
  start();
  Outcome tried = world.run({"models", "try", "--json"});
  ASSERT_EQ(tried.code, 0) << tried.err << llama->log();
  Value document = tried.json();
  EXPECT_EQ(document["provider"], Value(provider()));
  EXPECT_EQ(document["model"], Value(LlamaServer::kModel));
  EXPECT_FALSE(text(document["text"]).empty());
  EXPECT_EQ(document["usage"]["outputTokens"].as_int(), llama->counter("tokens_predicted_total"));
  EXPECT_EQ(document["usage"]["inputTokens"].as_int(), llama->counter("prompt_tokens_total"));
  // The same again: now the server has cached the beginning of the prompt, which still counts as
  // input.
  Outcome again = world.run({"models", "try", "--json"});
  EXPECT_EQ(again.json()["usage"]["inputTokens"].as_int(),
            document["usage"]["inputTokens"].as_int());
  EXPECT_LT(llama->counter("prompt_tokens_total"),
            2 * document["usage"]["inputTokens"].as_int().value_or(0));
}

TEST_P(RealServer, IsListedAndChecked) {
  start();
  Outcome list = world.run({"models", "list"});
  EXPECT_EQ(list.code, 0) << list.err;
  EXPECT_THAT(list.out, HasSubstr(model() + "\n"));
  Outcome check = world.run({"models", "check"});
  EXPECT_EQ(check.code, 0) << check.out;
  Outcome other = world.run({"models", "check", "--model", provider() + ":another"});
  EXPECT_EQ(other.code, 1) << other.out;
  EXPECT_THAT(other.out, HasSubstr("does not list it"));
  EXPECT_EQ(world.run({"doctor"}).code, 0);
}

TEST_P(RealServer, AsksForItsKey) {
  start({"--api-key", "a-key-of-the-test"});
  Outcome without = world.run({"models", "try"});
  std::string variable = provider() == "openai" ? "OPENAI_API_KEY" : "ANTHROPIC_API_KEY";
  EXPECT_EQ(without.code, 2) << without.err;
  EXPECT_TRUE(without.says({"401", variable})) << without.err;
  world.setting.environment[variable] = "another-key-of-the-test";
  Outcome wrong = world.run({"models", "try"});
  EXPECT_EQ(wrong.code, 2);
  EXPECT_EQ(wrong.err.find("another-key"), std::string::npos) << wrong.err;
  world.setting.environment[variable] = "a-key-of-the-test";
  EXPECT_EQ(world.run({"models", "try"}).code, 0);
}

TEST_P(RealServer, ItsAnswerIsToldWhileItComes) {
  start();
  serve();
  ask("How is the harbour?");
  Stream events(*served, "/api/threads/talk/events?kinds=messages,status");
  ASSERT_TRUE(events.reads("event: end")) << events.so_far();
  Value run = talk();
  ASSERT_EQ(text(run["outcome"]), "answered") << to_json(run) << llama->log();
  std::string answer = text(run["state"]["answer"]);
  EXPECT_FALSE(answer.empty());
  EXPECT_EQ(text(run["state"]["provider"]), provider());
  EXPECT_EQ(run["state"]["truncated"], Value(false));
  EXPECT_THAT(events.so_far(), HasSubstr("event: messages\n"));
  Value calls = calls_of("talk");
  ASSERT_EQ(calls.as_array()->size(), 1u) << to_json(calls);
  Value usage = calls.as_array()->front()["reply"]["usage"];
  EXPECT_GT(usage["input_tokens"].as_int().value_or(0), 0);
  EXPECT_EQ(usage["output_tokens"].as_int(), llama->counter("tokens_predicted_total"));
}

TEST_P(RealServer, ACancelFreesItAtOnce) {
  start({"--ctx-size", std::to_string(kContextTokens)});
  world.setting.environment["BELAY_MODEL_MAX_TOKENS"] = std::to_string(kContextTokens);
  serve();
  ask(std::string("Talk ") + kWithoutEnd + ".");
  Stream events(*served, "/api/threads/talk/events?kinds=messages,status");
  ASSERT_TRUE(events.reads("event: messages\n")) << llama->log();
  EXPECT_THAT(events.so_far(), HasSubstr("\"id\":null")) << "a piece, before the end";
  EXPECT_TRUE(llama->is_busy());
  cli::tests::Got cancelled = served->post("/api/threads/talk/cancel", R"({"by":"ana"})");
  EXPECT_EQ(cancelled.status, 200) << cancelled.body;
  ASSERT_TRUE(events.reads("event: end"));
  EXPECT_EQ(text(talk()["status"]), "cancelled");
  while (llama->is_busy()) {
  }
  EXPECT_LT(llama->tokens_held(), kContextTokens / 2) << "it went on talking to nobody";
  // And the server accepts other requests.
  EXPECT_EQ(world.run({"models", "try"}).code, 0);
}

TEST_P(RealServer, ThatDiesInMidSentenceFailsTheRunAsUnavailable) {
  start({"--ctx-size", std::to_string(kContextTokens)});
  world.setting.environment["BELAY_MODEL_MAX_TOKENS"] = std::to_string(kContextTokens);
  serve();
  ask(std::string("Talk ") + kWithoutEnd + ".");
  Stream events(*served, "/api/threads/talk/events?kinds=messages,status");
  ASSERT_TRUE(events.reads("event: messages\n")) << llama->log();
  llama->kill();
  ASSERT_TRUE(events.reads("event: end"));
  Value run = talk();
  EXPECT_EQ(text(run["status"]), "failed") << to_json(run);
  EXPECT_EQ(text(run["error"]["code"]), "unavailable") << to_json(run);
  EXPECT_THAT(text(run["error"]["message"]), HasSubstr(model()));
  EXPECT_EQ(run["retryCount"].as_int(), 3) << "it was asked three times";
}

TEST_P(RealServer, APromptThatIsTooLongIsNotSentAgain) {
  start({"--ctx-size", "512"});
  serve();
  ask(std::string(5'000, 'x'));
  Stream events(*served, "/api/threads/talk/events?kinds=status");
  ASSERT_TRUE(events.reads("event: end"));
  Value run = talk();
  EXPECT_EQ(text(run["status"]), "failed") << to_json(run);
  EXPECT_EQ(text(run["error"]["code"]), "invalid") << to_json(run);
  EXPECT_THAT(text(run["error"]["message"]), HasSubstr("exceed_context_size_error"));
  EXPECT_EQ(run["retryCount"].as_int(), 1) << "once, which failed";
}

TEST_P(RealServer, AnAnswerThatIsCutSaysSo) {
  start({"--ctx-size", "4096"});
  world.setting.environment["BELAY_MODEL_MAX_TOKENS"] = "40";
  serve();
  ask(std::string("Talk ") + kWithoutEnd + ".");
  Stream events(*served, "/api/threads/talk/events?kinds=status");
  ASSERT_TRUE(events.reads("event: end"));
  Value run = talk();
  EXPECT_EQ(text(run["outcome"]), "answered") << to_json(run);
  EXPECT_EQ(run["state"]["truncated"], Value(true)) << to_json(run);
  Value calls = calls_of("talk");
  EXPECT_EQ(calls.as_array()->front()["reply"]["usage"]["output_tokens"].as_int(), 40);
}

TEST_P(RealServer, CallsToolsAndHearsTheirResults) {
  start();
  ModelSettings settings;
  settings.models = model();
  settings.url = base_url();
  std::unique_ptr<Clock> clock = system_clock();
  std::unique_ptr<EventLoop> loop = make_event_loop();
  std::shared_ptr<Model> asked = open_model(settings, *clock).value();
  ModelRequest request;
  request.messages = {{Role::user, "What is the weather?"}};
  request.max_output_tokens = 400;
  request.tools = {{"weather", "Tells the weather of a city.",
                    parse_json(R"({"type":"object","properties":{"city":{"type":"string"}},
                                   "required":["city"],"additionalProperties":false})")
                        .value()}};
  request.tool_choice = ToolChoice::required;
  auto reply = block_on(*loop, asked->generate(request));
  ASSERT_TRUE(reply.ok()) << reply.error().message << llama->log();
  ASSERT_EQ(reply->stop_reason, StopReason::tool_calls) << reply->text << llama->log();
  ASSERT_TRUE(reply->usage);
  EXPECT_EQ(reply->usage->output_tokens, llama->counter("tokens_predicted_total"));
  Message said{Role::assistant, reply->text};
  said.tool_calls = reply->tool_calls;
  request.messages.push_back(std::move(said));
  // It can request several calls in one reply.
  std::set<std::string> ids;
  for (const ToolCall& call : reply->tool_calls) {
    EXPECT_EQ(call.name, "weather");
    EXPECT_TRUE(call.arguments["city"].as_string()) << to_json(call.arguments);
    ids.insert(call.id);
    Message result{Role::tool, "rain"};
    result.tool_call_id = call.id;
    request.messages.push_back(std::move(result));
  }
  EXPECT_EQ(ids.size(), reply->tool_calls.size());
  request.tool_choice = ToolChoice::automatic;
  auto answer = block_on(*loop, asked->generate(request));
  ASSERT_TRUE(answer.ok()) << answer.error().message << llama->log();
  EXPECT_EQ(answer->stop_reason, StopReason::complete);
  EXPECT_FALSE(answer->text.empty());
}

}  // namespace
}  // namespace belay::providers
