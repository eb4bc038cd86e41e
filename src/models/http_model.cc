#include "models/http_model.h"

#include "models/error_response.h"
#include "models/json_sanitizer.h"

namespace belay::models {
namespace {

// The part of an error response that is read: enough for its message.
constexpr std::size_t error_bytes = 64 * 1024;
// Each token of a stream is sent in a frame of many times its length.
constexpr std::size_t wire_factor = 16;
// Tokens that a server can add to a request: a template and, if the request has tools or a schema,
// an explanation of them.
constexpr std::int64_t template_tokens = 64;
constexpr std::int64_t explanation_tokens = 1'024;

// Reads up to error_bytes of the body. The rest is ignored, and so is an error while reading.
Task<std::string> beginning_of(net::HttpAnswer& answer) {
  std::string body;
  while (body.size() < error_bytes) {
    auto piece = co_await answer.read();
    if (!piece.ok() || piece->empty()) break;
    body += *piece;
  }
  co_return std::move(body);
}

bool is_no_stream(const net::HttpAnswer& answer, std::string_view provider) {
  std::string_view type = answer.header("content-type");
  if (type.starts_with("text/html")) return true;
  return provider != "ollama" && type.starts_with("application/json");
}

}  // namespace

std::unique_ptr<Protocol> protocol_of(const Server& server) {
  if (server.provider == "ollama") return ollama_protocol(server);
  if (server.provider == "openai") return openai_protocol(server);
  return anthropic_protocol(server);
}

HttpModel::HttpModel(Server server, std::shared_ptr<net::HttpClient> client,
                     HttpModelOptions options, Clock& clock)
    : server_(std::move(server)),
      protocol_(protocol_of(server_)),
      client_(std::move(client)),
      options_(std::move(options)),
      clock_(clock) {}

std::int64_t HttpModel::input_tokens_max(const ModelRequest& request) const {
  auto encoded = protocol_->encode(request);
  if (!encoded.ok()) return Model::input_tokens_max(request);
  auto most = static_cast<std::int64_t>(encoded->body.size()) + template_tokens;
  bool is_explained = !request.tools.empty() || !request.response_schema.is_null();
  return is_explained ? most + explanation_tokens : most;
}

Error HttpModel::advised(Error failed) const {
  bool is_for_people = failed.code == ErrorCode::invalid || failed.code == ErrorCode::unavailable;
  if (!options_.error_hint.empty() && is_for_people) failed.message += " " + options_.error_hint;
  return failed;
}

Task<Result<net::HttpAnswer>> HttpModel::begin(net::HttpRequest request) {
  request.timeouts.connect = options_.timeouts.connect;
  request.timeouts.first_byte = options_.timeouts.first_byte;
  request.timeouts.idle = options_.timeouts.idle;
  request.timeouts.total = options_.timeouts.total;
  request.limits.body_bytes = options_.reply_bytes_max * wire_factor;
  auto answer = co_await client_->begin(std::move(request));
  if (!answer.ok()) {
    Error failed = std::move(answer).error();
    failed.message = server_.who() + " could not be reached: " + failed.message;
    co_return advised(std::move(failed));
  }
  if (answer->status() >= 200 && answer->status() < 300) co_return std::move(answer);
  std::string body = co_await beginning_of(*answer);
  ErrorResponse said;
  said.status = answer->status();
  said.body = body;
  said.retry_after = answer->header("retry-after");
  said.retry_after_ms = answer->header("retry-after-ms");
  said.should_retry = answer->header("x-should-retry");
  co_return advised(error_of(server_, said, clock_.now()));
}

Task<Error> HttpModel::not_a_stream(net::HttpAnswer& answer) {
  std::string type = quotable(answer.header("content-type"), 60);
  std::string body = co_await beginning_of(answer);
  auto document = parse_sanitized_json(body);
  if (document.ok()) {
    // Some gateways return an error in this way, with a status of success.
    if (auto failed = error_in(server_, *document)) co_return advised(*std::move(failed));
  }
  co_return advised(
      error(ErrorCode::invalid, server_.who() + " responded with " + type +
                                    " instead of a stream. Check the server's address."));
}

Task<Result<ModelReply>> HttpModel::read(net::HttpAnswer& answer, ReplyDecoder& decoder) {
  while (!decoder.is_whole()) {
    auto piece = co_await answer.read();
    if (!piece.ok()) {
      Error failed = std::move(piece).error();
      failed.message = server_.who() + " did not complete its response: " + failed.message;
      co_return std::move(failed);
    }
    if (piece->empty()) break;
    auto taken = decoder.take(*piece);
    if (!taken.ok()) co_return std::move(taken).error();
  }
  co_return decoder.finish();
}

Task<Result<ModelReply>> HttpModel::generate(ModelRequest request) {
  auto encoded = protocol_->encode(request);
  if (!encoded.ok()) co_return std::move(encoded).error();
  DecoderOptions options;
  options.reply_bytes_max = options_.reply_bytes_max;
  options.on_text_delta = request.on_text_delta;
  auto decoder = protocol_->decoder(request, std::move(options));
  auto answer = co_await begin(*std::move(encoded));
  if (!answer.ok()) co_return std::move(answer).error();
  if (is_no_stream(*answer, server_.provider)) co_return co_await not_a_stream(*answer);
  auto reply = co_await read(*answer, *decoder);
  // Lets the HTTP client read the few remaining bytes, so that the next call reuses the connection.
  if (reply.ok()) std::move(*answer).leave();
  co_return std::move(reply);
}

Task<Result<std::vector<std::string>>> HttpModel::list() {
  auto answer = co_await begin(protocol_->listing());
  if (!answer.ok()) co_return std::move(answer).error();
  auto body = co_await answer->read_all();
  if (!body.ok()) co_return std::move(body).error();
  auto document = parse_sanitized_json(*body);
  if (!document.ok()) {
    co_return advised(error(
        ErrorCode::invalid,
        server_.who() +
            " did not respond with JSON to a request for its models. Check the server's address."));
  }
  co_return protocol_->names_in(*document);
}

}  // namespace belay::models
