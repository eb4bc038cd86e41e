#include "telemetry/failure_webhook.h"

#include <deque>
#include <utility>

#include "belay/ids.h"
#include "belay/value.h"
#include "net/egress.h"
#include "net/http_client.h"

namespace belay::telemetry {
namespace {

constexpr std::chrono::milliseconds kConnectWithin{5'000};
constexpr std::chrono::milliseconds kAnswerWithin{10'000};  // with the connection
constexpr int kAttemptsMax = 3;
constexpr std::chrono::milliseconds kFirstDelay{1'000};  // each later one is four times as long
// Alerts are a minute apart at least: more wait only if the clock was changed.
constexpr std::size_t kWaitingMax = 8;
constexpr std::size_t kAnswerBytesMax = 64 * 1024;

Value body_of(const FailureReport& report) {
  auto seconds = std::chrono::duration_cast<std::chrono::seconds>(report.window).count();
  return Value::object({{"alert", "failure_rate"},
                        {"state", report.is_firing ? "firing" : "cleared"},
                        {"rate", report.rate()},
                        {"failed", report.failed},
                        {"total", report.ended},
                        {"window_seconds", static_cast<std::int64_t>(seconds)},
                        {"at", to_text(report.at)}});
}

}  // namespace

// Used on the executor's thread only.
class AlertSender {
 public:
  AlertSender(net::Target target, std::unique_ptr<net::HttpClient> client, Executor& executor,
              Random& random, Log* log)
      : target_(std::move(target)),
        client_(std::move(client)),
        executor_(executor),
        random_(random),
        log_(log) {}

  Executor& executor() { return executor_; }

  void add(const FailureReport& report) {
    if (waiting_.size() == kWaitingMax) waiting_.pop_front();
    waiting_.push_back(report);
    if (is_sending_) return;
    is_sending_ = true;
    auto ended = [this](Done) { is_sending_ = false; };
    sending_ = spawn<Done>(executor_, send_waiting(), std::move(ended));
  }
  void stop() { sending_.reset(); }

 private:
  // One after the other: a receiver sees "firing" before "cleared".
  Task<Done> send_waiting() {
    while (!waiting_.empty()) {
      FailureReport report = waiting_.front();
      waiting_.pop_front();
      Result<Done> sent = co_await send(report);
      if (!sent.ok()) log_failure(sent.error());
    }
    co_return Done{};
  }

  Task<Result<Done>> send(FailureReport report) {
    std::string body = to_json(body_of(report));
    std::string id = random_uuid(random_).text();
    std::chrono::milliseconds delay = kFirstDelay;
    for (int attempt = 1;; ++attempt, delay *= 4) {
      Result<Done> posted = co_await post(body, id);
      if (posted.ok() || attempt == kAttemptsMax) co_return posted;
      co_await sleep_for(delay);
    }
  }

  Task<Result<Done>> post(std::string body, std::string id) {
    net::HttpRequest request;
    request.method = "POST";
    request.url = target_.url();
    request.headers = {{"Content-Type", "application/json"}, {"Idempotency-Key", std::move(id)}};
    request.body = std::move(body);
    request.timeouts.connect = kConnectWithin;
    request.timeouts.total = kAnswerWithin;
    request.limits.body_bytes = kAnswerBytesMax;
    BELAY_CO_TRY(net::HttpAnswer answer, co_await client_->begin(std::move(request)));
    int status = answer.status();
    std::move(answer).leave();
    if (status / 100 == 2) co_return Done{};
    co_return error(ErrorCode::unavailable, "The webhook of alerts at " + target_.origin() +
                                                " returned the status " + std::to_string(status) +
                                                ".");
  }

  void log_failure(const Error& failed) const {
    if (!log_) return;
    LogEntry entry;
    entry.level = LogLevel::warning;
    entry.event = "alert.webhook_failed";
    entry.message = failed.message;
    entry.fields = {{"code", std::string(name_of(failed.code))}};
    log_->write(std::move(entry));
  }

  const net::Target target_;
  const std::unique_ptr<net::HttpClient> client_;
  Executor& executor_;
  Random& random_;
  Log* const log_;
  std::deque<FailureReport> waiting_;
  bool is_sending_ = false;
  Spawned sending_;  // last: it uses all members above
};

Result<std::unique_ptr<FailureWebhook>> FailureWebhook::open(const std::string& url,
                                                             Executor& executor, Random& random,
                                                             Log* log) {
  BELAY_TRY(net::Target target, net::parse_target(url));
  net::HttpClientOptions options;
  // A proxy cannot reach this machine.
  bool is_local =
      target.host == "localhost" || target.host == "::1" || target.host.starts_with("127.");
  if (is_local) options.proxy = "";
  BELAY_TRY(std::unique_ptr<net::HttpClient> client, net::HttpClient::open(std::move(options)));
  auto sender =
      std::make_shared<AlertSender>(std::move(target), std::move(client), executor, random, log);
  return std::make_unique<FailureWebhook>(std::move(sender));
}

FailureWebhook::FailureWebhook(std::shared_ptr<AlertSender> sender) : sender_(std::move(sender)) {}

FailureWebhook::~FailureWebhook() { sender_->stop(); }

void FailureWebhook::send(const FailureReport& report) {
  // The executor can have posted work left when the object is destroyed.
  std::weak_ptr<AlertSender> held = sender_;
  sender_->executor().post([held, report] {
    if (auto sender = held.lock()) sender->add(report);
  });
}

}  // namespace belay::telemetry
