#pragma once
// belay/output.h - Output: the results and the progress of a command; and functions for texts in a
// terminal.
//
// Results go to standard output when the command has ended: a command that fails partway prints no
// partial result, and `--json` prints one document or nothing. Progress and errors go to standard
// error immediately.
//
// Threading: one thread.

#include <initializer_list>
#include <string>
#include <string_view>
#include <utility>

#include "belay/clock.h"
#include "belay/value.h"

namespace belay {

enum class Style { plain, bold, faint, good, warning, bad };

// The language of texts for users. Help and errors are in English only.
enum class Language { en, es };
std::string_view name_of(Language language);

class Output {
 public:
  virtual ~Output() = default;
  Output(const Output&) = delete;
  Output& operator=(const Output&) = delete;

  // True with --json: the result is a document instead of lines.
  virtual bool json() const = 0;
  // The columns of a line.
  virtual int width() const = 0;

  // Adds one line to the result. No effect with --json.
  virtual void line(std::string_view text = "") = 0;
  // Adds a text of any length, wrapped; each line starts with `indent`. No effect with --json.
  virtual void paragraph(std::string_view text, std::string_view indent = "") = 0;
  // Sets the result as a document. Only with --json.
  virtual void document(const Value& value) = 0;
  // Writes one line of a result that might not end, immediately. False if the line could not be
  // written, for example because the reader has closed its end.
  virtual bool write_now(std::string_view line) = 0;
  // Writes one line of progress. No effect with --quiet.
  virtual void progress(std::string_view text) = 0;

  // Returns `text` in a style if standard output supports styles.
  virtual std::string styled(Style style, std::string_view text) const = 0;
  // Returns the first if the terminal supports UTF-8, otherwise the second.
  virtual std::string_view glyph(std::string_view utf8, std::string_view ascii) const = 0;

 protected:
  Output() = default;
};

// Returns one line: each line break and control character becomes a space, and each character that
// changes the text direction becomes U+FFFD.
std::string one_line(std::string_view text);
// Wraps `text` at spaces into lines of at most `width` characters, each of which starts with
// `indent`. Line breaks of the text remain.
std::string wrapped(std::string_view text, int width, std::string_view indent);

// Returns the width of a text, counted in characters.
std::size_t columns(std::string_view text);
// Returns `text`, padded with spaces to `width` columns.
std::string padded(std::string_view text, std::size_t width);
// Returns the first `width` columns of one line; an ellipsis replaces the rest.
std::string shortened(std::string_view text, std::size_t width, std::string_view ellipsis);

// Replaces each {name} of `wording` by its value, in one pass. Unknown names remain.
using Filling = std::pair<std::string_view, std::string_view>;
std::string format_message(std::string_view wording, std::initializer_list<Filling> fillings);

// Example: "2026-11-22 15:03 Europe/Madrid".
std::string moment_text(const TimeZone& zone, Instant at);

}  // namespace belay
