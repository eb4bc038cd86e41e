// Webhooks of an agent, through an HttpAccess that records the calls.

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "belay/agent.h"
#include "belay/runtime.h"
#include "belay/testing.h"
#include "belay/tools.h"
#include "belay/webhook.h"
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

// An agent that sends one webhook, and the delivery of its dead letters.
class WebhookTool : public ::testing::Test {
 protected:
  std::string answer_with(const std::shared_ptr<RecordedHttp>& http,
                          const std::string& dead_letters = "") {
    WebhookToolOptions webhook;
    webhook.hosts = {"hooks.example.com"};
    webhook.secret = kSecret;
    webhook.attempts = 3;
    webhook.dead_letters = dead_letters;
    AgentOptions options;
    options.tools = {send_webhook_tool(webhook).value()};
    auto graph = agent_graph("sender", std::move(options)).value();
    RuntimeParts parts{*store_, loop_, clock_, random_, model_};
    parts.http = http;
    runtime_ = Runtime::open(std::move(parts)).value();
    runtime_->add(graph);
    if (!dead_letters.empty()) {
      runtime_->deliver(dead_letters, webhook_dead_letters(webhook, http, clock_).value(),
                        {.retry = {.attempts = 2}});
    }
    AgentState state;
    state.question = "Send it.";
    auto view = block_on(loop_, runtime_->start(graph, std::move(state), StartOptions())).value();
    return *view.state["answer"].as_string();
  }
  std::vector<OutboxRow> messages() {
    std::vector<OutboxRow> found;
    Store::Reader reader = [&](Snapshot& view) -> Result<Done> {
      BELAY_TRY(found, view.outbox(OutboxFilter{.tenant = default_tenant()}));
      return Done{};
    };
    EXPECT_TRUE(block_on(loop_, store_->read(std::move(reader))).ok());
    return found;
  }

  testing::SimulatedClock clock_{*instant_from("2026-01-01T09:00:00Z")};
  testing::SeededRandom random_{1};
  testing::SimulatedLoop loop_{clock_};
  Value arguments_ = Value::object(
      {{"body", Value::object({{"done", true}})}, {"url", "https://hooks.example.com/a"}});
  testing::ScriptedModel model_ =
      testing::calls({{"a", "send_webhook", arguments_}})
          .replies_with([](const ModelRequest& request) { return request.messages.back().text; });
  std::unique_ptr<Store> store_ = open_store("memory:", clock_, random_).value();
  std::unique_ptr<Runtime> runtime_;
};

std::string header_of(const HttpCall& call, std::string_view name) {
  for (const HttpHeader& header : call.headers) {
    if (header.name == name) return header.value;
  }
  return "";
}

TEST_F(WebhookTool, SendsASignedBodyToAPermittedHost) {
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

TEST_F(WebhookTool, RetriesAServerThatIsAwayWithTheSameId) {
  auto http = std::make_shared<RecordedHttp>(std::vector<int>{503, 429, 200});
  EXPECT_EQ(answer_with(http), "The receiver answered with status 200.");
  ASSERT_EQ(http->calls.size(), 3u);
  EXPECT_EQ(header_of(http->calls[0], "webhook-id"), header_of(http->calls[2], "webhook-id"));
}

TEST_F(WebhookTool, ReturnsARefusalToTheModel) {
  auto refused = std::make_shared<RecordedHttp>(std::vector<int>{410});
  EXPECT_EQ(answer_with(refused, "late"), "Error: The receiver answered with status 410.");
  EXPECT_EQ(refused->calls.size(), 1u);
  EXPECT_TRUE(messages().empty()) << "another attempt would not change it";
}

TEST_F(WebhookTool, ReturnsTheFailureOfTheLastAttemptToTheModel) {
  auto away = std::make_shared<RecordedHttp>(std::vector<int>{500});
  EXPECT_EQ(answer_with(away), "Error: The receiver answered with status 500.");
  EXPECT_EQ(away->calls.size(), 3u);
}

TEST_F(WebhookTool, LeavesAnUndeliveredWebhookInTheOutboxWhichSendsItAgainWithTheSameId) {
  auto http = std::make_shared<RecordedHttp>(std::vector<int>{500, 500, 500, 503, 200});
  EXPECT_EQ(answer_with(http, "late"),
            "Error: The receiver answered with status 500. It will be sent again later, with the "
            "same id.");
  WorkerOptions until_idle;
  until_idle.until_idle = true;
  for (int i = 0; i < 10 && http->calls.size() < 5; ++i) {
    ASSERT_TRUE(block_on(loop_, runtime_->run_worker(until_idle)).ok());
    clock_.move(std::chrono::hours(1));
  }
  ASSERT_EQ(http->calls.size(), 5u);
  for (const HttpCall& call : http->calls) {
    EXPECT_EQ(call.url, "https://hooks.example.com/a");
    EXPECT_EQ(call.body, R"({"done":true})");
    EXPECT_EQ(header_of(call, "webhook-id"), header_of(http->calls[0], "webhook-id"));
  }
  EXPECT_NE(header_of(http->calls[4], "webhook-timestamp"),
            header_of(http->calls[0], "webhook-timestamp"))
      << "receivers refuse an old time";
  ASSERT_EQ(messages().size(), 1u);
  EXPECT_EQ(messages()[0].status, OutboxStatus::delivered);
}

TEST_F(WebhookTool, ADeadLetterOfAnotherFormIsRefused) {
  auto http = std::make_shared<RecordedHttp>(std::vector<int>{200});
  WebhookToolOptions webhook;
  webhook.hosts = {"hooks.example.com"};
  Receiver receiver = webhook_dead_letters(webhook, http, clock_).value();
  OutboxMessage message;
  message.body = Value::object({{"url", "https://hooks.example.com/a"}});
  auto refused = block_on(loop_, receiver(std::move(message)));
  ASSERT_FALSE(refused.ok());
  EXPECT_EQ(refused.error().code, ErrorCode::invalid);
  EXPECT_TRUE(http->calls.empty());
}

TEST_F(WebhookTool, NeedsPermittedHosts) {
  auto refused = send_webhook_tool(WebhookToolOptions());
  ASSERT_FALSE(refused.ok());
  EXPECT_EQ(refused.error().code, ErrorCode::invalid);
}

}  // namespace
}  // namespace belay
