#pragma once
// mcp/reply_stream.h - ReplyStream: the response of a server to a POST or GET, as it arrives: JSON,
// or a stream of events with messages.
//
// Threading: one thread at a time.

#include <functional>
#include <optional>

#include "belay/http.h"
#include "mcp/json_rpc.h"
#include "net/event_stream.h"

namespace belay::mcp {

class ReplyStream {
 public:
  // `on_message` receives the messages of a stream of events, except the reply to `id`.
  ReplyStream(Value id, std::size_t bytes_max, std::function<void(Message)> on_message)
      : id_(std::move(id)),
        bytes_max_(bytes_max),
        on_message_(std::move(on_message)),
        reader_(bytes_max) {}

  // Fails with `exhausted` if the response exceeds its limit.
  Result<Done> take(const HttpReply& head, std::string_view piece);
  // Begins with the next response, which continues the stream.
  void continue_in_next();

  // Set as soon as the reply has arrived in a stream of events.
  const std::optional<Message>& reply() const { return reply_; }
  // The body of a response that is not a stream of events.
  const std::string& body() const { return body_; }
  const std::string& last_event() const { return last_event_; }
  std::optional<std::chrono::milliseconds> retry() const { return reader_.retry(); }

 private:
  const Value id_;
  const std::size_t bytes_max_;
  const std::function<void(Message)> on_message_;
  net::EventStreamReader reader_;
  std::optional<Message> reply_;
  std::string body_;
  std::string last_event_;
};

bool is_event_stream(const HttpReply& http);

}  // namespace belay::mcp
