#include "base/in_quotes.h"
#include "belay/tools.h"
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

HttpCall call_of(const Webhooks& webhooks, const WebhookArguments& arguments, ToolContext& call) {
  HttpCall http;
  http.method = "POST";
  http.url = arguments.url;
  http.body = to_json(arguments.body);
  http.body_bytes_max = receipt_bytes_max;
  // The key is the same for all attempts: receivers deduplicate by the id.
  auto seconds =
      std::chrono::duration_cast<std::chrono::seconds>(call.node().now().time_since_epoch());
  http.headers = {{"Content-Type", "application/json"},
                  {"webhook-id", call.key()},
                  {"webhook-timestamp", std::to_string(seconds.count())}};
  if (!webhooks.secret.empty()) {
    http.headers.push_back({"webhook-signature", webhook_signature(webhooks.secret, call.key(),
                                                                   seconds.count(), http.body)});
  }
  return http;
}

// A status that another attempt can change.
bool is_temporary(int status) { return status == 408 || status == 429 || status >= 500; }

Task<Result<std::string>> send(std::shared_ptr<const Webhooks> webhooks, WebhookArguments arguments,
                               ToolContext& call) {
  BELAY_CO_TRY(auto http, call.node().http().narrowed(webhooks->options.hosts));
  HttpCall request = call_of(*webhooks, arguments, call);
  BELAY_CO_TRY(HttpReply reply, co_await http->send(std::move(request)));
  std::string status = "The receiver answered with status " + std::to_string(reply.status) + ".";
  if (reply.status >= 200 && reply.status < 300) co_return status;
  co_return error(is_temporary(reply.status) ? ErrorCode::unavailable : ErrorCode::invalid, status);
}

}  // namespace
}  // namespace tools

Result<Tool> send_webhook_tool(WebhookToolOptions options) {
  if (options.hosts.empty()) {
    return error(ErrorCode::invalid,
                 "The tool for webhooks has no permitted hosts. Set WebhookToolOptions::hosts.");
  }
  auto webhooks = std::make_shared<tools::Webhooks>();
  if (!options.secret.empty()) {
    BELAY_TRY(webhooks->secret, tools::webhook_secret(options.secret));
  }
  ToolOptions tool;
  tool.name = "send_webhook";
  tool.description = "Sends a JSON value to a URL with an HTTP POST.";
  tool.effect = ToolEffect::keyed;
  tool.approval = options.approval;
  tool.attempts = options.attempts;
  tool.reaches = options.hosts;
  webhooks->options = std::move(options);
  std::shared_ptr<const tools::Webhooks> shared = std::move(webhooks);
  return make_tool<tools::WebhookArguments>(
      std::move(tool), [shared](const tools::WebhookArguments& arguments, ToolContext& call) {
        return tools::send(shared, arguments, call);
      });
}

}  // namespace belay
