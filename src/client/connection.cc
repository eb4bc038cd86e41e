#include "client/connection.h"

#include <algorithm>
#include <limits>

#include "belay/clock.h"
#include "service/json_decode.h"

namespace belay::client {
namespace {

// Larger than any document.
constexpr std::size_t kDocumentBytesMax = std::size_t{1} << 30;
// The server sends a comment every 15 seconds if a stream has no events.
constexpr std::chrono::milliseconds kStreamIdle{45'000};
constexpr std::chrono::milliseconds kStreamFirstByte{60'000};

bool is_json(std::string_view type) {
  return type.starts_with("application/json") || type.starts_with("application/problem+json");
}

std::chrono::milliseconds retry_after_of(std::string_view header) {
  std::int64_t seconds = 0;
  for (char c : header.substr(0, 6)) {
    if (c < '0' || c > '9') return {};
    seconds = 10 * seconds + (c - '0');
  }
  return std::chrono::seconds(seconds);
}

}  // namespace

net::HttpRequest Connection::request_of(const Ask& ask) const {
  net::HttpRequest request;
  request.method = ask.method;
  request.url = address_.base + ask.target;
  request.headers = ask.headers;
  if (!options_.token.empty()) {
    request.headers.push_back({"Authorization", "Bearer " + options_.token});
  }
  if (!ask.body.is_null()) {
    request.headers.push_back({"Content-Type", "application/json"});
    request.body = to_json(ask.body);
  }
  request.timeouts.first_byte = ask.first_byte;
  request.limits.body_bytes = kDocumentBytesMax;
  return request;
}

Error Connection::gone(const Error& failed) const {
  // Not retried: an untrusted certificate or an invalid address remains invalid.
  if (failed.code == ErrorCode::invalid) return failed;
  if (has_answered_) {
    return error(
        ErrorCode::unavailable,
        "The Belay server at " + address_.base +
            " no longer responds; the last request might or might not have been executed: " +
            failed.message +
            " Start the server, check with `belay threads`, and repeat the request.");
  }
  return error(ErrorCode::unavailable,
               "Could not connect to a Belay server at " + address_.base + ": " + failed.message +
                   " Start one with `belay serve`, or set --server or BELAY_SERVER.");
}

Error Connection::unreadable(std::string_view why) const {
  // Not retried: the response would be the same.
  return error(ErrorCode::invalid, "The server at " + address_.base +
                                       " is not a Belay server, or runs another version. (" +
                                       std::string(why) + ")");
}

Task<Result<Reply>> Connection::ask(Ask ask) {
  net::HttpRequest request = request_of(ask);
  auto answer = co_await client_.begin(std::move(request));
  if (!answer.ok()) co_return gone(answer.error());
  Reply reply;
  reply.status = answer->status();
  reply.retry_after = retry_after_of(answer->header("Retry-After"));
  bool has_json = is_json(answer->header("Content-Type"));
  auto body = co_await answer->read_all();
  if (!body.ok()) co_return gone(body.error());
  // A gateway in front of the server that cannot reach it.
  bool is_gateway = reply.status >= 502 && reply.status <= 504 && !has_json;
  if (is_gateway) {
    co_return gone(error(ErrorCode::unavailable, "Something before it responded with status " +
                                                     std::to_string(reply.status) + "."));
  }
  if (!has_json) {
    co_return unreadable("Its response, with status " + std::to_string(reply.status) +
                         ", is not JSON.");
  }
  auto document = parse_json(*body);
  if (!document.ok())
    co_return unreadable("Its response cannot be read: " + document.error().message);
  reply.document = *std::move(document);
  has_answered_ = true;
  co_return std::move(reply);
}

Result<Value> Connection::document_of(Reply reply) const {
  if (reply.status >= 200 && reply.status < 300) return std::move(reply.document);
  if (auto told = error_from_problem(reply.document)) {
    if (reply.status == 429) told->retry_after = reply.retry_after;
    return *std::move(told);
  }
  const std::string* detail = reply.document["detail"].as_string();
  std::string said = detail ? *detail : "It responded with status " + std::to_string(reply.status);
  if (reply.status == 401) {
    std::string_view what =
        options_.token.empty() ? " requires an API key" : " does not know this API key";
    return error(ErrorCode::invalid, "The server at " + address_.base + std::string(what) +
                                         ". Set --api-key-file FILE or BELAY_API_KEY.");
  }
  if (reply.status == 403) {
    return error(ErrorCode::forbidden, "The server at " + address_.base + " refuses: " + said);
  }
  if (reply.status >= 500) {
    return error(ErrorCode::unavailable, "The server at " + address_.base + " failed: " + said);
  }
  return unreadable(said);
}

Task<Result<Value>> Connection::ask_for(Ask wanted) {
  auto reply = co_await ask(std::move(wanted));
  if (!reply.ok()) co_return std::move(reply).error();
  co_return document_of(*std::move(reply));
}

Task<Result<Value>> Connection::ask_again_for(Ask wanted) {
  Patience patience(options_.patience);
  while (true) {
    bool was_there = has_answered_;
    Ask again = wanted;
    auto reply = co_await ask(std::move(again));
    if (was_there && may_come_back(reply) && co_await patience.wait()) continue;
    if (!reply.ok()) co_return std::move(reply).error();
    co_return document_of(*std::move(reply));
  }
}

Task<Result<net::HttpAnswer>> Connection::ask_for_events(std::string target,
                                                         std::string last_event) {
  Ask ask;
  ask.target = std::move(target);
  ask.headers.push_back({"Accept", "text/event-stream"});
  if (!last_event.empty()) ask.headers.push_back({"Last-Event-ID", std::move(last_event)});
  net::HttpRequest request = request_of(ask);
  request.timeouts.first_byte = kStreamFirstByte;
  request.timeouts.idle = kStreamIdle;
  request.limits.body_bytes = std::numeric_limits<std::size_t>::max();
  auto answer = co_await client_.begin(std::move(request));
  if (!answer.ok()) co_return gone(answer.error());
  std::string_view type = answer->header("Content-Type");
  if (answer->status() == 200 && type.starts_with("text/event-stream")) {
    has_answered_ = true;
    co_return std::move(answer);
  }
  Reply reply;
  reply.status = answer->status();
  auto body = co_await answer->read_all();
  if (!body.ok()) co_return gone(body.error());
  reply.document = parse_json(*body).value_or(Value());
  if (reply.status == 200) co_return unreadable("Its response is not an event stream.");
  if (reply.document.as_object()) has_answered_ = true;
  auto refused = document_of(std::move(reply));
  if (refused.ok()) co_return unreadable("Its response is not an event stream.");
  co_return std::move(refused).error();
}

bool may_come_back(const Result<Reply>& answer) {
  if (!answer.ok()) return answer.error().code == ErrorCode::unavailable;
  return answer->status == 503;
}

Task<bool> Patience::wait() {
  if (left_.count() <= 0) co_return false;
  std::chrono::milliseconds now = std::min(next_, left_);
  left_ -= now;
  next_ = std::min(2 * next_, kMost);
  co_await sleep_for(now);
  co_return true;
}

void Patience::renew(std::chrono::milliseconds whole) {
  left_ = whole;
  next_ = kFirst;
}

}  // namespace belay::client
