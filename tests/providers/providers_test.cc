// Our models with the server that the providers' own clients accept.

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "belay/models.h"
#include "tests/providers/scripted_provider.h"

namespace belay::providers {
namespace {

using namespace std::chrono_literals;
using ::testing::Contains;
using ::testing::HasSubstr;

constexpr const char* text = "Hello, w\xC3\xB6rld!";

struct Providers : ::testing::TestWithParam<const char*> {
  ScriptedProvider server;
  std::unique_ptr<EventLoop> loop = make_event_loop();
  std::unique_ptr<Clock> clock = system_clock();
  std::string told;

  ModelSettings settings(const std::string& script) {
    ModelSettings made;
    std::string provider = GetParam();
    made.models = provider + ":" + script;
    made.url = server.url(provider == "openai" ? "/v1" : "");
    made.anthropic_key = std::string("k");
    made.timeouts.first_byte = made.timeouts.idle = 500ms;
    made.timeouts.total = 60s;
    made.reply_bytes_max = 100'000;
    return made;
  }
  std::shared_ptr<Model> model(const std::string& script) {
    return open_model(settings(script), *clock).value();
  }
  ModelRequest hello() {
    ModelRequest request;
    request.messages = {{Role::user, "Hello"}};
    request.on_text_delta = [this](std::string_view piece) { told += piece; };
    return request;
  }
  Result<ModelReply> ask(const std::string& script) {
    told.clear();
    return block_on(*loop, model(script)->generate(hello()));
  }
};

INSTANTIATE_TEST_SUITE_P(All, Providers, ::testing::Values("ollama", "openai", "anthropic"),
                         [](const auto& one) { return std::string(one.param); });

TEST_P(Providers, Speak) {
  for (const char* script : {"plain", "split", "drip"}) {
    auto reply = ask(script);
    ASSERT_TRUE(reply.ok()) << script << ": " << reply.error().message;
    EXPECT_EQ(reply->text, text);
    EXPECT_EQ(told, text);
    EXPECT_EQ(reply->provider, GetParam());
    EXPECT_EQ(reply->model, script);
    ASSERT_TRUE(reply->usage);
    EXPECT_EQ(reply->usage->input_tokens, 12);
    EXPECT_EQ(reply->usage->output_tokens, 5);
  }
}

TEST_P(Providers, CallToolsAndHearTheirResults) {
  for (const char* script : {"plain", "split"}) {
    auto asked = model(script);
    ModelRequest request = hello();
    request.tools = {{"weather", "Tells the weather.", Value::object({{"type", "object"}})}};
    auto reply = block_on(*loop, asked->generate(request));
    ASSERT_TRUE(reply.ok()) << reply.error().message;
    EXPECT_EQ(reply->stop_reason, StopReason::tool_calls);
    ASSERT_EQ(reply->tool_calls.size(), 1u);
    EXPECT_EQ(reply->tool_calls[0].name, "weather");
    EXPECT_EQ(reply->tool_calls[0].arguments, Value::object({{"city", "Oslo"}}));
    Message assistant{Role::assistant, reply->text};
    assistant.tool_calls = reply->tool_calls;
    Message result{Role::tool, "rain"};
    result.tool_call_id = reply->tool_calls[0].id;
    request.messages.push_back(std::move(assistant));
    request.messages.push_back(std::move(result));
    EXPECT_EQ(block_on(*loop, asked->generate(std::move(request)))->text, text);
  }
}

TEST_P(Providers, AnswerByASchema) {
  ModelRequest request = hello();
  request.response_schema = parse_json(R"({"type":"object","properties":{"n":{"type":"integer"}},
                                          "required":["n"],"additionalProperties":false})")
                                .value();
  auto asked = model("plain");
  auto reply = block_on(*loop, generate_json(*asked, std::move(request)));
  ASSERT_TRUE(reply.ok()) << reply.error().message;
  EXPECT_EQ(reply->text, "{\"n\":3}");
}

TEST_P(Providers, AreListed) {
  ModelSettings made = settings("plain");
  auto names = block_on(*loop, list_models(made, parse_model_names(made)->front(), *clock));
  ASSERT_TRUE(names.ok()) << names.error().message;
  EXPECT_THAT(*names, Contains("plain"));
}

TEST_P(Providers, SayHowLongToWait) {
  for (auto [script, wait] : {std::pair("busy-seconds", 1'000ms), std::pair("busy-ms", 20ms),
                              std::pair("busy-date", 0ms)}) {
    auto asked = model(script);
    Error busy = block_on(*loop, asked->generate(hello())).error();
    EXPECT_EQ(busy.code, ErrorCode::unavailable);
    EXPECT_EQ(busy.retry_after, wait) << script;
    EXPECT_EQ(block_on(*loop, asked->generate(hello()))->text, text) << "the next time";
  }
}

TEST_P(Providers, FailAsTheyShould) {
  for (auto [script, code] : {std::pair("overloaded", ErrorCode::unavailable),
                              {"broken", ErrorCode::unavailable},
                              {"no-key", ErrorCode::invalid},
                              {"gone", ErrorCode::invalid},
                              {"bad", ErrorCode::invalid},
                              {"hang", ErrorCode::unavailable},
                              {"hang-midway", ErrorCode::unavailable},
                              {"cut-midway", ErrorCode::unavailable},
                              {"error-midway", ErrorCode::unavailable},
                              {"garbage", ErrorCode::unavailable},
                              {"html", ErrorCode::invalid},
                              {"flood", ErrorCode::exhausted},
                              {"nobody-knows-it", ErrorCode::invalid}}) {
    auto reply = ask(script);
    ASSERT_FALSE(reply.ok()) << script << ": " << reply->text;
    EXPECT_EQ(reply.error().code, code) << script << ": " << reply.error().message;
    EXPECT_THAT(reply.error().message, HasSubstr(std::string(GetParam()) + ":" + script));
  }
}

TEST_P(Providers, AreLeftForTheNextOfTheListBeforeTheyHaveSpoken) {
  std::string provider = GetParam();
  ModelSettings made = settings("overloaded");
  made.models += ", " + provider + ":cut-midway, " + provider + ":plain";
  auto asked = open_model(made, *clock).value();
  ModelRequest silent = hello();
  silent.on_text_delta = nullptr;
  EXPECT_EQ(block_on(*loop, asked->generate(std::move(silent)))->model, "plain");
  made.models = provider + ":cut-midway, " + provider + ":plain";
  asked = open_model(made, *clock).value();
  EXPECT_EQ(block_on(*loop, asked->generate(hello())).error().code, ErrorCode::unavailable)
      << "it had begun to speak";
}

}  // namespace
}  // namespace belay::providers
