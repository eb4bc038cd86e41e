#include "mcp/http_connection.h"

#include <algorithm>

#include "base/in_quotes.h"
#include "mcp/parameter_headers.h"
#include "mcp/reply_wait.h"

namespace belay::mcp {
namespace {

using std::chrono::milliseconds;

constexpr milliseconds notification_timeout{5'000};
constexpr std::size_t session_bytes_max = 1'024;
// A server of the older era can end a stream before the reply, which then continues in another one.
constexpr int continuations_max = 20;
constexpr milliseconds continuation_delay_default{1'000};
constexpr milliseconds continuation_delay_max{10'000};
constexpr milliseconds timeout_margin_of_exchange{5'000};
constexpr milliseconds listening_time_max{3'600'000};
constexpr milliseconds listening_begin_max{2'000};
constexpr milliseconds listening_begin_check{10};
constexpr milliseconds listening_pause_min{1'000};
constexpr milliseconds listening_pause_max{300'000};

bool is_session_id(std::string_view text) {
  return !text.empty() && text.size() <= session_bytes_max &&
         std::all_of(text.begin(), text.end(), [](char c) { return c > ' ' && c <= '~'; });
}

bool is_reply_to(const Message& message, const Value& id) {
  bool is_reply = message.kind == MessageKind::result || message.kind == MessageKind::fault;
  return is_reply && message.id == id;
}

// An exception of the program's own HttpAccess is an error: the tasks of this file must not throw.
Task<Result<HttpReply>> sent_by(std::shared_ptr<HttpAccess> http, HttpCall call) {
  try {
    auto reply = co_await http->send(std::move(call));
    co_return reply;
  } catch (const std::exception& thrown) {
    co_return error(ErrorCode::invalid, std::string("The HTTP access threw: ") + thrown.what());
  }
}

// Sends a message whose reply is ignored.
Task<Done> deliver(std::shared_ptr<HttpAccess> http, HttpCall call) {
  static_cast<void>(co_await sent_by(std::move(http), std::move(call)));
  co_return Done{};
}

Reply reply_with(int status, Message message) {
  Reply reply;
  reply.status = status;
  reply.message = std::move(message);
  return reply;
}

}  // namespace

// A request until its reply. In the older era, it continues when its connection is closed, unless
// it is cancelled.
class HttpConnection::Pending {
 public:
  Pending(HttpConnection& connection, std::int64_t id, const Request& request, const Inbox& inbox)
      : connection_(connection), id_(id), is_answered_(request.is_handshake) {
    if (!request.functions.on_question) return;
    std::lock_guard lock(connection_.mutex_);
    connection_.asking_.emplace(id_, inbox);
  }
  Pending(const Pending&) = delete;
  Pending& operator=(const Pending&) = delete;
  ~Pending() {
    {
      std::lock_guard lock(connection_.mutex_);
      connection_.asking_.erase(id_);
    }
    if (!is_answered_) connection_.cancel(id_);
  }
  void set_answered() { is_answered_ = true; }

 private:
  HttpConnection& connection_;
  const std::int64_t id_;
  bool is_answered_;
};

HttpConnection::~HttpConnection() {
  std::lock_guard lock(mutex_);
  if (session_.empty() || is_lost_) return;
  HttpCall call = call_without_body("DELETE");
  call.headers.push_back({"MCP-Protocol-Version", dialect_.version});
  call.headers.push_back({"Mcp-Session-Id", session_});
  background_.start(deliver(options_.http, std::move(call)));
}

Error HttpConnection::failure(ErrorCode code, std::string fault) const {
  return error(code, "The MCP server " + in_quotes(options_.name) + " " + std::move(fault) + ".");
}

void HttpConnection::use(Dialect dialect) {
  std::lock_guard lock(mutex_);
  dialect_ = std::move(dialect);
}

bool HttpConnection::is_modern() {
  std::lock_guard lock(mutex_);
  return dialect_.is_modern;
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
  // Without a separate limit, if a person is asked meanwhile.
  if (!request.functions.on_question) {
    call.timeout = std::max(request.timeout, request.timeout_max) + timeout_margin_of_exchange;
  }
  call.body_bytes_max = options_.message_bytes_max;
  call.headers = options_.headers;
  call.headers.push_back({"Content-Type", "application/json"});
  call.headers.push_back({"Accept", "application/json, text/event-stream"});
  add_state_headers(call);
  std::lock_guard lock(mutex_);
  if (!dialect_.is_modern) return call;
  if (!request.method.empty()) call.headers.push_back({"Mcp-Method", request.method});
  const std::string* name = request.params["name"].as_string();
  if (!name) name = request.params["taskId"].as_string();
  if (name) call.headers.push_back({"Mcp-Name", header_value(*name)});
  for (const HttpHeader& header : request.headers) call.headers.push_back(header);
  return call;
}

HttpCall HttpConnection::call_without_body(std::string method) {
  HttpCall call;
  call.method = std::move(method);
  call.url = options_.url;
  call.timeout = notification_timeout;
  call.headers = options_.headers;
  return call;
}

HttpCall HttpConnection::continuation_of(const Request& request, const std::string& last_event) {
  HttpCall call = call_without_body("GET");
  call.timeout = std::max(request.timeout, request.timeout_max) + timeout_margin_of_exchange;
  call.body_bytes_max = options_.message_bytes_max;
  call.headers.push_back({"Accept", "text/event-stream"});
  if (!last_event.empty()) call.headers.push_back({"Last-Event-ID", last_event});
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
  std::int64_t number = ++last_id_;
  if (request.functions.on_progress) {
    request.params = with_progress_token(std::move(request.params), number);
  }
  if (request.functions.on_question) co_await until_listening();
  Inbox inbox;
  Pending pending(*this, number, request, inbox);
  Executor& executor = co_await this_executor();
  auto exchanging = exchange(Value(number), request, inbox);
  // Its end closes the connection, also of a stream that continues after the reply.
  Spawned running =
      spawn<Result<Reply>>(executor, std::move(exchanging),
                           [inbox](Result<Reply> reply) { inbox.put_reply(std::move(reply)); });
  ReplyWait wait(options_.name, request);
  auto reply = co_await wait_for_reply(inbox, std::move(wait), *this);
  if (reply.ok() || reply.error().code != ErrorCode::uncertain) pending.set_answered();
  co_return reply;
}

Task<Result<Reply>> HttpConnection::exchange(Value id, Request request, Inbox inbox) {
  auto stream = std::make_shared<ReplyStream>(
      id, options_.message_bytes_max, [this, id, request, inbox](Message message) {
        take_message(std::move(message), id, request, inbox);
      });
  HttpCall call = call_of(request, request_text(id, request.method, request.params));
  call.on_piece = [this, stream, inbox, starts = request.method == "initialize"](
                      const HttpReply& head, std::string_view piece) -> Result<Done> {
    if (starts) keep_session(head);
    BELAY_CHECK(stream->take(head, piece));
    if (stream->reply()) inbox.put_reply(reply_with(head.status, *stream->reply()));
    return Done{};
  };
  auto http = co_await sent_by(options_.http, std::move(call));
  if (!http.ok()) {
    // A connection that fails and one that ends before the reply have the same code.
    bool was_sent = http.error().code == ErrorCode::unavailable;
    ErrorCode code = was_sent ? ErrorCode::uncertain : http.error().code;
    co_return failure(code, "did not reply to " + request.method + ": " + http.error().message);
  }
  if (request.method == "initialize") keep_session(*http);
  if (!http->body.empty()) BELAY_CO_CHECK(stream->take(*http, http->body));
  if (stream->reply()) co_return reply_with(http->status, *stream->reply());
  if (http->status == 200 && is_event_stream(*http)) {
    auto later = co_await continued(stream, std::move(request), inbox);
    co_return later;
  }
  co_return reply_of(*http, stream->body(), id, request.method);
}

Task<Result<Reply>> HttpConnection::continued(std::shared_ptr<ReplyStream> stream, Request request,
                                              Inbox inbox) {
  for (int continuation = 0;; ++continuation) {
    if (is_modern() || stream->last_event().empty() || continuation == continuations_max) {
      co_return failure(ErrorCode::uncertain,
                        "ended its reply to " + request.method + " before the result");
    }
    milliseconds delay = stream->retry().value_or(continuation_delay_default);
    co_await sleep_for(std::min(delay, continuation_delay_max));
    stream->continue_in_next();
    HttpCall call = continuation_of(request, stream->last_event());
    call.on_piece = [stream, inbox](const HttpReply& head, std::string_view piece) -> Result<Done> {
      BELAY_CHECK(stream->take(head, piece));
      if (stream->reply()) inbox.put_reply(reply_with(head.status, *stream->reply()));
      return Done{};
    };
    auto http = co_await sent_by(options_.http, std::move(call));
    if (!http.ok() || http->status != 200) {
      co_return failure(ErrorCode::uncertain, "did not continue its reply to " + request.method);
    }
    if (!http->body.empty()) BELAY_CO_CHECK(stream->take(*http, http->body));
    if (stream->reply()) co_return reply_with(http->status, *stream->reply());
  }
}

void HttpConnection::take_message(Message message, const Value& id, const Request& request,
                                  const Inbox& inbox) {
  if (message.method == "notifications/tools/list_changed") ++changes_;
  if (message.method == "notifications/progress" && message.params["progressToken"] == id &&
      request.functions.on_progress) {
    inbox.put_progress(std::move(message.params));
    return;
  }
  if (message.kind != MessageKind::request) return;
  bool is_own = message.method == elicitation_method && request.functions.on_question;
  Question question{message.id, message.method, message.params};
  if (is_own && inbox.put_question(std::move(question))) return;
  take_question(std::move(message));
}

void HttpConnection::cancel(std::int64_t id) {
  if (is_modern()) return;
  Value params = Value::object({{"reason", "not needed any more"}, {"requestId", id}});
  answer(notification_text("notifications/cancelled", params));
}

void HttpConnection::post(Request request) {
  Value id(++last_id_);
  HttpCall call = call_of(request, request_text(id, request.method, request.params));
  background_.start(deliver(options_.http, std::move(call)));
}

void HttpConnection::answer(std::string text) {
  Request request;
  request.timeout = notification_timeout;
  background_.start(deliver(options_.http, call_of(request, std::move(text))));
}

void HttpConnection::listen(Request request) {
  waits_for_stream_ = true;
  background_.keep(keep_listening(std::move(request)));
}

// A server sends its questions on a separate stream, if it does not know to which request they
// belong; before this stream has started, they would be lost.
Task<Done> HttpConnection::until_listening() {
  for (auto waited = milliseconds(0); waits_for_stream_ && waited < listening_begin_max;
       waited += listening_begin_check) {
    co_await sleep_for(listening_begin_check);
  }
  co_return Done{};
}

// The question does not name its request: the latest one is the most likely.
void HttpConnection::take_question(Message message) {
  {
    std::lock_guard lock(mutex_);
    Question question{message.id, message.method, std::move(message.params)};
    bool is_known = message.method == elicitation_method && !asking_.empty();
    if (is_known && asking_.rbegin()->second.put_question(std::move(question))) return;
  }
  answer(message.method == "ping" ? result_text(message.id, Value(Value::Object()))
                                  : fault_text(message.id, method_not_found, "Method not found"));
}

// A change that happens between two streams is not announced: both its end and the begin of the
// next one count as a change.
Task<Done> HttpConnection::keep_listening(Request request) {
  request.timeout = listening_time_max;
  milliseconds pause = listening_pause_min;
  for (bool is_again = false; is_usable(); is_again = true) {
    Value id(++last_id_);
    HttpCall call = is_modern() ? call_of(request, request_text(id, request.method, request.params))
                                : continuation_of(request, "");
    auto stream =
        std::make_shared<ReplyStream>(id, options_.message_bytes_max, [this](Message message) {
          if (message.method == "notifications/tools/list_changed") ++changes_;
          if (message.kind == MessageKind::request) take_question(std::move(message));
        });
    call.on_piece = [this, stream](const HttpReply& head, std::string_view piece) {
      waits_for_stream_ = false;
      return stream->take(head, piece);
    };
    if (is_again) ++changes_;
    auto http = co_await sent_by(options_.http, std::move(call));
    waits_for_stream_ = false;
    bool is_refused = http.ok() && (http->status != 200 || !is_event_stream(*http));
    bool is_fault = stream->reply() && stream->reply()->kind == MessageKind::fault;
    if (is_refused || is_fault) co_return Done{};
    ++changes_;
    co_await sleep_for(pause);
    pause = std::min(2 * pause, listening_pause_max);
  }
  co_return Done{};
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

Result<Reply> HttpConnection::reply_of(const HttpReply& http, std::string_view body,
                                       const Value& id, const std::string& method) {
  if (http.status < 200 || http.status >= 300) return refused(http, body, id);
  auto message = parse_message(body);
  if (!message.ok() || !is_reply_to(*message, id)) {
    return failure(ErrorCode::invalid,
                   "replied to " + method + " with a body that is not its answer");
  }
  return reply_with(http.status, *std::move(message));
}

// Returns the reply of a status that is not one of success, or the reason why it is missing.
Result<Reply> HttpConnection::refused(const HttpReply& http, std::string_view body,
                                      const Value& id) {
  std::string status = "the HTTP status " + std::to_string(http.status);
  if (http.status == 401 || http.status == 403) {
    return failure(ErrorCode::forbidden,
                   "refused the request with " + status + ". Set ServerOptions::headers");
  }
  if (http.status == 429 || http.status == 503) {
    return failure(ErrorCode::unavailable, "is busy: " + status);
  }
  if (http.status < 400) return failure(ErrorCode::invalid, "redirects the request: " + status);
  auto message = parse_message(body);
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
