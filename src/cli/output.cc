#include "cli/output.h"

#include <unistd.h>

#include <cstring>

#include "base/write_all.h"

namespace belay::cli {
namespace {

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

// Returns the text without control characters, except its line breaks.
std::string plain_lines(std::string_view text) {
  std::string plain;
  while (!text.empty()) {
    std::size_t end = std::min(text.find('\n'), text.size());
    if (end > 0) plain += one_line(text.substr(0, end));
    if (end < text.size()) plain += '\n';
    text.remove_prefix(std::min(end + 1, text.size()));
  }
  return plain;
}

}  // namespace

void Output::line(std::string_view text) {
  if (options_.json) return;
  result_ += without_directions(text);
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

bool Output::write_part(std::string_view text) {
  failure_ = write_all(STDOUT_FILENO, without_directions(plain_lines(text)));
  return failure_ == 0;
}

void Output::write_progress(std::string_view text) {
  std::string whole;
  if (passing_) whole = "\r\x1b[K";
  if (std::exchange(speaking_, false)) whole = "\n";
  whole += without_directions(text);
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

void Output::words(std::string_view text) {
  if (text.empty() || options_.quiet || !options_.live || log_) return;
  std::string shown;
  // The line of the node remains above its text.
  if (!speaking_) shown = passing_ ? "\n" : "";
  passing_ = false;
  shown += plain_lines(text);
  speaking_ = true;
  write_all(STDERR_FILENO, without_directions(shown));
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
  if (passing_ || speaking_) write_progress("");
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

bool wants_json(int count, const char* const* words) {
  for (int i = 1; i < count; ++i) {
    if (std::string_view(words[i]) == "--json") return true;
  }
  return false;
}

}  // namespace belay::cli
