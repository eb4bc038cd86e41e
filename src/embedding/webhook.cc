#include "belay/webhook.h"

#include <algorithm>
#include <memory>

#include "net/http_client.h"

namespace belay {
namespace {

// A webhook's answer is a receipt; a longer one is not read to its end.
constexpr std::size_t kReceiptBytesMax = 64 * 1024;

struct Webhook {
  WebhookOptions options;
  std::string host;
  std::unique_ptr<net::HttpClient> client;
};

// Returns the scheme and the host, without user, path and query.
Result<std::string> host_of(std::string_view url) {
  std::size_t scheme = url.find("://");
  std::string_view name = url.substr(0, std::min(scheme, url.size()));
  if (name != "http" && name != "https") {
    return error(ErrorCode::invalid,
                 "The URL of a webhook must start with https:// or http://. Correct it.");
  }
  std::string_view rest = url.substr(scheme + 3);
  rest = rest.substr(0, rest.find_first_of("/?#"));
  if (std::size_t user = rest.rfind('@'); user != rest.npos) rest.remove_prefix(user + 1);
  if (rest.empty()) {
    return error(ErrorCode::invalid, "The URL of a webhook has no host. Correct it.");
  }
  return std::string(name) + "://" + std::string(rest);
}

bool has_control_character(std::string_view text) {
  return std::any_of(text.begin(), text.end(),
                     [](char c) { return static_cast<unsigned char>(c) < 0x20 || c == 0x7F; });
}

net::HttpRequest request_of(const WebhookOptions& options, const OutboxMessage& message) {
  net::HttpRequest request;
  request.method = "POST";
  request.url = options.url;
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
  BELAY_CO_TRY(net::HttpAnswer answer, co_await webhook->client->begin(std::move(request)));
  int status = answer.status();
  std::move(answer).leave();
  if (status >= 200 && status < 300) co_return Done{};
  co_return error(
      ErrorCode::unavailable,
      "The webhook at " + webhook->host + " answered with status " + std::to_string(status) + ".");
}

}  // namespace

Result<Receiver> webhook_receiver(WebhookOptions options) {
  if (has_control_character(options.url) || has_control_character(options.authorization)) {
    return error(
        ErrorCode::invalid,
        "The URL or the authorization of a webhook contains a control character. Remove it.");
  }
  BELAY_TRY(std::string host, host_of(options.url));
  net::HttpClientOptions client_options;
  client_options.trusted_certificates = options.trusted_certificates;
  BELAY_TRY(std::unique_ptr<net::HttpClient> client,
            net::HttpClient::open(std::move(client_options)));
  auto webhook = std::make_shared<Webhook>();
  webhook->options = std::move(options);
  webhook->host = std::move(host);
  webhook->client = std::move(client);
  return Receiver([webhook](OutboxMessage message) { return post(webhook, std::move(message)); });
}

}  // namespace belay
