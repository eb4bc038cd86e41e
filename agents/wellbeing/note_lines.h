#pragma once
// wellbeing/note_lines.h - parses notes from JSON lines, one object per line: {"content"}, and
// optionally "date", "createdAt" and "id".

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "belay/clock.h"
#include "belay/limits.h"
#include "belay/result.h"

namespace belay::wellbeing {

inline constexpr std::size_t kImportBytesMax = 64u << 20;  // of one import

struct NoteLine {
  std::size_t line = 0;  // counted from 1
  std::string id;        // empty: derived
  std::string date;      // empty: the day of created_at
  std::string content;
  std::optional<Instant> created_at = std::nullopt;  // unset: the time of the import
};

// Returns all notes of `text`, in its order. Lines may end with CRLF or be blank; the first may
// start with a byte-order mark. Fails with `invalid`, with the line's number, at the first line
// that is not a note, and for a text without notes; no line is skipped silently.
Result<std::vector<NoteLine>> read_note_lines(std::string_view text);

// Derives the id of a note without one: its day, its number within that day, and 12 digits of the
// hash of its content. Ids sort in the order of the file; the same file always has the same ids.
std::string derived_note_id(std::string_view date, std::size_t place, std::string_view content);

}  // namespace belay::wellbeing
