#include "cli/output.h"

#include <unistd.h>

#include <cerrno>
#include <cstring>

namespace belay::cli {
namespace {

// Returns 0, or the errno of the failed write.
int write_all(int file, std::string_view text) {
  while (!text.empty()) {
    ssize_t written = ::write(file, text.data(), text.size());
    if (written < 0 && errno == EINTR) continue;
    if (written < 0) return errno;
    text.remove_prefix(static_cast<std::size_t>(written));
  }
  return 0;
}

std::string_view sequence_of(Style style) {
  switch (style) {
    case Style::plain:
      return "";
    case Style::bold:
      return "\x1b[1m";
    case Style::faint:
      return "\x1b[2m";
    case Style::good:
      return "\x1b[32m";
    case Style::warning:
      return "\x1b[33m";
    case Style::bad:
      return "\x1b[31m";
  }
  return "";
}

std::string styled_if(bool shown, Style style, std::string_view text) {
  std::string_view sequence = shown ? sequence_of(style) : "";
  if (sequence.empty()) return std::string(text);
  return std::string(sequence) + std::string(text) + "\x1b[0m";
}

// Returns the length of the first character if it changes the direction of a line: U+061C, U+200E,
// U+200F, U+202A to U+202E, U+2066 to U+2069. Names with them resemble other names.
std::size_t direction_bytes(std::string_view text) {
  auto at = [&](std::size_t i) { return static_cast<unsigned char>(text[i]); };
  if (text.size() >= 2 && at(0) == 0xD8 && at(1) == 0x9C) return 2;
  if (text.size() < 3 || at(0) != 0xE2) return 0;
  bool is_mark = at(1) == 0x80 && (at(2) == 0x8E || at(2) == 0x8F);
  bool is_embedding = at(1) == 0x80 && at(2) >= 0xAA && at(2) <= 0xAE;
  bool is_isolate = at(1) == 0x81 && at(2) >= 0xA6 && at(2) <= 0xA9;
  return is_mark || is_embedding || is_isolate ? 3 : 0;
}

template <typename Replaced>
std::string without_directions(std::string_view text, Replaced replaced) {
  std::string out;
  out.reserve(text.size());
  while (!text.empty()) {
    std::size_t bytes = direction_bytes(text);
    if (bytes == 0) {
      out += text.front();
      text.remove_prefix(1);
      continue;
    }
    out += replaced(text.substr(0, bytes));
    text.remove_prefix(bytes);
  }
  return out;
}

std::string escaped_direction(std::string_view character) {
  auto byte = [&](std::size_t i) { return static_cast<unsigned char>(character[i]) & 0x3Fu; };
  unsigned code =
      character.size() == 2
          ? (static_cast<unsigned char>(character[0]) & 0x1Fu) << 6 | byte(1)
          : (static_cast<unsigned char>(character[0]) & 0x0Fu) << 12 | byte(1) << 6 | byte(2);
  constexpr std::string_view kDigits = "0123456789abcdef";
  std::string text = "\\u";
  for (int shift = 12; shift >= 0; shift -= 4) text += kDigits[code >> shift & 0xFu];
  return text;
}

// Converts text for display on a terminal.
std::string shown(std::string_view text) {
  return without_directions(text, [](std::string_view) { return "\xEF\xBF\xBD"; });
}

bool is_continuation(char c) { return (static_cast<unsigned char>(c) & 0xC0) == 0x80; }

void append_wrapped(std::string_view line, std::size_t width, std::string_view indent,
                    std::string& out) {
  std::size_t used = 0;
  out += indent;
  while (!line.empty()) {
    std::size_t end = std::min(line.find(' '), line.size());
    std::string_view word = line.substr(0, end);
    line.remove_prefix(std::min(end + 1, line.size()));
    if (word.empty()) continue;
    if (used > 0 && used + 1 + columns(word) > width) {
      out += '\n';
      out += indent;
      used = 0;
    }
    if (used > 0) out += ' ';
    out += word;
    used += columns(word) + (used > 0 ? 1 : 0);
  }
  out += '\n';
}

}  // namespace

void Output::line(std::string_view text) {
  if (options_.json) return;
  result_ += shown(text);
  result_ += '\n';
}

void Output::paragraph(std::string_view text, std::string_view indent) {
  if (options_.json) return;
  result_ += wrapped(text, options_.width, indent);
}

void Output::document(const Value& value) {
  if (!options_.json) return;
  result_ = with_escaped_directions(to_json(value)) + "\n";
}

bool Output::write_now(std::string_view line) {
  failure_ = write_all(STDOUT_FILENO, with_escaped_directions(line) + "\n");
  return failure_ == 0;
}

void Output::write_progress(std::string_view text) {
  std::string whole;
  if (passing_) whole = "\r\x1b[K";
  whole += shown(text);
  // A failure to write progress is ignored: the result can still be written.
  write_all(STDERR_FILENO, whole);
}

void Output::progress(std::string_view text) {
  if (options_.quiet) return;
  if (log_) {
    LogEntry entry;
    entry.event = "process.note";
    entry.message = text;
    return log_->write(std::move(entry));
  }
  write_progress(std::string(text) + "\n");
  passing_ = false;
}

void Output::passing(std::string_view text) {
  if (options_.quiet || !options_.live) return;
  write_progress(text);
  passing_ = true;
}

void Output::print_error(std::string_view message) {
  std::string mark = styled_if(options_.coloured_progress, Style::bad, options_.program + ":");
  write_progress(mark + " " + one_line(message) + "\n");
  passing_ = false;
}

void Output::fail(const Error& error, Value details) {
  std::string message = one_line(error.message);
  print_error(message);
  if (!options_.json) return;
  Value inside = Value::object({{"code", Value(name_of(error.code))}, {"message", message}});
  if (!details.as_object()) details = Value(Value::Object());
  details.as_object()->insert_or_assign("error", std::move(inside));
  document(details);
}

std::string Output::styled(Style style, std::string_view text) const {
  return styled_if(options_.coloured_result, style, text);
}

std::string Output::styled_progress(Style style, std::string_view text) const {
  return styled_if(options_.coloured_progress, style, text);
}

ExitCode Output::finish(ExitCode code) {
  if (passing_) write_progress("");
  passing_ = false;
  int failure = failure_ != 0 ? failure_ : write_all(STDOUT_FILENO, result_);
  result_.clear();
  if (failure == 0 || failure == EPIPE) return code;
  write_progress(options_.program + ": the result could not be written to standard output: " +
                 std::string(std::strerror(failure)) +
                 ". The command has completed; show its result with " + options_.call +
                 " threads\n");
  return ExitCode::internal;
}

std::string one_line(std::string_view text) {
  std::string line(text);
  for (std::size_t i = 0; i < line.size(); ++i) {
    auto byte = static_cast<unsigned char>(line[i]);
    if (byte < 0x20 || byte == 0x7F) line[i] = ' ';
    // U+0080 to U+009F: some terminals interpret them as the start of a control sequence.
    bool second_set =
        byte == 0xC2 && i + 1 < line.size() && static_cast<unsigned char>(line[i + 1]) < 0xA0;
    if (second_set) line[i] = line[i + 1] = ' ';
  }
  return shown(line);
}

std::string with_escaped_directions(std::string_view text) {
  return without_directions(text, escaped_direction);
}

std::string wrapped(std::string_view text, int width, std::string_view indent) {
  std::size_t room = static_cast<std::size_t>(width) > columns(indent) + 20
                         ? static_cast<std::size_t>(width) - columns(indent)
                         : 20;
  std::string out;
  while (true) {
    std::size_t end = text.find('\n');
    append_wrapped(one_line(text.substr(0, end)), room, indent, out);
    if (end == text.npos || end + 1 == text.size()) return out;
    text.remove_prefix(end + 1);
  }
}

std::size_t columns(std::string_view text) {
  std::size_t count = 0;
  for (char c : text) count += is_continuation(c) ? 0 : 1;
  return count;
}

std::string padded(std::string_view text, std::size_t width) {
  std::size_t used = columns(text);
  return std::string(text) + std::string(used < width ? width - used : 0, ' ');
}

std::string shortened(std::string_view text, std::size_t width, std::string_view ellipsis) {
  std::string line = one_line(text);
  if (columns(line) <= width) return line;
  std::size_t keep = width - std::min(width, columns(ellipsis));
  std::size_t bytes = 0;
  while (bytes < line.size()) {
    std::size_t next = bytes + 1;
    while (next < line.size() && is_continuation(line[next])) ++next;
    if (keep == 0) break;
    --keep;
    bytes = next;
  }
  return line.substr(0, bytes) + std::string(ellipsis);
}

bool wants_json(int count, const char* const* words) {
  for (int i = 1; i < count; ++i) {
    if (std::string_view(words[i]) == "--json") return true;
  }
  return false;
}

}  // namespace belay::cli
