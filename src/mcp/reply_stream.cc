#include "mcp/reply_stream.h"

#include "base/trimmed.h"
#include "net/ascii.h"

namespace belay::mcp {

bool is_event_stream(const HttpReply& http) {
  std::string_view type = http.header("content-type");
  return net::lower_case(trimmed(type.substr(0, type.find(';')))) == "text/event-stream";
}

Result<Done> ReplyStream::take(const HttpReply& head, std::string_view piece) {
  if (head.status != 200 || !is_event_stream(head)) {
    body_ += piece;
    if (body_.size() <= bytes_max_) return Done{};
    return error(ErrorCode::exhausted, "its message is too long");
  }
  std::vector<net::StreamEvent> events;
  BELAY_CHECK(reader_.take(piece, events));
  for (const net::StreamEvent& event : events) {
    if (!event.last_id.empty()) last_event_ = event.last_id;
    if (event.data.empty()) continue;
    auto message = parse_message(event.data);
    if (!message.ok()) continue;
    bool is_reply = message->kind == MessageKind::result || message->kind == MessageKind::fault;
    if (is_reply && message->id == id_) {
      if (!reply_) reply_ = *std::move(message);
    } else {
      on_message_(*std::move(message));
    }
  }
  return Done{};
}

void ReplyStream::continue_in_next() {
  body_.clear();
  // The first bytes of a response do not complete an event of the one before it.
  std::vector<net::StreamEvent> dropped;
  static_cast<void>(reader_.take("\n\n", dropped));
}

}  // namespace belay::mcp
