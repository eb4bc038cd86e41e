// Model settings before any request is sent: names, addresses, keys, prices.

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "belay/models.h"

namespace belay {
namespace {

using ::testing::HasSubstr;
using ::testing::Not;

ModelSettings named(std::string models) {
  ModelSettings settings;
  settings.models = std::move(models);
  return settings;
}

std::string shown(const ModelSettings& settings) {
  auto names = parse_model_names(settings);
  if (!names.ok()) return names.error().message;
  std::string all;
  for (const ModelName& name : *names) all += name.text() + "@" + name.url + " ";
  return all;
}

TEST(ModelNames, SayProviderNameAndServer) {
  EXPECT_EQ(shown(named("ollama:llama3.2:1b")), "ollama:llama3.2:1b@http://127.0.0.1:11434 ");
  EXPECT_EQ(shown(named(" openai:gpt-5 , anthropic:claude-x")),
            "openai:gpt-5@https://api.openai.com/v1 anthropic:claude-x@https://api.anthropic.com ");
  EXPECT_EQ(shown(named("openai:@cf/meta/llama@http://localhost:8080/v1/")),
            "openai:@cf/meta/llama@http://localhost:8080/v1 ");
  ModelSettings settings = named("openai:a, openai:b");
  settings.url = "https://gateway.example/v1/";
  EXPECT_EQ(shown(settings),
            "openai:a@https://gateway.example/v1 openai:b@https://gateway.example/v1 ");
}

TEST(ModelNames, TakeOllamasHostAsItsClientDoes) {
  for (auto [host, url] :
       {std::pair("", "http://127.0.0.1:11434"), std::pair("0.0.0.0", "http://127.0.0.1:11434"),
        std::pair("box", "http://box:11434"), std::pair("box:8080", "http://box:8080"),
        std::pair("http://box/", "http://box:11434"), std::pair("https://box", "https://box"),
        std::pair("https://box:1/x", "https://box:1/x"), std::pair("[::]", "http://[::1]:11434"),
        std::pair("0.0.0.0:99", "http://127.0.0.1:99")}) {
    ModelSettings settings = named("ollama:m");
    settings.ollama_host = host;
    EXPECT_EQ(shown(settings), "ollama:m@" + std::string(url) + " ") << host;
  }
}

TEST(ModelNames, AreRefusedWithWhatToWriteInstead) {
  for (const char* wrong : {"", ",", "llama3.2", "ollama", "ollama:", "gemini:x", "builtin",
                            "openai:a b", "ollama:m,,ollama:n", "OLLAMA:m"}) {
    Error failed = parse_model_names(named(wrong)).error();
    EXPECT_EQ(failed.code, ErrorCode::invalid) << wrong;
    EXPECT_THAT(failed.message, HasSubstr("ollama:NAME")) << wrong;
  }
  for (const char* wrong : {"localhost:8080", "ftp://a", "http://", "http:///v1",
                            "http://a/v1?key=k", "http://a b", "http://a/\r\nx: y"}) {
    ModelSettings settings = named("openai:m");
    settings.url = wrong;
    EXPECT_THAT(shown(settings), HasSubstr("http://HOST")) << wrong;
  }
  ModelSettings settings = named("openai:m");
  settings.url = "https://user:secret@a/v1";
  EXPECT_THAT(shown(settings), HasSubstr("a name or a password"));
  EXPECT_THAT(shown(settings), Not(HasSubstr("secret")));
  settings = named("openai:m, ollama:n");
  settings.url = "http://a";
  EXPECT_THAT(shown(settings), HasSubstr("PROVIDER:NAME@URL"));
  settings.models = "openai:m, ollama:n@http://b";
  EXPECT_EQ(shown(settings), "openai:m@http://a ollama:n@http://b ");
}

TEST(Models, NeedAKeyWhereTheirServerDoes) {
  auto clock = system_clock();
  for (auto [name, variable] :
       {std::pair("openai:m", "OPENAI_API_KEY"), std::pair("anthropic:m", "ANTHROPIC_API_KEY")}) {
    ModelSettings settings = named(name);
    settings.ollama_key = "k";
    auto opened = open_model(settings, *clock);
    ASSERT_FALSE(opened.ok());
    EXPECT_EQ(opened.error().code, ErrorCode::invalid);
    EXPECT_THAT(opened.error().message, HasSubstr(variable));
    settings.url = "http://127.0.0.1:1";
    EXPECT_TRUE(open_model(settings, *clock).ok()) << "a server of one's own may need none";
  }
}

TEST(Models, RefuseBoundsThatNothingFits) {
  auto clock = system_clock();
  ModelSettings settings = named("ollama:m");
  settings.reply_bytes_max = 0;
  EXPECT_FALSE(open_model(settings, *clock).ok());
  settings = named("ollama:m");
  settings.max_output_tokens = 0;
  EXPECT_FALSE(open_model(settings, *clock).ok());
  settings = named("ollama:m");
  settings.trusted_certificates = "/nowhere/ca.pem";
  EXPECT_TRUE(open_model(settings, *clock).ok()) << "told with the first call";
}

TEST(ModelPrices, AreFoundByTheLongestNameThatFits) {
  auto prices = ModelPrices::parse(R"(
gpt-5 = {input = 1.25, output = 10.0}
gpt-5-mini = {input = 0.25, output = 2}
"openai:gpt-5" = {input = 3, output = 3}
"ollama:llama3.2" = {input = 0, output = 0}
)");
  ASSERT_TRUE(prices.ok()) << prices.error().message;
  EXPECT_EQ(prices->find("azure", "gpt-5-2026")->input, 1'250'000);
  EXPECT_EQ(prices->find("azure", "gpt-5-mini-2026")->output, 2'000'000);
  EXPECT_EQ(prices->find("openai", "gpt-5-2026")->input, 3'000'000);
  EXPECT_EQ(prices->find("ollama", "llama3.2:1b")->output, 0);
  EXPECT_FALSE(prices->find("openai", "o9"));
}

TEST(ModelPrices, AreRefusedWithTheLine) {
  for (const char* wrong :
       {"a", "a = 1", "a = {input = 1}", "a = {input = 1, output = -1}",
        "a = {input = 1, output = inf}", "a = {input = 1, output = nan}",
        "a = {input = 1, output = 20001}", "a = {input = \"1\", output = 1}",
        "a = {input = 1, output = 1, cached = 1}", "a = {input = 1, output = 1}\na = 2",
        "a = {input = true, output = 1}"}) {
    auto prices = ModelPrices::parse(wrong);
    ASSERT_FALSE(prices.ok()) << wrong;
    EXPECT_EQ(prices.error().code, ErrorCode::invalid);
    EXPECT_THAT(prices.error().message, HasSubstr("line ")) << wrong;
  }
  EXPECT_TRUE(ModelPrices::parse("")->find("a", "b") == std::nullopt);
}

TEST(ModelPrices, OfOnesOwnMachineAreZero) {
  auto clock = system_clock();
  ModelSettings settings = named("ollama:m");
  EXPECT_EQ(open_model(settings, *clock).value()->price(ModelRequest())->output, 0);
  settings.ollama_key = "k";
  EXPECT_FALSE(open_model(settings, *clock).value()->price(ModelRequest()))
      << "a cloud sends a bill";
}

}  // namespace
}  // namespace belay
