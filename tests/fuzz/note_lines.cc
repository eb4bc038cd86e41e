// The import of notes: accepted notes equal the input, and written as JSON lines they read back as
// the same.

#include "agents/wellbeing/note_lines.h"

#include "belay/value.h"
#include "tests/fuzz/target.h"

BELAY_FUZZ_TARGET(NoteLines, "note_lines") {
  using namespace belay;
  auto notes = wellbeing::read_note_lines(input);
  if (!notes.ok()) {
    fuzz::require_sound(notes.error());
    fuzz::require(notes.error().code == ErrorCode::invalid, "what can't be imported is invalid");
    return;
  }
  fuzz::require(!notes->empty(), "an import has notes");
  std::string text;
  for (const wellbeing::NoteLine& note : *notes) {
    Value::Object members{{"date", note.date}, {"content", note.content}};
    if (!note.id.empty()) members["id"] = note.id;
    text += to_json(Value(std::move(members))) + "\n";
    fuzz::require(wellbeing::derived_note_id(note.date, note.line, note.content).size() <= 40,
                  "an id that is derived is short");
  }
  auto again = wellbeing::read_note_lines(text);
  fuzz::require(again.ok() && again->size() == notes->size(), "what was taken is taken again");
  for (std::size_t i = 0; i < notes->size(); ++i) {
    const wellbeing::NoteLine &one = (*notes)[i], &same = (*again)[i];
    fuzz::require(one.id == same.id && one.date == same.date && one.content == same.content,
                  "a note comes back as it was");
  }
}
