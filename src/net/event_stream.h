#pragma once
// net/event_stream.h - parsers for server-sent events, and for lines such as JSON values.
//
// Bytes may be split at any point, within a line, a CRLF or a character; results are complete. No
// text is decoded: the caller checks its UTF-8. Sources:
// https://html.spec.whatwg.org/multipage/server-sent-events.html, section 9.2.6
// (text/event-stream); https://github.com/ndjson/ndjson-spec (lines of JSON).

#include <chrono>
#include <cstddef>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "belay/result.h"

namespace belay::net {

// Splits bytes into lines that end with CR, LF or CRLF.
class LineReader {
 public:
  // take() fails with `exhausted` for a line, complete or not, that is longer than
  // `line_bytes_max`.
  explicit LineReader(std::size_t line_bytes_max) : line_bytes_max_(line_bytes_max) {}

  // Appends the lines that `bytes` complete to `lines`, without their line breaks.
  Result<Done> take(std::string_view bytes, std::vector<std::string>& lines);
  // Returns the incomplete last line; empty if it is complete.
  std::string_view rest() const { return held_; }

 private:
  Result<Done> hold(std::string_view bytes);

  const std::size_t line_bytes_max_;
  std::string held_;
  bool was_return_ = false;  // the last byte was a CR: an LF might follow
};

struct StreamEvent {
  std::string name;  // "message" if the stream names none
  std::string data;
  std::string last_id;  // id of this event, or of the latest one before it that had an id
};

class EventStreamReader {
 public:
  // take() fails with `exhausted` for a line, or an event's data, that is longer than
  // `event_bytes_max`.
  explicit EventStreamReader(std::size_t event_bytes_max)
      : event_bytes_max_(event_bytes_max), lines_(event_bytes_max) {}

  // Appends the events that `bytes` complete to `events`. An event without the empty line that ends
  // it is dropped at the end of the stream.
  Result<Done> take(std::string_view bytes, std::vector<StreamEvent>& events);
  // Returns the delay that the server requests before a reconnect.
  std::optional<std::chrono::milliseconds> retry() const { return retry_; }

 private:
  Result<Done> take_line(std::string_view line, std::vector<StreamEvent>& events);
  void set_retry(std::string_view digits);

  const std::size_t event_bytes_max_;
  LineReader lines_;
  bool has_started_ = false;
  std::string name_;
  std::string data_;
  bool has_data_ = false;
  std::string last_id_;
  std::optional<std::chrono::milliseconds> retry_;
};

}  // namespace belay::net
