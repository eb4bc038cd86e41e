// Webhooks, against a server that records requests.

#include "belay/webhook.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <mutex>

#include "belay/open.h"
#include "tests/support/scripted_server.h"

namespace belay {
namespace {

using namespace std::chrono_literals;
using ::testing::AllOf;
using ::testing::HasSubstr;
using ::testing::Not;

// Answers each request with the next status, and the last one from then on.
class Hook {
 public:
  explicit Hook(std::vector<std::string> statuses)
      : statuses_(std::move(statuses)), server_([this](net::Peer& peer, int) { answer(peer); }) {}

  std::string url() const { return server_.url("/secret-path?token=secret-query"); }
  std::vector<std::string> requests() {
    std::lock_guard held(mutex_);
    return requests_;
  }

 private:
  void answer(net::Peer& peer) {
    while (true) {
      std::string request = peer.request();
      if (request.empty()) return;
      std::string status;
      {
        std::lock_guard held(mutex_);
        status = statuses_[std::min(requests_.size(), statuses_.size() - 1)];
        requests_.push_back(std::move(request));
      }
      if (!peer.send("HTTP/1.1 " + status + "\r\nContent-Length: 0\r\n\r\n")) return;
    }
  }

  std::vector<std::string> statuses_;
  std::mutex mutex_;
  std::vector<std::string> requests_;  // guarded by mutex_
  net::ScriptedServer server_;         // last: it uses all members above
};

// The servers of the tests are on loopback.
WebhookOptions local(std::string url) {
  WebhookOptions options;
  options.url = std::move(url);
  options.egress.allowed_networks = {"127.0.0.1"};
  options.egress.allowed_ports = {};
  return options;
}

OutboxMessage message() {
  OutboxMessage sent;
  sent.id = "run/3/0";
  sent.topic = "late";
  sent.body = Value::object({{"thread", "first"}});
  sent.attempt = 2;
  return sent;
}

Result<Done> deliver(const Receiver& receiver) {
  auto loop = make_event_loop();
  return block_on(*loop, receiver(message()));
}

TEST(Webhooks, PostTheBodyWithTheKeyOfTheMessage) {
  Hook hook({"204 No Content"});
  WebhookOptions options = local(hook.url());
  options.authorization = "Bearer word";
  Receiver receiver = webhook_receiver(options).value();
  EXPECT_TRUE(deliver(receiver).ok());
  auto requests = hook.requests();
  ASSERT_EQ(requests.size(), 1u);
  EXPECT_THAT(requests[0],
              AllOf(HasSubstr("POST /secret-path?token=secret-query HTTP/1.1\r\n"),
                    HasSubstr("Content-Type: application/json\r\n"),
                    HasSubstr("Idempotency-Key: run/3/0\r\n"), HasSubstr("Belay-Topic: late\r\n"),
                    HasSubstr("Belay-Attempt: 2\r\n"), HasSubstr("Authorization: Bearer word\r\n"),
                    HasSubstr("\r\n\r\n{\"thread\":\"first\"}")));
}

TEST(Webhooks, FailWithTheStatusAndTheHostAlone) {
  for (const char* status : {"500 Internal Server Error", "404 Not Found", "302 Found"}) {
    Hook hook({status});
    WebhookOptions options = local(hook.url());
    options.authorization = "Bearer word";
    Receiver receiver = webhook_receiver(options).value();
    auto refused = deliver(receiver);
    ASSERT_FALSE(refused.ok()) << status;
    EXPECT_EQ(refused.error().code, ErrorCode::unavailable);
    EXPECT_THAT(refused.error().message,
                AllOf(HasSubstr("http://127.0.0.1:"), HasSubstr(std::string(status).substr(0, 3)),
                      Not(HasSubstr("secret")), Not(HasSubstr("word"))));
    EXPECT_EQ(hook.requests().size(), 1u) << "redirects are not followed";
  }
}

TEST(Webhooks, FailIfTheServerDoesNotAnswerInTime) {
  net::ScriptedServer silent([](net::Peer& peer, int) {
    peer.request();
    peer.sees_the_end();
  });
  WebhookOptions options = local(silent.url("/"));
  options.timeout = 100ms;
  Receiver receiver = webhook_receiver(options).value();
  auto refused = deliver(receiver);
  ASSERT_FALSE(refused.ok());
  EXPECT_EQ(refused.error().code, ErrorCode::unavailable);
}

TEST(Webhooks, OfInvalidOptionsAreRefused) {
  for (const char* url : {"", "hooks.example.com", "ftp://hooks.example.com/", "https:///path",
                          "https://user@/path", "https://hooks.example.com/a\r\nb"}) {
    auto refused = webhook_receiver({.url = url});
    ASSERT_FALSE(refused.ok()) << url;
    EXPECT_EQ(refused.error().code, ErrorCode::invalid);
  }
  EXPECT_FALSE(webhook_receiver({.url = "https://a.example/", .authorization = "a\nb: c"}).ok());
}

TEST(Webhooks, InAPrivateNetworkMustBePermitted) {
  Hook hook({"200 OK"});
  WebhookOptions options = local(hook.url());
  options.egress.allowed_networks = {};
  EXPECT_EQ(webhook_receiver(options).error().code, ErrorCode::forbidden);
  options.egress.allowed_networks = {"127.0.0.1"};
  options.egress.allowed_ports = {443};
  EXPECT_EQ(webhook_receiver(options).error().code, ErrorCode::forbidden);
  for (const char* url : {"http://10.0.0.1/", "https://localhost/", "http://169.254.169.254/",
                          "http://metadata.google.internal/", "https://[::1]/", "http://127.1/"}) {
    EXPECT_EQ(webhook_receiver({.url = url}).error().code, ErrorCode::forbidden) << url;
  }
  EXPECT_EQ(hook.requests().size(), 0u);
}

Task<Done> pause() {
  co_await sleep_for(10ms);
  co_return Done{};
}

struct Draft {
  std::string text = "Dear all";
};

TEST(Webhooks, AreCalledForAnApprovalThatExpiresUntilOneCallSucceeds) {
  Hook hook({"503 Service Unavailable", "200 OK"});
  auto belay = open("memory:").value();
  GraphBuilder<Draft> builder{"draft"};
  builder
      .approval("review", &Draft::text,
                {.question = "Send?",
                 .expires = 20ms,
                 .on_expiry = ExpiryMessage{"late", Value("desk 7")}})
      .approved(end)
      .rejected(end);
  builder.edge(start, "review");
  auto graph = std::move(builder).build().value();
  belay->add(graph);
  DeliveryOptions quick;
  quick.retry.attempts = 5;
  quick.retry.base = 1ms;
  belay->runtime().deliver("late", webhook_receiver(local(hook.url())).value(), quick);
  RunView waits = belay->run(graph, Draft{}, {.thread = ThreadId("first")}).value();
  ASSERT_EQ(waits.row.status, RunStatus::paused);
  for (int i = 0; i < 500 && hook.requests().size() < 2; ++i) {
    belay->wait(pause());
    ASSERT_TRUE(belay->work().ok());
  }
  EXPECT_EQ(belay->status(ThreadId("first"))->row.status, RunStatus::completed);
  ASSERT_TRUE(belay->work().ok());
  auto requests = hook.requests();
  ASSERT_EQ(requests.size(), 2u) << "one that failed, and its repetition";
  auto key_of = [](const std::string& request) {
    std::size_t at = request.find("Idempotency-Key: ");
    return request.substr(at, request.find('\r', at) - at);
  };
  EXPECT_EQ(key_of(requests[0]), key_of(requests[1]));
  EXPECT_THAT(
      requests[1],
      AllOf(HasSubstr("\"event\":\"approval.expired\""), HasSubstr("\"threadId\":\"first\""),
            HasSubstr("\"decision\":\"rejected\""), HasSubstr("\"data\":\"desk 7\"")));
}

}  // namespace
}  // namespace belay
