#pragma once
// telemetry/failure_webhook.h - FailureWebhook: sends the alert about failed runs to a URL of the
// operator, as one POST when it fires and one when it clears.
//
//   auto webhook = FailureWebhook::open(url, *loop, log).value();
//   FailureAlert alert;
//   alert.reporter = [&](const FailureReport& each) { webhook->send(each); };
//
// The body is application/json:
//   {"alert": "failure_rate", "state": "firing" or "cleared", "rate": 0.25, "failed": 5,
//    "total": 20, "window_seconds": 900, "at": "2026-11-28T12:00:00.000000Z"}
//
// A response with a 2xx status is the receipt. Otherwise the request is sent again, a few times,
// with the same Idempotency-Key; then the entry `alert.webhook_failed` of the log names the host
// and the reason. Nothing waits for it: an alert that is not sent before the process ends is lost.
// Redirects are not followed. As for a model server, the operator alone configures the URL: the
// policy of belay/http.h does not apply.

#include <memory>
#include <string>

#include "belay/result.h"
#include "belay/telemetry.h"

namespace belay::telemetry {

class AlertSender;

class FailureWebhook {
 public:
  // Fails with `invalid`, without the URL in the message, for anything but a URL of http or https
  // without user and password. Connects at the first alert. The other arguments
  // must outlive the object; `log` can be null.
  static Result<std::unique_ptr<FailureWebhook>> open(const std::string& url, Executor& executor,
                                                      Random& random, Log* log);
  explicit FailureWebhook(std::shared_ptr<AlertSender> sender);
  FailureWebhook(const FailureWebhook&) = delete;
  FailureWebhook& operator=(const FailureWebhook&) = delete;
  // Stops a request in progress. On the executor's thread, or when the executor has stopped.
  ~FailureWebhook();

  // From any thread; returns immediately.
  void send(const FailureReport& report);

 private:
  std::shared_ptr<AlertSender> sender_;
};

}  // namespace belay::telemetry
