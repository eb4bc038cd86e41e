#include "net/event_stream.h"

#include <charconv>

namespace belay::net {
namespace {

constexpr std::string_view byte_order_mark = "\xEF\xBB\xBF";

}  // namespace

Result<Done> LineReader::hold(std::string_view bytes) {
  if (held_.size() + bytes.size() > line_bytes_max_) {
    return error(ErrorCode::exhausted,
                 "A line of the response is longer than " + std::to_string(line_bytes_max_) +
                     " bytes. Check that the server uses the expected protocol.");
  }
  held_ += bytes;
  return Done{};
}

Result<Done> LineReader::take(std::string_view bytes, std::vector<std::string>& lines) {
  while (!bytes.empty()) {
    if (was_return_ && bytes.front() == '\n') bytes.remove_prefix(1);
    was_return_ = false;
    std::size_t end = bytes.find_first_of("\r\n");
    BELAY_CHECK(hold(bytes.substr(0, end)));
    if (end == bytes.npos) break;
    was_return_ = bytes[end] == '\r';
    bytes.remove_prefix(end + 1);
    lines.push_back(std::exchange(held_, {}));
  }
  return Done{};
}

Result<Done> EventStreamReader::take(std::string_view bytes, std::vector<StreamEvent>& events) {
  std::vector<std::string> lines;
  // Lines before one that is too long are still processed.
  auto read = lines_.take(bytes, lines);
  for (std::string_view line : lines) {
    bool is_first = !std::exchange(has_started_, true);
    if (is_first && line.starts_with(byte_order_mark)) line.remove_prefix(byte_order_mark.size());
    BELAY_CHECK(take_line(line, events));
  }
  return read;
}

Result<Done> EventStreamReader::take_line(std::string_view line, std::vector<StreamEvent>& events) {
  if (line.empty()) {
    std::string name = std::exchange(name_, {});
    std::string data = std::exchange(data_, {});
    if (!std::exchange(has_data_, false)) return Done{};
    events.push_back({name.empty() ? "message" : std::move(name), std::move(data), last_id_});
    return Done{};
  }
  std::size_t colon = line.find(':');
  std::string_view field = line.substr(0, colon);
  std::string_view value;
  if (colon != line.npos) value = line.substr(colon + 1);
  if (value.starts_with(' ')) value.remove_prefix(1);
  if (field == "data") {
    if (data_.size() + 1 + value.size() > event_bytes_max_) {
      return error(ErrorCode::exhausted, "An event of the response is longer than " +
                                             std::to_string(event_bytes_max_) + " bytes.");
    }
    if (std::exchange(has_data_, true)) data_ += '\n';
    data_ += value;
  } else if (field == "event") {
    name_ = value;
  } else if (field == "id") {
    if (value.find('\0') == value.npos) last_id_ = value;
  } else if (field == "retry") {
    set_retry(value);
  }
  return Done{};
}

void EventStreamReader::set_retry(std::string_view digits) {
  std::uint32_t number = 0;
  const char* end = digits.data() + digits.size();
  auto [read_to, fault] = std::from_chars(digits.data(), end, number);
  if (fault == std::errc() && read_to == end) retry_ = std::chrono::milliseconds(number);
}

}  // namespace belay::net
