#include "agents/wellbeing/day.h"

#include <algorithm>
#include <iterator>
#include <tuple>
#include <utility>

#include "agents/rules/language.h"
#include "agents/rules/words.h"
#include "agents/wellbeing/code_points.h"
#include "belay/limits.h"

namespace belay::wellbeing {
namespace {

// Required majority: one or two words of both languages ("a", "no") must not select the language.
constexpr std::size_t kVotesAhead = 2;

std::string language_of(const std::vector<DayNote>& notes) {
  std::string text;
  for (const DayNote& note : notes) text += note.content + "\n\n";
  const rules::Words words = rules::words_of(rules::readable(text));
  const rules::LanguageVotes votes = rules::count_votes(words);
  const rules::Language language = rules::winner(votes);
  const std::size_t ahead = std::max(votes.en, votes.es) - std::min(votes.en, votes.es);
  if (language == rules::Language::unknown || ahead < kVotesAhead) return "";
  return std::string(rules::name_of(language));
}

// Returns at most `characters_max` code points of `text`.
std::string cut(const std::string& text, std::size_t characters_max) {
  std::u32string points = code_points_of(text);
  if (points.size() <= characters_max) return text;
  points.resize(characters_max);
  return utf8_of(points);
}

}  // namespace

void DayReader::add(std::vector<Note> notes) {
  std::vector<std::string> texts;
  for (const Note& note : notes) {
    ++notes_;
    characters_ += static_cast<std::int64_t>(count_code_points(note.content));
    texts.push_back(note.content);
  }
  merge(crisis_in(texts), crisis_);
  std::move(notes.begin(), notes.end(), std::back_inserter(earliest_));
  std::sort(earliest_.begin(), earliest_.end(), [](const Note& a, const Note& b) {
    return std::tie(a.createdAt, a.id) < std::tie(b.createdAt, b.id);
  });
  if (earliest_.size() > kNotesMax) earliest_.resize(kNotesMax);
}

Day DayReader::finish() && {
  Day day;
  day.crisis = std::move(crisis_);
  day.reading.notesTotal = notes_;
  day.reading.charactersTotal = characters_;
  std::size_t left = kDayCharactersMax;
  for (const Note& note : earliest_) {
    if (left == 0) break;
    std::string content = cut(note.content, left);
    const std::size_t characters = count_code_points(content);
    left -= characters;
    ++day.reading.notesRead;
    day.reading.charactersRead += static_cast<std::int64_t>(characters);
    day.notes.push_back({note.id, std::move(content), note.createdAt});
  }
  day.language = language_of(day.notes);
  return day;
}

Task<Result<Day>> read_day(Records& records, std::string date) {
  DayReader reader;
  RecordFilter filter;
  filter.collection = Note::collection;
  filter.field = "date";
  filter.value = std::move(date);
  filter.limit = limits::page_rows_max;
  while (true) {
    RecordFilter page = filter;
    auto rows = co_await records.find(std::move(page));
    if (!rows.ok()) co_return std::move(rows).error();
    std::vector<Note> notes;
    for (const RecordRow& row : *rows) {
      BELAY_CO_TRY(Note note, record_from<Note>(row));
      notes.push_back(std::move(note));
    }
    const bool last = rows->size() < filter.limit;
    if (!rows->empty()) filter.after = rows->back().key;
    reader.add(std::move(notes));
    if (last) break;
  }
  co_return std::move(reader).finish();
}

}  // namespace belay::wellbeing
