#pragma once
// cli/output.h - Output: results on stdout, everything else on stderr. Only this class writes to
// them.
//
// Results are buffered until finish(), except those of write_now(): if a command fails partway, it
// prints no partial result, and `--json` prints one document or nothing. Output to stderr is
// written immediately. belay/output.h describes the functions that modules use, too.
//
// If a reader has closed its end (`belay threads | head`), that is not an error: the rest is
// dropped. finish() reports any other write error.
//
// Threading: one thread.

#include <string>
#include <string_view>

#include "belay/command.h"
#include "belay/output.h"
#include "belay/telemetry.h"

namespace belay::cli {

struct OutputOptions {
  std::string program = "belay";  // prefix of each error line
  std::string call = "belay";     // how the program was called, for the commands that it prints
  bool json = false;
  bool quiet = false;
  bool coloured_result = false;    // stdout supports colours
  bool coloured_progress = false;  // stderr supports colours
  bool live = false;               // stderr is a terminal: its last line can be overwritten
  bool utf8 = true;                // the terminal supports UTF-8; false: ASCII
  bool live_result = false;        // stdout is a terminal: texts can be shown as they come
  int width = 80;                  // columns of text
};

class Output final : public belay::Output {
 public:
  explicit Output(OutputOptions options) : options_(std::move(options)) {}

  const OutputOptions& options() const { return options_; }
  bool json() const override { return options_.json; }
  int width() const override { return options_.width; }

  void line(std::string_view text = "") override;
  void paragraph(std::string_view text, std::string_view indent = "") override;
  void document(const Value& value) override;
  bool write_now(std::string_view line) override;
  // Writes a part of a line of such a result, for a terminal; may contain line breaks.
  bool write_part(std::string_view text);
  // Adds a text verbatim, with any options: help, the version.
  void text(std::string_view text) { result_ += text; }

  void progress(std::string_view text) override;
  // From now on, lines of progress are entries `process.note` of this log; null: lines again.
  void log_progress(Log* log) { log_ = log; }
  // Writes a line of progress that the next one overwrites. Only if `live`.
  void passing(std::string_view text);
  // Continues a text that is shown while it is produced: characters of any lines. The next line of
  // progress starts on a new line. Only if `live`.
  void words(std::string_view text);

  // Writes one error line to stderr, in addition to the result.
  void print_error(std::string_view message);
  // Reports an error instead of a result; with --json the result is then its document, to which
  // `details` adds members.
  void fail(const Error& error, Value details = {});

  std::string styled(Style style, std::string_view text) const override;
  // The same for stderr.
  std::string styled_progress(Style style, std::string_view text) const;
  std::string_view glyph(std::string_view utf8, std::string_view ascii) const override {
    return options_.utf8 ? utf8 : ascii;
  }

  // Writes the result. Returns `code`, or `internal` if the result could not be written.
  ExitCode finish(ExitCode code);

 private:
  void write_progress(std::string_view text);

  OutputOptions options_;
  std::string result_;
  int failure_ = 0;        // errno of write_now()
  bool speaking_ = false;  // the last line of stderr is a part of a text
  bool passing_ = false;   // the next progress line overwrites the last line of stderr
  Log* log_ = nullptr;     // of lines of progress; null: stderr
};

// Returns the text with U+FFFD for each character that changes the text direction.
std::string without_directions(std::string_view text);
// Returns the text with direction characters escaped as \u202e and the like, as in JSON
// and in the shell's $'...'.
std::string with_escaped_directions(std::string_view text);

// True if the words contain --json; for the format of errors about the other words.
bool wants_json(int count, const char* const* words);

}  // namespace belay::cli
