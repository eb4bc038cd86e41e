#include "agents/wellbeing/note_lines.h"

#include <map>

#include "agents/wellbeing/record_rules.h"
#include "belay/clock.h"
#include "belay/ids.h"
#include "belay/output.h"
#include "belay/value.h"

namespace belay::wellbeing {
namespace {

constexpr std::string_view kByteOrderMark = "\xEF\xBB\xBF";
constexpr std::size_t kShownMax = 40;

Error fault(std::size_t line, std::string_view what) {
  return error(ErrorCode::invalid, "Line " + std::to_string(line) + ": " + std::string(what) +
                                       " Nothing was imported.");
}

std::string in_quotes(std::string_view text) {
  return "\"" + shortened(text, kShownMax, "...") + "\"";
}

Result<std::string> member(const Value& object, std::string_view name, std::size_t line) {
  const Value* found = object.find(name);
  if (!found) {
    return fault(line, "the note lacks \"" + std::string(name) +
                           "\". Write {\"date\":\"YYYY-MM-DD\",\"content\":\"...\"}.");
  }
  if (const std::string* text = found->as_string()) return *text;
  return fault(line, "its \"" + std::string(name) + "\" is of kind " + std::string(found->kind()) +
                         ", expected a string.");
}

Result<Done> check_members(const Value& object, std::size_t line) {
  for (const auto& [name, value] : *object.as_object()) {
    if (name == "date" || name == "content" || name == "id" || name == "createdAt") continue;
    return fault(line, "the member " + in_quotes(name) +
                           " is unknown: a note has date, content, createdAt and id. Remove it.");
  }
  return Done{};
}

Result<NoteLine> note_from(const Value& object, std::size_t line) {
  if (!object.as_object()) {
    return fault(line, "expected a JSON object instead of kind " + std::string(object.kind()) +
                           ". Write {\"date\":\"YYYY-MM-DD\",\"content\":\"...\"}.");
  }
  BELAY_CHECK(check_members(object, line));
  NoteLine note;
  note.line = line;
  if (object.find("date")) {
    BELAY_TRY(note.date, member(object, "date", line));
  }
  BELAY_TRY(note.content, member(object, "content", line));
  if (object.find("id")) {
    BELAY_TRY(note.id, member(object, "id", line));
    auto named = check_name("note id", note.id);
    if (!named.ok()) return fault(line, named.error().message);
  }
  if (object.find("createdAt")) {
    BELAY_TRY(std::string text, member(object, "createdAt", line));
    note.created_at = instant_from(text);
    if (!note.created_at) {
      return fault(line, "invalid time " + in_quotes(text) +
                             ": expected UTC, such as 2026-11-21T23:54:00Z.");
    }
  }
  bool has_date = object.find("date") != nullptr;
  if (!has_date && !note.created_at) return member(object, "date", line).error();
  if (has_date && !is_date(note.date)) {
    return fault(line, "invalid date " + in_quotes(note.date) + ": expected YYYY-MM-DD.");
  }
  std::string which = has_date ? "the note of " + note.date : std::string("the note");
  if (wellbeing::is_blank(note.content)) {
    return fault(line, which + " has no text. Write some, or omit the note.");
  }
  std::size_t bytes = note_content_bytes(note.content);
  if (bytes > wellbeing::kNoteContentBytesMax) {
    return fault(line, which + " has " + std::to_string(bytes) + " bytes; the maximum is " +
                           std::to_string(wellbeing::kNoteContentBytesMax) + ". Split it.");
  }
  return note;
}

}  // namespace

Result<std::vector<NoteLine>> read_note_lines(std::string_view text) {
  if (text.starts_with(kByteOrderMark)) text.remove_prefix(kByteOrderMark.size());
  std::vector<NoteLine> notes;
  std::map<std::string, std::size_t> given;  // id -> line
  std::size_t line = 0;
  while (!text.empty()) {
    ++line;
    std::size_t end = text.find('\n');
    std::string_view one = text.substr(0, end);
    text.remove_prefix(end == text.npos ? text.size() : end + 1);
    if (one.ends_with('\r')) one.remove_suffix(1);
    if (one.find_first_not_of(" \t") == one.npos) continue;
    auto object = parse_json(one);
    if (!object.ok()) return fault(line, object.error().message);
    BELAY_TRY(NoteLine note, note_from(*object, line));
    if (!note.id.empty()) {
      auto [place, is_new] = given.emplace(note.id, line);
      if (!is_new) {
        return fault(line, "the id " + in_quotes(note.id) + " is also used in line " +
                               std::to_string(place->second) +
                               ". Use a different id for each note.");
      }
    }
    notes.push_back(std::move(note));
  }
  if (notes.empty()) {
    return error(ErrorCode::invalid,
                 "The input contains no notes. Write one JSON object per line: "
                 "{\"date\":\"YYYY-MM-DD\",\"content\":\"...\"}.");
  }
  return notes;
}

std::string derived_note_id(std::string_view date, std::size_t place, std::string_view content) {
  std::string number = std::to_string(place);
  if (number.size() < 2) number.insert(0, "0");
  return std::string(date) + "." + number + "." + to_hex(sha256(content)).substr(0, 12);
}

}  // namespace belay::wellbeing
