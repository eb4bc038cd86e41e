#pragma once
// cli/output.h - Output: results on stdout, everything else on stderr. Only this class writes to
// them.
//
// Results are buffered until finish(), except those of write_now(): if a command fails partway, it
// prints no partial result, and `--json` prints one document or nothing. Output to stderr is
// written immediately.
//
// If a reader has closed its end (`belay threads | head`), that is not an error: the rest is
// dropped. finish() reports any other write error.
//
// Threading: one thread.

#include <string>
#include <string_view>

#include "belay/telemetry.h"
#include "belay/value.h"
#include "cli/exit_code.h"

namespace belay::cli {

enum class Style { plain, bold, faint, good, warning, bad };

struct OutputOptions {
  std::string program = "belay";  // prefix of each error line
  std::string call = "belay";     // how the program was called, for the commands that it prints
  bool json = false;
  bool quiet = false;
  bool coloured_result = false;    // stdout supports colours
  bool coloured_progress = false;  // stderr supports colours
  bool live = false;               // stderr is a terminal: its last line can be overwritten
  bool utf8 = true;                // the terminal supports UTF-8; false: ASCII
  int width = 80;                  // columns of text
};

class Output {
 public:
  explicit Output(OutputOptions options) : options_(options) {}
  Output(const Output&) = delete;
  Output& operator=(const Output&) = delete;

  const OutputOptions& options() const { return options_; }
  bool json() const { return options_.json; }

  // Adds one line to the result. No effect with --json.
  void line(std::string_view text = "");
  // Adds a text of any length, wrapped. No effect with --json.
  void paragraph(std::string_view text, std::string_view indent = "");
  // Sets the result as a document. Only with --json.
  void document(const Value& value);
  // Writes one line of a result that might not end, immediately. False if the line could not be
  // written, for example because the reader has closed its end.
  bool write_now(std::string_view line);
  // Adds a text verbatim, with any options: help, the version.
  void text(std::string_view text) { result_ += text; }

  // Writes one line of progress to stderr. No effect with --quiet.
  void progress(std::string_view text);
  // From now on, lines of progress are entries `process.note` of this log; null: lines again.
  void log_progress(Log* log) { log_ = log; }
  // Writes a line of progress that the next one overwrites. Only if `live`.
  void passing(std::string_view text);

  // Writes one error line to stderr, in addition to the result.
  void print_error(std::string_view message);
  // Reports an error instead of a result; with --json the result is then its document, to which
  // `details` adds members.
  void fail(const Error& error, Value details = {});

  // Returns `text` in a style if stdout (or stderr) supports styles.
  std::string styled(Style style, std::string_view text) const;
  std::string styled_progress(Style style, std::string_view text) const;
  // Returns the first if the terminal supports UTF-8, otherwise the second.
  std::string_view glyph(std::string_view utf8, std::string_view ascii) const {
    return options_.utf8 ? utf8 : ascii;
  }

  // Writes the result. Returns `code`, or `internal` if the result could not be written.
  ExitCode finish(ExitCode code);

 private:
  void write_progress(std::string_view text);

  OutputOptions options_;
  std::string result_;
  int failure_ = 0;       // errno of write_now()
  bool passing_ = false;  // the next progress line overwrites the last line of stderr
  Log* log_ = nullptr;    // of lines of progress; null: stderr
};

// Returns one line: each line break and control character becomes a space, and each character that
// changes the text direction becomes U+FFFD.
std::string one_line(std::string_view text);
// Returns the text with direction characters escaped as \u202e and the like, as in JSON
// and in the shell's $'...'.
std::string with_escaped_directions(std::string_view text);

// Wraps `text` at spaces into lines of at most `width` characters, each of which starts with
// `indent`. Line breaks of the text remain.
std::string wrapped(std::string_view text, int width, std::string_view indent);

// Returns the width of a text, counted in characters.
std::size_t columns(std::string_view text);
// Returns `text`, padded with spaces to `width` columns.
std::string padded(std::string_view text, std::size_t width);
// Returns the first `width` columns of one line; an ellipsis replaces the rest.
std::string shortened(std::string_view text, std::size_t width, std::string_view ellipsis);

// True if the words contain --json; for the format of errors about the other words.
bool wants_json(int count, const char* const* words);

}  // namespace belay::cli
