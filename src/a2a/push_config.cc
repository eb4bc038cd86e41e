#include "a2a/push_config.h"

#include <algorithm>

#include "base/characters.h"
#include "server/due_deliveries.h"

namespace belay::a2a {
namespace {

constexpr std::size_t kSecretBytesMax = 4'096;
constexpr std::size_t kConfigIdBytesMax = 256;
constexpr std::size_t kDerivedIdDigits = 32;
constexpr std::size_t kReceiptBytesMax = 64 * 1'024;

std::optional<Failure> unfit_push(std::string text) {
  return Failure{Fault::invalid_params, std::move(text)};
}

// Returns the reason if a text cannot be a part of a header.
std::optional<Failure> check_secret(std::string_view name, const std::string& text) {
  bool is_ascii = std::all_of(text.begin(), text.end(), [](unsigned char c) { return c < 0x80; });
  if (text.size() <= kSecretBytesMax && is_ascii && !has_control(text)) return std::nullopt;
  return unfit_push("\"" + std::string(name) +
                    "\" must have at most 4096 bytes of ASCII, without control characters.");
}

std::optional<Failure> read_authentication(const Value& given, A2aPush& push) {
  if (given.is_null()) return std::nullopt;
  if (!given.as_object()) return unfit_push("\"authentication\" must be an object.");
  if (auto failure = read_text(given, "scheme", push.scheme)) return failure;
  if (auto failure = read_text(given, "credentials", push.credentials)) return failure;
  auto is_letter = [](char c) {
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '-';
  };
  bool is_name = std::all_of(push.scheme.begin(), push.scheme.end(), is_letter);
  if (push.scheme.empty() || push.scheme.size() > kConfigIdBytesMax || !is_name) {
    return unfit_push("\"scheme\" must be the name of a scheme of HTTP: Bearer.");
  }
  return check_secret("credentials", push.credentials);
}

}  // namespace

std::string push_key(std::string_view task, std::string_view config) {
  return to_hex(sha256(std::string(task) + '\n' + std::string(config)));
}

std::optional<Failure> read_push(const Value& params, A2aPush& push) {
  if (!params.as_object()) return unfit_push("The config is not an object.");
  if (auto failure = read_text(params, "id", push.config)) return failure;
  if (auto failure = read_text(params, "url", push.url)) return failure;
  if (auto failure = read_text(params, "token", push.token)) return failure;
  if (auto failure = read_authentication(params["authentication"], push)) return failure;
  if (auto failure = check_secret("token", push.token)) return failure;
  if (push.config.size() > kConfigIdBytesMax || has_control(push.config)) {
    return unfit_push("The id of a config must be a text of at most 256 bytes.");
  }
  auto checked = server::check_receiver(push.url);
  if (!checked.ok()) return unfit_push("\"url\": " + checked.error().message);
  if (push.config.empty()) {
    push.config = to_hex(sha256(push.url + '\n' + push.token)).substr(0, kDerivedIdDigits);
  }
  return std::nullopt;
}

Value config_of(const A2aPush& push) {
  Value::Object config{{"id", push.config}, {"taskId", push.task}, {"url", push.url}};
  if (!push.token.empty()) config.emplace("token", push.token);
  if (!push.scheme.empty()) {
    config.emplace("authentication", Value::object({{"scheme", push.scheme}}));
  }
  return Value(std::move(config));
}

HttpCall call_of(const A2aPush& push, EventId event, const Value& result) {
  HttpCall call;
  call.method = "POST";
  call.url = push.url;
  call.headers = {{"Content-Type", "application/a2a+json"},
                  {std::string(kVersionHeader), std::string(kProtocolVersion)},
                  {"Idempotency-Key", push.task + "/" + event.text()}};
  if (!push.token.empty()) call.headers.push_back({"X-A2A-Notification-Token", push.token});
  if (!push.credentials.empty()) {
    call.headers.push_back({"Authorization", push.scheme + " " + push.credentials});
  }
  call.body = to_json(result);
  call.timeout = server::kDeliveryTimeout;
  call.body_bytes_max = kReceiptBytesMax;
  return call;
}

}  // namespace belay::a2a
