// FailureWatch and FailureWebhook: the requests of an alert that fires and clears, against a server
// that records them.

#include "telemetry/failure_webhook.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <mutex>

#include "belay/value.h"
#include "telemetry/failure_watch.h"
#include "tests/support/collected_log.h"
#include "tests/support/scripted_server.h"

namespace belay::telemetry {
namespace {

using namespace std::chrono_literals;
using ::testing::AllOf;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::Not;

// Responds to each request with the next status, and with the last one from then on.
class AlertReceiver {
 public:
  explicit AlertReceiver(std::vector<std::string> statuses)
      : statuses_(std::move(statuses)), server_([this](net::Peer& peer, int) { answer(peer); }) {}

  std::string url() const { return server_.url("/secret-path?token=secret-query"); }
  std::vector<std::string> requests() {
    std::lock_guard lock(mutex_);
    return requests_;
  }
  // The documents of the requests.
  std::vector<Value> bodies() {
    std::vector<Value> read;
    for (const std::string& request : requests()) {
      read.push_back(parse_json(request.substr(request.find("\r\n\r\n") + 4)).value_or(Value()));
    }
    return read;
  }

 private:
  void answer(net::Peer& peer) {
    std::string request = peer.request();
    if (request.empty()) return;
    std::string status;
    {
      std::lock_guard lock(mutex_);
      status = statuses_[std::min(requests_.size(), statuses_.size() - 1)];
      requests_.push_back(std::move(request));
    }
    peer.send("HTTP/1.1 " + status + "\r\nContent-Length: 0\r\nConnection: close\r\n\r\n");
  }

  const std::vector<std::string> statuses_;
  std::mutex mutex_;
  std::vector<std::string> requests_;  // guarded by mutex_
  net::ScriptedServer server_;         // last: it uses all members above
};

FailureAlert alert_of_four_runs() {
  FailureAlert alert;
  alert.runs_min = 4;
  return alert;
}

class FailureWebhooks : public ::testing::Test {
 protected:
  void open(const std::string& url) {
    webhook_ = FailureWebhook::open(url, *loop_, *random_, &log_).value();
    FailureAlert alert = alert_of_four_runs();
    alert.reporter = [this](const FailureReport& report) { webhook_->send(report); };
    watch_.emplace(alert, Telemetry{&log_, nullptr});
  }
  void end_runs(int completed, int failed) {
    for (int i = 0; i < completed; ++i) watch_->count(false, now_);
    for (int i = 0; i < failed; ++i) watch_->count(true, now_);
  }
  // Runs the loop until `is_done` returns true; fails after ten seconds.
  void run_until(const std::function<bool()>& is_done) {
    auto end = std::chrono::steady_clock::now() + 10s;
    std::function<void()> look = [&] {
      if (is_done() || std::chrono::steady_clock::now() > end) return loop_->stop();
      loop_->call_after(5ms, [&] { look(); });
    };
    loop_->post([&] { look(); });
    loop_->run();
    EXPECT_TRUE(is_done());
  }
  void run_for(std::chrono::milliseconds time) {
    loop_->post([&] { loop_->call_after(time, [&] { loop_->stop(); }); });
    loop_->run();
  }

  Instant now_ = *instant_from("2026-11-28T12:00:00Z");
  std::unique_ptr<Random> random_ = system_random();
  std::unique_ptr<EventLoop> loop_ = make_event_loop();
  CollectedLog log_;
  std::unique_ptr<FailureWebhook> webhook_;
  std::optional<FailureWatch> watch_;
};

TEST_F(FailureWebhooks, ReceiveOneRequestWhenTheAlertFiresAndOneWhenItClears) {
  AlertReceiver receiver({"204 No Content"});
  open(receiver.url());
  end_runs(3, 1);
  end_runs(0, 5);
  now_ += 10min;
  end_runs(1, 1);
  run_until([&] { return receiver.requests().size() >= 1; });
  now_ += 30min;
  watch_->look(now_);
  watch_->look(now_);
  end_runs(50, 0);
  run_until([&] { return receiver.requests().size() >= 2; });
  run_for(50ms);
  auto bodies = receiver.bodies();
  ASSERT_EQ(bodies.size(), 2u);
  EXPECT_EQ(to_json(bodies[0]),
            R"({"alert":"failure_rate","at":"2026-11-28T12:00:00.000000Z","failed":1,)"
            R"("rate":0.25,"state":"firing","total":4,"window_seconds":900})");
  EXPECT_EQ(bodies[1]["state"], Value("cleared"));
  EXPECT_EQ(bodies[1]["total"], Value(0));
  EXPECT_EQ(bodies[1]["at"], Value("2026-11-28T12:40:00.000000Z"));
  EXPECT_THAT(
      receiver.requests()[0],
      AllOf(HasSubstr("POST /secret-path?token=secret-query HTTP/1.1\r\n"),
            HasSubstr("Content-Type: application/json\r\n"), HasSubstr("Idempotency-Key: ")));
  EXPECT_THAT(log_.events(), ElementsAre("alert.failure_rate", "alert.failure_rate_cleared"));
}

TEST_F(FailureWebhooks, ReceiveTheSameRequestAgainUntilTheyConfirmIt) {
  AlertReceiver receiver({"503 Service Unavailable", "200 OK"});
  open(receiver.url());
  end_runs(0, 4);
  run_until([&] { return receiver.requests().size() >= 2; });
  auto requests = receiver.requests();
  ASSERT_EQ(requests.size(), 2u);
  EXPECT_EQ(requests[0], requests[1]);
}

TEST_F(FailureWebhooks, GetTheAlertsInTheirOrder) {
  AlertReceiver receiver({"500 Internal Server Error", "200 OK"});
  open(receiver.url());
  end_runs(0, 4);
  now_ += 31min;
  watch_->look(now_);
  run_until([&] { return receiver.requests().size() >= 3; });
  auto bodies = receiver.bodies();
  ASSERT_EQ(bodies.size(), 3u);
  EXPECT_EQ(bodies[0], bodies[1]);
  EXPECT_EQ(bodies[1]["state"], Value("firing"));
  EXPECT_EQ(bodies[2]["state"], Value("cleared"));
}

TEST_F(FailureWebhooks, ThatDoNotRespondDelayNeitherTheCallerNorTheEnd) {
  net::ScriptedServer silent([](net::Peer& peer, int) {
    peer.request();
    peer.sees_the_end();
  });
  open(silent.url("/"));
  auto before = std::chrono::steady_clock::now();
  end_runs(0, 4);
  run_until([&] { return silent.connections() == 1; });
  watch_.reset();
  webhook_.reset();
  EXPECT_LT(std::chrono::steady_clock::now() - before, 5s);
}

TEST_F(FailureWebhooks, ThatAreNotThereAreReportedOnceWithoutThePath) {
  std::string gone = [] { return AlertReceiver({"200 OK"}).url(); }();
  open(gone);
  end_runs(0, 4);
  log_.entries.clear();
  // The delays before the two repetitions are 1 and 4 seconds.
  auto end = std::chrono::steady_clock::now() + 60s;
  while (log_.entries.empty() && std::chrono::steady_clock::now() < end) run_for(500ms);
  ASSERT_THAT(log_.events(), ElementsAre("alert.webhook_failed"));
  EXPECT_THAT(log_.entries[0].message, AllOf(HasSubstr("127.0.0.1"), Not(HasSubstr("secret"))));
}

TEST_F(FailureWebhooks, RequireAUrlOfHttp) {
  for (const char* url :
       {"", "alerts.example.com", "ftp://alerts.example.com/", "file:///etc/hosts",
        "https://user:word@alerts.example.com/", "https://alerts.example.com/a b"}) {
    auto refused = FailureWebhook::open(url, *loop_, *random_, nullptr);
    ASSERT_FALSE(refused.ok()) << url;
    EXPECT_EQ(refused.error().code, ErrorCode::invalid) << url;
  }
  EXPECT_TRUE(FailureWebhook::open("https://alerts.example.com/", *loop_, *random_, nullptr).ok());
}

TEST_F(FailureWebhooks, ReceiveNothingIfTheAlertIsOff) {
  FailureAlert off = alert_of_four_runs();
  off.is_on = false;
  int reports = 0;
  off.reporter = [&](const FailureReport&) { ++reports; };
  watch_.emplace(off, Telemetry{&log_, nullptr});
  end_runs(0, 20);
  EXPECT_EQ(reports, 0);
  EXPECT_TRUE(log_.entries.empty());
}

}  // namespace
}  // namespace belay::telemetry
