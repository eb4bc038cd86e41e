#pragma once
// wellbeing/day.h - reads one day's notes: at most the first hundred, and of these the first ten
// thousand characters, with a report of the omitted part.
//
// This cut does not apply to the crisis floor, which is computed from all words of all notes.

#include <cstdint>
#include <string>
#include <vector>

#include "agents/wellbeing/care.h"
#include "agents/wellbeing/records.h"
#include "belay/record.h"
#include "belay/task.h"

namespace belay::wellbeing {

inline constexpr std::size_t kNotesMax = 100;
inline constexpr std::size_t kDayCharactersMax = 10'000;

struct DayNote {
  std::string id;
  std::string content;
  Instant createdAt{};
  friend bool operator==(const DayNote&, const DayNote&) = default;
};

// The part of the day that was read. Characters are code points.
struct Reading {
  std::int64_t notesTotal = 0;
  std::int64_t notesRead = 0;
  std::int64_t charactersTotal = 0;
  std::int64_t charactersRead = 0;
  bool complete() const { return notesRead == notesTotal && charactersRead == charactersTotal; }
  friend bool operator==(const Reading&, const Reading&) = default;
};

struct Day {
  std::vector<DayNote> notes;  // by time of writing, then id; the last one can be cut
  Reading reading;
  Crisis crisis;
  std::string language;  // of most of the notes' words: "en", "es", or empty if ambiguous
};

// Reads a day page by page, with bounded memory for a day of any size.
class DayReader {
 public:
  void add(std::vector<Note> notes);
  Day finish() &&;

 private:
  std::vector<Note> earliest_;  // at most kNotesMax, in order
  std::int64_t notes_ = 0;
  std::int64_t characters_ = 0;
  Crisis crisis_;
};

// Reads the day's notes from the user's records.
Task<Result<Day>> read_day(Records& records, std::string date);

}  // namespace belay::wellbeing
