#include "belay/webhook.h"

#include <memory>

#include "base/characters.h"
#include "net/egress_client.h"

namespace belay {
namespace {

// A webhook's answer is a receipt; a longer one is not read to its end.
constexpr std::size_t kReceiptBytesMax = 64 * 1024;

struct Webhook {
  WebhookOptions options;
  net::Target target;
  std::shared_ptr<net::EgressClient> client;
};

net::HttpRequest request_of(const WebhookOptions& options, const OutboxMessage& message) {
  net::HttpRequest request;
  request.method = "POST";
  request.headers = {{"Content-Type", "application/json"},
                     {"Idempotency-Key", message.id},
                     {"Belay-Topic", message.topic},
                     {"Belay-Attempt", std::to_string(message.attempt)}};
  if (!options.authorization.empty()) {
    request.headers.push_back({"Authorization", options.authorization});
  }
  request.body = to_json(message.body);
  request.timeouts.total = options.timeout;
  request.limits.body_bytes = kReceiptBytesMax;
  return request;
}

Task<Result<Done>> post(std::shared_ptr<Webhook> webhook, OutboxMessage message) {
  net::HttpRequest request = request_of(webhook->options, message);
  BELAY_CO_TRY(net::HttpAnswer answer,
               co_await net::begin(webhook->client, webhook->target, std::move(request)));
  int status = answer.status();
  std::move(answer).leave();
  if (status >= 200 && status < 300) co_return Done{};
  co_return error(ErrorCode::unavailable, "The webhook at " + webhook->target.origin() +
                                              " answered with status " + std::to_string(status) +
                                              ".");
}

}  // namespace

Result<Receiver> webhook_receiver(WebhookOptions options) {
  if (has_control(options.authorization)) {
    return error(ErrorCode::invalid,
                 "The authorization of a webhook contains a control character. Remove it.");
  }
  EgressPolicy policy = options.egress;
  policy.trusted_certificates = options.trusted_certificates;
  auto webhook = std::make_shared<Webhook>();
  BELAY_TRY(webhook->target, net::parse_target(options.url));
  BELAY_TRY(webhook->client, net::EgressClient::open(std::move(policy)));
  BELAY_CHECK(webhook->client->check(webhook->target));
  webhook->options = std::move(options);
  return Receiver([webhook](OutboxMessage message) { return post(webhook, std::move(message)); });
}

}  // namespace belay
