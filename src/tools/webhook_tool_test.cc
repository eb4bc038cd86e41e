// Webhooks of an agent, through an HttpAccess that records the calls.

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "belay/agent.h"
#include "belay/runtime.h"
#include "belay/testing.h"
#include "belay/tools.h"
#include "tools/webhook_signature.h"

namespace belay {
namespace {

// Secret, message and signature of the reference libraries' tests
// (https://github.com/standard-webhooks/standard-webhooks, libraries).
constexpr std::string_view kSecret = "whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw";

TEST(WebhookSignature, IsThatOfTheReferenceLibraries) {
  std::string secret = tools::webhook_secret(kSecret).value();
  EXPECT_EQ(tools::webhook_signature(secret, "msg_p5jXN8AQM9LWM0D4loKWxJek", 1614265330,
                                     R"({"test": 2432232314})"),
            "v1,g0hM9SsE+OTPJTGt/tmIKtSyZlE3uFJELVlNIOLJ1OE=");
}

TEST(WebhookSignature, RefusesASecretOfAnotherForm) {
  for (const char* secret : {"", "whsec_", "MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw", "whsec_MfKQ",
                             "whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaS", "whsec_===="}) {
    auto refused = tools::webhook_secret(secret);
    ASSERT_FALSE(refused.ok()) << secret;
    EXPECT_EQ(refused.error().code, ErrorCode::invalid);
  }
}

// Answers with the statuses in order, the last one always. Permits the hosts of narrowed() only.
class RecordedHttp final : public HttpAccess, public std::enable_shared_from_this<RecordedHttp> {
 public:
  explicit RecordedHttp(std::vector<int> statuses) : statuses_(std::move(statuses)) {}

  Task<Result<HttpReply>> send(HttpCall call) override {
    std::size_t place = std::min(calls.size(), statuses_.size() - 1);
    calls.push_back(std::move(call));
    HttpReply reply;
    reply.status = statuses_[place];
    co_return reply;
  }
  Result<std::shared_ptr<HttpAccess>> narrowed(std::vector<std::string> permitted) override {
    hosts = std::move(permitted);
    return std::shared_ptr<HttpAccess>(shared_from_this());
  }

  std::vector<HttpCall> calls;
  std::vector<std::string> hosts;

 private:
  std::vector<int> statuses_;
};

std::string answer_with(const std::shared_ptr<RecordedHttp>& http) {
  WebhookToolOptions webhook;
  webhook.hosts = {"hooks.example.com"};
  webhook.secret = kSecret;
  webhook.attempts = 3;
  AgentOptions options;
  options.tools = {send_webhook_tool(std::move(webhook)).value()};
  auto graph = agent_graph("sender", std::move(options)).value();
  testing::SimulatedClock clock{*instant_from("2026-01-01T09:00:00Z")};
  testing::SeededRandom random{1};
  testing::SimulatedLoop loop{clock};
  Value arguments = Value::object(
      {{"body", Value::object({{"done", true}})}, {"url", "https://hooks.example.com/a"}});
  auto last_text = [](const ModelRequest& request) { return request.messages.back().text; };
  testing::ScriptedModel model =
      testing::calls({{"a", "send_webhook", arguments}}).replies_with(last_text);
  auto store = open_store("memory:", clock, random).value();
  RuntimeParts parts{*store, loop, clock, random, model};
  parts.http = http;
  auto runtime = Runtime::open(std::move(parts)).value();
  runtime->add(graph);
  AgentState state;
  state.question = "Send it.";
  auto view = block_on(loop, runtime->start(graph, std::move(state), StartOptions())).value();
  return *view.state["answer"].as_string();
}

std::string header_of(const HttpCall& call, std::string_view name) {
  for (const HttpHeader& header : call.headers) {
    if (header.name == name) return header.value;
  }
  return "";
}

TEST(WebhookTool, SendsASignedBodyToAPermittedHost) {
  auto http = std::make_shared<RecordedHttp>(std::vector<int>{204});
  EXPECT_EQ(answer_with(http), "The receiver answered with status 204.");
  EXPECT_THAT(http->hosts, ::testing::ElementsAre("hooks.example.com"));
  ASSERT_EQ(http->calls.size(), 1u);
  const HttpCall& call = http->calls[0];
  EXPECT_EQ(call.method, "POST");
  EXPECT_EQ(call.url, "https://hooks.example.com/a");
  EXPECT_EQ(call.body, R"({"done":true})");
  EXPECT_EQ(header_of(call, "webhook-timestamp"), "1767258000");
  EXPECT_EQ(header_of(call, "webhook-signature"),
            tools::webhook_signature(tools::webhook_secret(kSecret).value(),
                                     header_of(call, "webhook-id"), 1767258000, call.body));
}

TEST(WebhookTool, RetriesAServerThatIsAwayWithTheSameId) {
  auto http = std::make_shared<RecordedHttp>(std::vector<int>{503, 429, 200});
  EXPECT_EQ(answer_with(http), "The receiver answered with status 200.");
  ASSERT_EQ(http->calls.size(), 3u);
  EXPECT_EQ(header_of(http->calls[0], "webhook-id"), header_of(http->calls[2], "webhook-id"));
}

TEST(WebhookTool, ReturnsAFinalFailureToTheModel) {
  auto refused = std::make_shared<RecordedHttp>(std::vector<int>{410});
  EXPECT_EQ(answer_with(refused), "Error: The receiver answered with status 410.");
  EXPECT_EQ(refused->calls.size(), 1u);
  auto away = std::make_shared<RecordedHttp>(std::vector<int>{500});
  EXPECT_EQ(answer_with(away), "Error: The receiver answered with status 500.");
  EXPECT_EQ(away->calls.size(), 3u);
}

TEST(WebhookTool, NeedsPermittedHosts) {
  auto refused = send_webhook_tool(WebhookToolOptions());
  ASSERT_FALSE(refused.ok());
  EXPECT_EQ(refused.error().code, ErrorCode::invalid);
}

}  // namespace
}  // namespace belay
