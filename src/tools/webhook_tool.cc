#include "base/in_quotes.h"
#include "belay/tools.h"
#include "belay/webhook.h"
#include "tools/webhook_signature.h"

namespace belay {
namespace tools {
namespace {

constexpr std::size_t receipt_bytes_max = 64 * 1024;

struct WebhookArguments {
  std::string url{};
  Value body{};
  static void describe(Described<WebhookArguments>& arguments) {
    arguments.member(&WebhookArguments::url).text("An https URL").length(1, 2048);
    arguments.member(&WebhookArguments::body).text("The JSON value to send");
  }
};

struct Webhooks {
  WebhookToolOptions options;
  std::string secret;  // the bytes; empty: not signed
};

// A webhook as the outbox keeps it.
struct Letter {
  std::string id{};  // webhook-id: receivers deduplicate by it
  std::string url{};
  Value body{};
};

HttpCall call_of(const Webhooks& webhooks, const Letter& letter, Instant now) {
  HttpCall http;
  http.method = "POST";
  http.url = letter.url;
  http.body = to_json(letter.body);
  http.body_bytes_max = receipt_bytes_max;
  auto seconds = std::chrono::duration_cast<std::chrono::seconds>(now.time_since_epoch());
  http.headers = {{"Content-Type", "application/json"},
                  {"webhook-id", letter.id},
                  {"webhook-timestamp", std::to_string(seconds.count())}};
  if (!webhooks.secret.empty()) {
    http.headers.push_back({"webhook-signature", webhook_signature(webhooks.secret, letter.id,
                                                                   seconds.count(), http.body)});
  }
  return http;
}

// A status that another attempt can change.
bool is_temporary(int status) { return status == 408 || status == 429 || status >= 500; }

Task<Result<std::string>> post(std::shared_ptr<const Webhooks> webhooks, Letter letter, Instant now,
                               HttpAccess& http) {
  BELAY_CO_TRY(auto access, http.narrowed(webhooks->options.hosts));
  HttpCall request = call_of(*webhooks, letter, now);
  BELAY_CO_TRY(HttpReply reply, co_await access->send(std::move(request)));
  std::string status = "The receiver answered with status " + std::to_string(reply.status) + ".";
  if (reply.status >= 200 && reply.status < 300) co_return status;
  co_return error(is_temporary(reply.status) ? ErrorCode::unavailable : ErrorCode::invalid, status);
}

Task<Result<std::string>> send(std::shared_ptr<const Webhooks> webhooks, WebhookArguments arguments,
                               ToolContext& call) {
  Context& node = call.node();
  Letter letter{call.key(), std::move(arguments.url), std::move(arguments.body)};
  auto sent = co_await post(webhooks, letter, node.now(), node.http());
  const WebhookToolOptions& options = webhooks->options;
  bool is_last = !sent.ok() && sent.error().code == ErrorCode::unavailable &&
                 node.attempt() >= options.attempts;
  if (!is_last || options.dead_letters.empty()) co_return std::move(sent);
  // The message is part of the commit that contains the failed result.
  Value body = Value::object(
      {{"body", std::move(letter.body)}, {"id", std::move(letter.id)}, {"url", letter.url}});
  node.publish(options.dead_letters, std::move(body));
  co_return error(ErrorCode::unavailable,
                  sent.error().message + " It will be sent again later, with the same id.");
}

Result<Letter> letter_in(const OutboxMessage& message) {
  const std::string* id = message.body["id"].as_string();
  const std::string* url = message.body["url"].as_string();
  if (!id || !url) {
    return error(ErrorCode::invalid, "The message is not a webhook of the tool send_webhook.");
  }
  return Letter{*id, *url, message.body["body"]};
}

Task<Result<Done>> deliver_letter(std::shared_ptr<const Webhooks> webhooks,
                                  std::shared_ptr<HttpAccess> http, Clock& clock,
                                  OutboxMessage message) {
  BELAY_CO_TRY(Letter letter, letter_in(message));
  auto sent = co_await post(std::move(webhooks), std::move(letter), clock.now(), *http);
  if (!sent.ok()) co_return std::move(sent).error();
  co_return Done{};
}

Result<std::shared_ptr<const Webhooks>> webhooks_with(WebhookToolOptions options) {
  if (options.hosts.empty()) {
    return error(ErrorCode::invalid,
                 "The tool for webhooks has no permitted hosts. Set WebhookToolOptions::hosts.");
  }
  auto webhooks = std::make_shared<Webhooks>();
  if (!options.secret.empty()) {
    BELAY_TRY(webhooks->secret, webhook_secret(options.secret));
  }
  webhooks->options = std::move(options);
  return std::shared_ptr<const Webhooks>(std::move(webhooks));
}

}  // namespace
}  // namespace tools

Result<Tool> send_webhook_tool(WebhookToolOptions options) {
  ToolOptions tool;
  tool.name = "send_webhook";
  tool.description = "Sends a JSON value to a URL with an HTTP POST.";
  tool.effect = ToolEffect::keyed;
  tool.approval = options.approval;
  tool.attempts = options.attempts;
  tool.reaches = options.hosts;
  BELAY_TRY(auto webhooks, tools::webhooks_with(std::move(options)));
  return make_tool<tools::WebhookArguments>(
      std::move(tool), [webhooks](const tools::WebhookArguments& arguments, ToolContext& call) {
        return tools::send(webhooks, arguments, call);
      });
}

Result<Receiver> webhook_dead_letters(const WebhookToolOptions& options,
                                      std::shared_ptr<HttpAccess> http, Clock& clock) {
  BELAY_TRY(auto webhooks, tools::webhooks_with(options));
  return Receiver([webhooks, http = std::move(http), &clock](OutboxMessage message) {
    return tools::deliver_letter(webhooks, http, clock, std::move(message));
  });
}

}  // namespace belay
