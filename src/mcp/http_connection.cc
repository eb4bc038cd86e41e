#include "mcp/http_connection.h"

#include <algorithm>

#include "base/in_quotes.h"
#include "base/trimmed.h"
#include "mcp/parameter_headers.h"
#include "net/ascii.h"
#include "net/event_stream.h"

namespace belay::mcp {
namespace {

using std::chrono::milliseconds;

constexpr milliseconds notification_timeout{5'000};
constexpr std::size_t session_bytes_max = 1'024;
// A server of the older era can end a stream before the reply, which then continues in another one.
constexpr int continuations_max = 20;
constexpr milliseconds continuation_delay_default{1'000};
constexpr milliseconds continuation_delay_max{10'000};

bool is_session_id(std::string_view text) {
  return !text.empty() && text.size() <= session_bytes_max &&
         std::all_of(text.begin(), text.end(), [](char c) { return c > ' ' && c <= '~'; });
}

bool is_event_stream(const HttpReply& http) {
  std::string_view type = http.header("content-type");
  return net::lower_case(trimmed(type.substr(0, type.find(';')))) == "text/event-stream";
}

bool is_reply_to(const Message& message, const Value& id) {
  bool is_reply = message.kind == MessageKind::result || message.kind == MessageKind::fault;
  return is_reply && message.id == id;
}

// The messages of a stream.
struct Events {
  std::optional<Message> reply{};
  std::uint64_t changes = 0;
  std::string last_id{};
  milliseconds retry = continuation_delay_default;
};

Result<Events> events_of(std::string_view body, const Value& id, std::size_t bytes_max) {
  net::EventStreamReader reader(bytes_max);
  std::vector<net::StreamEvent> events;
  BELAY_CHECK(reader.take(body, events));
  Events found;
  for (const net::StreamEvent& event : events) {
    if (!event.last_id.empty()) found.last_id = event.last_id;
    if (event.data.empty()) continue;
    auto message = parse_message(event.data);
    if (!message.ok()) continue;
    if (message->method == "notifications/tools/list_changed") ++found.changes;
    if (is_reply_to(*message, id)) found.reply = *std::move(message);
  }
  if (auto retry = reader.retry()) found.retry = std::min(*retry, continuation_delay_max);
  return found;
}

}  // namespace

Error HttpConnection::failure(ErrorCode code, std::string fault) const {
  return error(code, "The MCP server " + in_quotes(options_.name) + " " + std::move(fault) + ".");
}

void HttpConnection::use(Dialect dialect) {
  std::lock_guard lock(mutex_);
  dialect_ = std::move(dialect);
}

bool HttpConnection::is_usable() { return !is_lost_; }

std::uint64_t HttpConnection::changes() { return changes_; }

void HttpConnection::add_state_headers(HttpCall& call) {
  std::lock_guard lock(mutex_);
  if (!dialect_.version.empty()) {
    call.headers.push_back({"MCP-Protocol-Version", dialect_.version});
  }
  if (!session_.empty()) call.headers.push_back({"Mcp-Session-Id", session_});
}

HttpCall HttpConnection::call_of(const Request& request, std::string body) {
  HttpCall call;
  call.method = "POST";
  call.url = options_.url;
  call.body = std::move(body);
  call.timeout = request.timeout;
  call.body_bytes_max = options_.message_bytes_max;
  call.headers = options_.headers;
  call.headers.push_back({"Content-Type", "application/json"});
  call.headers.push_back({"Accept", "application/json, text/event-stream"});
  add_state_headers(call);
  std::lock_guard lock(mutex_);
  if (!dialect_.is_modern) return call;
  call.headers.push_back({"Mcp-Method", request.method});
  if (const std::string* name = request.params["name"].as_string()) {
    call.headers.push_back({"Mcp-Name", header_value(*name)});
  }
  for (const HttpHeader& header : request.headers) call.headers.push_back(header);
  return call;
}

HttpCall HttpConnection::continuation_of(const Request& request, const std::string& last_event) {
  HttpCall call;
  call.url = options_.url;
  call.timeout = request.timeout;
  call.body_bytes_max = options_.message_bytes_max;
  call.headers = options_.headers;
  call.headers.push_back({"Accept", "text/event-stream"});
  call.headers.push_back({"Last-Event-ID", last_event});
  add_state_headers(call);
  return call;
}

void HttpConnection::keep_session(const HttpReply& http) {
  std::string_view id = http.header("mcp-session-id");
  std::lock_guard lock(mutex_);
  if (!dialect_.is_modern && is_session_id(id)) session_ = id;
}

Task<Result<Reply>> HttpConnection::send(Request request) {
  auto self = shared_from_this();
  Value id(++last_id_);
  HttpCall call = call_of(request, request_text(id, request.method, request.params));
  auto http = co_await options_.http->send(std::move(call));
  if (!http.ok()) {
    // A connection that fails and one that ends before the reply have the same code.
    bool was_sent = http.error().code == ErrorCode::unavailable;
    ErrorCode code = was_sent ? ErrorCode::uncertain : http.error().code;
    co_return failure(code, "did not reply to " + request.method + ": " + http.error().message);
  }
  if (request.method == "initialize") keep_session(*http);
  auto reply = co_await reply_of(*http, id, request);
  co_return reply;
}

Task<Result<Done>> HttpConnection::notify(std::string method, Value params) {
  auto self = shared_from_this();
  Request request;
  request.method = method;
  request.timeout = notification_timeout;
  HttpCall call = call_of(request, notification_text(method, params));
  auto http = co_await options_.http->send(std::move(call));
  if (!http.ok()) co_return std::move(http).error();
  if (http->status >= 200 && http->status < 300) co_return Done{};
  co_return failure(ErrorCode::unavailable,
                    "refused " + method + " with the HTTP status " + std::to_string(http->status));
}

Task<Result<Reply>> HttpConnection::reply_of(const HttpReply& http, const Value& id,
                                             const Request& request) {
  if (http.status < 200 || http.status >= 300) co_return refused(http, id);
  if (is_event_stream(http)) {
    auto streamed = co_await reply_in_events(http.body, id, request);
    co_return streamed;
  }
  auto message = parse_message(http.body);
  if (!message.ok() || !is_reply_to(*message, id)) {
    co_return failure(ErrorCode::invalid,
                      "replied to " + request.method + " with a body that is not its answer");
  }
  Reply reply;
  reply.status = http.status;
  reply.message = *std::move(message);
  co_return reply;
}

Task<Result<Reply>> HttpConnection::reply_in_events(std::string body, const Value& id,
                                                    const Request& request) {
  bool is_modern = false;
  {
    std::lock_guard lock(mutex_);
    is_modern = dialect_.is_modern;
  }
  std::string last_event;
  for (int continuation = 0;; ++continuation) {
    BELAY_CO_TRY(Events events, events_of(body, id, options_.message_bytes_max));
    changes_ += events.changes;
    if (events.reply) {
      Reply reply;
      reply.message = *std::move(events.reply);
      co_return reply;
    }
    if (!events.last_id.empty()) last_event = events.last_id;
    if (is_modern || last_event.empty() || continuation == continuations_max) {
      co_return failure(ErrorCode::uncertain,
                        "ended its reply to " + request.method + " before the result");
    }
    co_await sleep_for(events.retry);
    HttpCall call = continuation_of(request, last_event);
    auto http = co_await options_.http->send(std::move(call));
    if (!http.ok() || http->status != 200) {
      co_return failure(ErrorCode::uncertain, "did not continue its reply to " + request.method);
    }
    body = std::move(http->body);
  }
}

// Returns the reply of a status that is not one of success, or the reason why it is missing.
Result<Reply> HttpConnection::refused(const HttpReply& http, const Value& id) {
  std::string status = "the HTTP status " + std::to_string(http.status);
  if (http.status == 401 || http.status == 403) {
    return failure(ErrorCode::forbidden,
                   "refused the request with " + status + ". Set ServerOptions::headers");
  }
  if (http.status == 429 || http.status == 503) {
    return failure(ErrorCode::unavailable, "is busy: " + status);
  }
  if (http.status < 400) return failure(ErrorCode::invalid, "redirects the request: " + status);
  auto message = parse_message(http.body);
  bool is_fault = message.ok() && message->kind == MessageKind::fault;
  bool is_own = is_fault && message->id == id;
  std::lock_guard lock(mutex_);
  bool is_session = http.status == 404 || (http.status == 400 && !is_own);
  if (!session_.empty() && is_session) {
    is_lost_ = true;
    return failure(ErrorCode::unavailable, "does not know the session any more: " + status);
  }
  if (!is_fault && http.status >= 500) return failure(ErrorCode::uncertain, "failed: " + status);
  Reply reply;
  reply.status = http.status;
  if (is_fault) {
    reply.message = *std::move(message);
  } else {
    reply.message.kind = MessageKind::fault;
    reply.message.fault.message = status;
  }
  return reply;
}

}  // namespace belay::mcp
