// Texts of models over the protocols of the three providers.

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "agents/research/prose/filing_prose.h"
#include "agents/research/prose/prose_fixture.h"
#include "belay/models.h"
#include "tests/providers/scripted_provider.h"

namespace belay::research {
namespace {

using ::testing::HasSubstr;
using ::testing::SizeIs;

// A reply that is invalid at first, and then the given text; in chunks of ten bytes.
providers::Told told_with(const providers::Asked& asked, const std::string& valid) {
  const auto provider = providers::provider_of(asked.path);
  if (!provider) return {404, "application/json", {}, {"{}"}};
  const std::string text = asked.times == 1 ? std::string("Certainly! {\"sentences\": [") : valid;
  providers::Speech speech;
  for (std::size_t at = 0; at < text.size(); at += 10) speech.words.push_back(text.substr(at, 10));
  return providers::told(*provider, asked.body, speech);
}

struct ProseProviders : ::testing::TestWithParam<const char*> {
  std::string seen;  // of the last request
  std::mutex mutex;
  std::string valid = reply_with(machine_risks());
  providers::ScriptedProvider server{[this](const providers::Asked& asked) {
    std::lock_guard lock(mutex);
    seen = asked.text;
    if (auto refused = providers::refusal_of(asked, *providers::provider_of(asked.path))) {
      return *std::move(refused);
    }
    return told_with(asked, valid);
  }};
  std::unique_ptr<EventLoop> loop = make_event_loop();
  std::unique_ptr<Clock> clock = system_clock();

  std::shared_ptr<Model> opened(const std::string& url) {
    ModelSettings settings;
    const std::string provider = GetParam();
    settings.models = provider + ":writer";
    settings.url = url + (provider == "openai" ? "/v1" : "");
    settings.anthropic_key = "k";
    return open_model(std::move(settings), *clock).value();
  }
};

INSTANTIATE_TEST_SUITE_P(All, ProseProviders, ::testing::Values("ollama", "openai", "anthropic"),
                         [](const auto& one) { return std::string(one.param); });

TEST_P(ProseProviders, WriteATextAtTheSecondRequest) {
  const TenKText text = machine_report();
  auto model = opened(server.url());
  auto result = block_on(*loop, write_prose(prose_source(&text, "1A"), *model));
  ASSERT_TRUE(result.ok()) << result.error().message;
  EXPECT_EQ(result->by, std::string(GetParam()) + ":writer") << result->note;
  EXPECT_THAT(result->sentences, SizeIs(2));
  std::lock_guard lock(mutex);
  EXPECT_THAT(seen, HasSubstr("not a JSON object"));
  EXPECT_THAT(seen, HasSubstr("additionalProperties"));
}

TEST_P(ProseProviders, ThatDoNotListenAreUnavailable) {
  const TenKText text = machine_report();
  auto model = opened("http://127.0.0.1:9");
  auto result = block_on(*loop, write_prose(prose_source(&text, "1A"), *model));
  ASSERT_FALSE(result.ok());
  EXPECT_EQ(result.error().code, ErrorCode::unavailable);
}

}  // namespace
}  // namespace belay::research
