#pragma once
// net/event_stream.h - what comes in lines: server-sent events, and JSON values a line each.
//
// Bytes come as the network cuts them, in the middle of a line, of a CRLF or of a character; what
// is handed out is whole. Nothing is decoded: who reads the text checks its UTF-8. Sources:
// https://html.spec.whatwg.org/multipage/server-sent-events.html, section 9.2.6 (text/
// event-stream); https://github.com/ndjson/ndjson-spec (lines of JSON).

#include <chrono>
#include <cstddef>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "belay/result.h"

namespace belay::net {

// Cuts bytes into lines that end with CR, LF or CRLF.
class LineReader {
 public:
  // `exhausted` comes of a line, or what is held of one, that is longer than `line_bytes_max`.
  explicit LineReader(std::size_t line_bytes_max) : line_bytes_max_(line_bytes_max) {}

  // Adds the lines that `bytes` end to `lines`, without their ends.
  Result<Done> take(std::string_view bytes, std::vector<std::string>& lines);
  // What came after the last end of a line; empty where there is nothing.
  std::string_view rest() const { return held_; }

 private:
  Result<Done> hold(std::string_view bytes);

  const std::size_t line_bytes_max_;
  std::string held_;
  bool was_return_ = false;  // the last byte was a CR, whose LF may come yet
};

struct StreamEvent {
  std::string name;  // "message" where the stream names none
  std::string data;
  std::string last_id;  // of this event, or of the newest one before it that had one
};

class EventStreamReader {
 public:
  // `exhausted` comes of a line, or an event's data, that is longer than `event_bytes_max`.
  explicit EventStreamReader(std::size_t event_bytes_max)
      : event_bytes_max_(event_bytes_max), lines_(event_bytes_max) {}

  // Adds the events that `bytes` end to `events`. One that no empty line has ended when the stream
  // does never was.
  Result<Done> take(std::string_view bytes, std::vector<StreamEvent>& events);
  // How long the server asks to wait before the stream is asked for again.
  std::optional<std::chrono::milliseconds> retry() const { return retry_; }

 private:
  Result<Done> take_line(std::string_view line, std::vector<StreamEvent>& events);
  void set_retry(std::string_view digits);

  const std::size_t event_bytes_max_;
  LineReader lines_;
  bool has_begun_ = false;
  std::string name_;
  std::string data_;
  bool has_data_ = false;
  std::string last_id_;
  std::optional<std::chrono::milliseconds> retry_;
};

}  // namespace belay::net
