#pragma once
// program/note_lines.h - parses notes from JSON lines, one object a line: {"content"}, and
// optionally "date", "createdAt" and "id".

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "belay/clock.h"
#include "belay/limits.h"
#include "belay/result.h"

namespace belay::program {

inline constexpr std::size_t kImportBytesMax = 64u << 20;  // of one import

struct NoteLine {
  std::size_t line = 0;  // counted from 1
  std::string id;        // empty: to be derived
  std::string date;      // empty: the day of created_at
  std::string content;
  std::optional<Instant> created_at = std::nullopt;  // unset: the time of the import
};

// All notes of `text`, in its order. Lines may end with CRLF, may be blank, and the first may begin
// with a byte-order mark. `invalid`, with the line's number, for the first that is no note, and for
// a text without any; nothing is passed over in silence.
Result<std::vector<NoteLine>> read_note_lines(std::string_view text);

// The id of a note that was given none: its day, its place in that day, and 12 digits of the hash
// of its content. Ids sort in the order of the file, and the same file has the same ids for good.
std::string derived_note_id(std::string_view date, std::size_t place, std::string_view content);

}  // namespace belay::program
