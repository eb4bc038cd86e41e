#pragma once
// cli/output.h - the only way to the terminal: the result on stdout, everything else on stderr.
//
// What is for stdout is kept until finish() (write_now() apart), so that a command that fails
// half-way leaves no half a result, and `--json` is one document or nothing. What goes to stderr is
// written at once.
//
// A reader that has gone (`belay threads | head`) is no failure: the rest is dropped. Any other
// failure to write is told by finish().
//
// Threading: one thread.

#include <string>
#include <string_view>

#include "belay/value.h"
#include "cli/exit_code.h"

namespace belay::cli {

enum class Style { plain, bold, faint, good, warning, bad };

struct OutputOptions {
  std::string program = "belay";  // stands before each line that says what went wrong
  std::string call = "belay";     // how it is called in the commands that it prints
  bool json = false;
  bool quiet = false;
  bool coloured_result = false;    // stdout shows colours
  bool coloured_progress = false;  // stderr does
  bool live = false;               // stderr is a terminal, whose last line may be written anew
  bool utf8 = true;                // the terminal shows more than ASCII
  int width = 80;                  // columns of text
};

class Output {
 public:
  explicit Output(OutputOptions options) : options_(options) {}
  Output(const Output&) = delete;
  Output& operator=(const Output&) = delete;

  const OutputOptions& options() const { return options_; }
  bool json() const { return options_.json; }

  // One line of the result. Nothing with --json.
  void line(std::string_view text = "");
  // A text of any length, broken into lines. Nothing with --json.
  void paragraph(std::string_view text, std::string_view indent = "");
  // The result as a document. Only with --json.
  void document(const Value& value);
  // One line of a result that may have no end, written at once. False: nobody reads it any more.
  bool write_now(std::string_view line);
  // Text as it is, whatever the options say: help, the version.
  void text(std::string_view text) { result_ += text; }

  // One line beside the result: what goes on. Nothing with --quiet.
  void progress(std::string_view text);
  // The same, to be written over by the next progress line. Only where `live`.
  void passing(std::string_view text);

  // One line on stderr that says what went wrong, beside the result.
  void print_error(std::string_view message);
  // The same in place of the result, which with --json is that error.
  // `details` adds members to that document.
  void fail(const Error& error, Value details = {});

  // `text` in a style, where stdout (or stderr) shows styles.
  std::string styled(Style style, std::string_view text) const;
  std::string styled_progress(Style style, std::string_view text) const;
  // The first where the terminal shows UTF-8, else the second.
  std::string_view glyph(std::string_view utf8, std::string_view ascii) const {
    return options_.utf8 ? utf8 : ascii;
  }

  // Writes the result. Returns `code`, or `internal` when the result could not be written.
  ExitCode finish(ExitCode code);

 private:
  void write_progress(std::string_view text);

  OutputOptions options_;
  std::string result_;
  int failure_ = 0;       // of write_now(): an errno
  bool passing_ = false;  // the last line on stderr is a passing one
};

// Returns one line: each line break and control character becomes a space, and each character that
// changes the text direction becomes U+FFFD.
std::string one_line(std::string_view text);
// Returns the text with direction characters escaped as \u202e and the like, as in JSON
// and in the shell's $'...'.
std::string with_escaped_directions(std::string_view text);

// Breaks `text` between words into lines of at most `width` characters, each beginning with
// `indent`; lines of the text stay lines.
std::string wrapped(std::string_view text, int width, std::string_view indent);

// The columns that a text takes, counted in characters.
std::size_t columns(std::string_view text);
// `text`, with spaces up to `width` columns.
std::string padded(std::string_view text, std::size_t width);
// The first `width` columns of one line, with an ellipsis in place of what is cut.
std::string shortened(std::string_view text, std::size_t width, std::string_view ellipsis);

// True if the words contain --json; for the format of errors about the other words.
bool wants_json(int count, const char* const* words);

}  // namespace belay::cli
