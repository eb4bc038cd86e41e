// `belay notes`: import, list and show.

#include "agents/wellbeing/note_commands.h"

#include <map>
#include <set>

#include "agents/wellbeing/localized_text.h"
#include "agents/wellbeing/note_lines.h"
#include "agents/wellbeing/options.h"
#include "agents/wellbeing/record_rules.h"
#include "belay/limits.h"
#include "belay/module.h"

namespace belay::wellbeing {
namespace {

constexpr const char* kNotesHelp =
    R"(Examples:
  belay notes import diary.jsonl    # {"date":"1910-02-06","content":"..."} a line
  belay notes list --date 1910-02-06
  belay notes show 1910-02-06.01.5d41402abc4b
)";

constexpr const char* kNotesImportHelp =
    R"(FILE has one JSON object per line: "date" (YYYY-MM-DD), "content" and optionally "id" and
"createdAt" (2026-11-21T23:54:00Z), the time of writing; its default is the time of the import. If
a line has "createdAt" and no "date", the date is that day in your time zone (BELAY_TIME_ZONE).
Every line is checked before anything is written: all notes are imported, or none.
Importing the same file again changes nothing. A note with an "id" that exists replaces it.

Examples:
  belay notes import diary.jsonl
  echo '{"date":"2026-11-21","content":"Slept four hours."}' | belay notes import -
)";

constexpr std::int64_t kListMax = 1'000;
constexpr std::size_t kNotesOfDayMax = limits::list_rows_max;

// The result of reading an import, before anything is written.
struct ImportPlan {
  std::vector<Note> to_save;
  std::size_t replaced = 0;   // part of to_save: existing notes with another text
  std::size_t unchanged = 0;  // notes that already exist
};

// The stored notes of one day, by content; each matches at most one imported note.
using DayNotes = std::multimap<std::string, Note>;

Task<Result<DayNotes>> notes_of_day(Records& records, std::string date) {
  BELAY_CO_TRY(std::vector<Note> notes,
               co_await records.where(&Note::date, std::move(date), kNotesOfDayMax));
  DayNotes found;
  for (Note& note : notes) {
    std::string content = note.content;
    found.emplace(std::move(content), std::move(note));
  }
  co_return std::move(found);
}

// Notes without a time are saved in the order of their lines.
Instant written_at(const NoteLine& line, Instant now) {
  return line.created_at.value_or(now + std::chrono::microseconds(line.line));
}

Note note_of(const NoteLine& line, std::string id, Instant now) {
  Note note;
  note.id = std::move(id);
  note.date = line.date;
  note.content = line.content;
  note.createdAt = written_at(line, now);
  return note;
}

bool is_as_written(const Note& there, const NoteLine& line) {
  return there.date == line.date && there.content == line.content &&
         (!line.created_at || *line.created_at == there.createdAt);
}

// Plans a line with an id: it is new, unchanged, or replaces another text.
Task<Result<Done>> plan_named(Records& records, const NoteLine& line, Instant now,
                              ImportPlan& plan) {
  BELAY_CO_TRY(std::optional<Note> there, co_await records.get<Note>(line.id));
  if (there && is_as_written(*there, line)) {
    ++plan.unchanged;
    co_return Done{};
  }
  plan.replaced += there ? 1 : 0;
  plan.to_save.push_back(note_of(line, line.id, now));
  co_return Done{};
}

// Plans lines without an id. A line with the same text as a stored note of the day is that note: a
// longer export of the same diary therefore adds only the new notes.
void plan_unnamed(const NoteLine& line, std::size_t place, Instant now, DayNotes& day,
                  std::set<std::string>& taken, ImportPlan& plan) {
  if (auto there = day.find(line.content); there != day.end()) {
    bool is_known = is_as_written(there->second, line);
    plan.unchanged += is_known ? 1 : 0;
    plan.replaced += is_known ? 0 : 1;
    if (!is_known) plan.to_save.push_back(note_of(line, there->second.id, now));
    day.erase(there);
    return;
  }
  std::string id = derived_note_id(line.date, place, line.content);
  while (!taken.insert(id).second) id = derived_note_id(line.date, ++place, line.content);
  plan.to_save.push_back(note_of(line, std::move(id), now));
}

Result<Done> check_lines(const std::vector<NoteLine>& lines, Instant now) {
  for (const NoteLine& line : lines) {
    auto checked = check(note_of(line, line.id.empty() ? "-" : line.id, now), now);
    if (checked.ok()) continue;
    return error(ErrorCode::invalid, "Line " + std::to_string(line.line) + ": " +
                                         checked.error().message + " Nothing was imported.");
  }
  return Done{};
}

Task<Result<ImportPlan>> plan_import(Records& records, const std::vector<NoteLine>& lines,
                                     Instant now) {
  ImportPlan plan;
  std::map<std::string, DayNotes> days;
  std::map<std::string, std::size_t> places;
  std::set<std::string> taken;
  for (const NoteLine& line : lines) {
    if (!line.id.empty()) taken.insert(line.id);
    if (days.contains(line.date)) continue;
    std::string date = line.date;
    BELAY_CO_TRY(DayNotes day, co_await notes_of_day(records, std::move(date)));
    for (const auto& [content, note] : day) taken.insert(note.id);
    days.emplace(line.date, std::move(day));
  }
  for (const NoteLine& line : lines) {
    std::size_t place = ++places[line.date];
    if (line.id.empty()) {
      plan_unnamed(line, place, now, days[line.date], taken, plan);
    } else {
      BELAY_CO_CHECK(co_await plan_named(records, line, now, plan));
    }
  }
  co_return std::move(plan);
}

Result<std::vector<RecordWrite>> writes_of(const ImportPlan& plan, const UserId& user) {
  std::vector<RecordWrite> writes;
  for (const Note& note : plan.to_save) {
    BELAY_TRY(RecordWrite write, record_write(note, user));
    writes.push_back(std::move(write));
  }
  return writes;
}

void show_import(ModuleContext& world, const ImportPlan& plan, const std::vector<NoteLine>& lines) {
  std::size_t added = plan.to_save.size() - plan.replaced;
  std::set<std::string> days;
  for (const NoteLine& line : lines) days.insert(line.date);
  const Words& words = words_of(world.settings.language);
  auto counted = [](std::string_view wording, std::size_t count) {
    return format_message(wording, {{"n", std::to_string(count)}});
  };
  std::string text = counted(added == 1 ? words.one_imported : words.imported, added);
  if (plan.replaced > 0) text += counted(words.replaced, plan.replaced);
  if (plan.unchanged > 0) text += counted(words.unchanged, plan.unchanged);
  std::string span = " " + *days.begin() + ".";
  if (days.size() > 1) {
    span = format_message(words.days, {{"first", *days.begin()}, {"last", *days.rbegin()}});
  }
  world.output.line(text + "." + span);
  world.output.document(Value::object({
      {"imported", static_cast<std::uint64_t>(added)},
      {"replaced", static_cast<std::uint64_t>(plan.replaced)},
      {"unchanged", static_cast<std::uint64_t>(plan.unchanged)},
      {"days", static_cast<std::uint64_t>(days.size())},
      {"firstDate", *days.begin()},
      {"lastDate", *days.rbegin()},
      {"userId", world.settings.user.text},
  }));
}

Value note_document(const Note& note) {
  return Value::object({{"id", note.id},
                        {"date", note.date},
                        {"content", note.content},
                        {"createdAt", to_text(note.createdAt)}});
}

// Returns all notes or those of a day, by id, at most `limit`.
Task<Result<std::vector<Note>>> find_notes(ModuleContext& world, std::optional<std::string> date,
                                           std::size_t limit) {
  RecordFilter filter;
  filter.collection = Note::collection;
  filter.limit = limit;
  if (date) {
    filter.field = "date";
    filter.value = *date;
  }
  auto records = records_of(world.service, world.who, world.settings.user);
  BELAY_CO_TRY(std::vector<RecordRow> rows, co_await records->find(std::move(filter)));
  std::vector<Note> notes;
  for (const RecordRow& row : rows) {
    BELAY_CO_TRY(Note note, record_from<Note>(row));
    notes.push_back(std::move(note));
  }
  co_return std::move(notes);
}

class NotesImport final : public ModuleCommand {
 public:
  void declare(CommandWords& words) override {
    words.argument("FILE", file_, "The file; - for standard input").required();
  }

  Result<Done> validate(const ModuleSettings&) override {
    BELAY_TRY(std::string text, read_input(file_, kImportBytesMax));
    BELAY_TRY(lines_, read_note_lines(text));
    return Done{};
  }

  Task<Result<ExitCode>> run(ModuleContext& world) override {
    auto records = records_of(world.service, world.who, world.settings.user);
    Instant now = world.clock.now();
    for (NoteLine& line : lines_) {
      if (line.date.empty()) line.date = world.settings.time_zone.day_of(*line.created_at);
    }
    BELAY_CO_CHECK(check_lines(lines_, now));
    BELAY_CO_TRY(ImportPlan plan, co_await plan_import(*records, lines_, now));
    BELAY_CO_TRY(std::vector<RecordWrite> writes, writes_of(plan, world.settings.user));
    if (!writes.empty()) {
      BELAY_CO_CHECK(co_await world.service.save_records(world.who, std::move(writes)));
    }
    show_import(world, plan, lines_);
    co_return ExitCode::done;
  }

 private:
  std::string file_;  // "-" for standard input
  std::vector<NoteLine> lines_;
};

class NotesList final : public ModuleCommand {
 public:
  void declare(CommandWords& words) override {
    words.text_option("--date", date_, "Only this day: YYYY-MM-DD, today, yesterday");
    words.text_option("--limit", limit_text_, "Maximum number of notes, 1 to 1000 [50]");
  }

  Result<Done> validate(const ModuleSettings&) override {
    if (limit_text_) {
      BELAY_TRY(std::int64_t limit, whole_number("--limit", *limit_text_, 1, kListMax));
      limit_ = static_cast<std::size_t>(limit);
    }
    return date_ && !names_a_day(*date_) ? check_date(*date_) : Result<Done>(Done{});
  }

  Task<Result<ExitCode>> run(ModuleContext& world) override {
    if (date_) {
      date_ = day_named(*date_, world.settings.time_zone, world.clock.now());
    }
    BELAY_CO_TRY(std::vector<Note> notes, co_await find_notes(world, date_, limit_));
    if (notes.empty()) {
      world.output.line(
          format_message(words_of(world.settings.language).no_notes,
                         {{"command", world.command_line({"notes", "import", "FILE"})}}));
    }
    std::size_t id_width = 0;
    for (const Note& note : notes) id_width = std::max(id_width, columns(note.id));
    id_width = std::min(id_width, std::size_t{40});
    auto width = static_cast<std::size_t>(world.output.width());
    std::size_t room = width > id_width + 24 ? width - id_width - 14 : 10;
    Value::Array documents;
    for (const Note& note : notes) {
      world.output.line(note.date + "  " + padded(note.id, id_width) + "  " +
                        shortened(note.content, room, world.output.glyph("…", "...")));
      documents.push_back(note_document(note));
    }
    world.output.document(Value::object({{"notes", std::move(documents)}}));
    co_return ExitCode::done;
  }

 private:
  std::optional<std::string> date_, limit_text_;
  std::size_t limit_ = 50;
};

class NotesShow final : public ModuleCommand {
 public:
  void declare(CommandWords& words) override {
    words.argument("ID", id_, "Id of the note").required();
  }

  Task<Result<ExitCode>> run(ModuleContext& world) override {
    auto records = records_of(world.service, world.who, world.settings.user);
    BELAY_CO_TRY(std::optional<Note> note, co_await records->get<Note>(id_));
    if (!note) {
      co_return error(ErrorCode::not_found, "Unknown note \"" + id_ + "\" of user \"" +
                                                world.settings.user.text +
                                                "\". List notes with `belay notes list`.");
    }
    world.output.line(world.output.styled(Style::bold, note->date) + "  " + note->id);
    world.output.line(
        format_message(words_of(world.settings.language).written,
                       {{"time", moment_text(world.settings.time_zone, note->createdAt)}}));
    world.output.paragraph(note->content);
    world.output.document(note_document(*note));
    co_return ExitCode::done;
  }

 private:
  std::string id_;
};

}  // namespace

Result<Done> check_date(std::string_view date) {
  if (is_date(date)) return Done{};
  return error(ErrorCode::invalid,
               "Invalid date \"" + shortened(date, 40, "...") + "\": expected YYYY-MM-DD.");
}

std::vector<ModuleCommandSpec> note_commands() {
  return {{.path = {"notes"}, .line = "Import, list and show notes", .end = kNotesHelp},
          {.path = {"notes", "import"},
           .line = "Import notes from JSON lines",
           .end = kNotesImportHelp,
           .creates_store = true,
           .make = make_module_command<NotesImport>},
          {.path = {"notes", "list"},
           .line = "List notes",
           .end = kNotesHelp,
           .make = make_module_command<NotesList>},
          {.path = {"notes", "show"},
           .line = "Show one note",
           .end = kNotesHelp,
           .make = make_module_command<NotesShow>}};
}

}  // namespace belay::wellbeing
