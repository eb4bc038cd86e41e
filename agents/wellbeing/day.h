#pragma once
// wellbeing/day.h - one day's notes as the agents take them in: the first hundred, ten thousand
// characters of them, and what of the day that leaves out.
//
// The crisis floor is not part of that cut: it is looked for in every word of every note.

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

// How much of the day was taken in. Characters are code points.
struct Reading {
  std::int64_t notesTotal = 0;
  std::int64_t notesRead = 0;
  std::int64_t charactersTotal = 0;
  std::int64_t charactersRead = 0;
  bool complete() const { return notesRead == notesTotal && charactersRead == charactersTotal; }
  friend bool operator==(const Reading&, const Reading&) = default;
};

struct Day {
  std::vector<DayNote> notes;  // by time of writing, then id; the last one may be cut
  Reading reading;
  Crisis crisis;
  std::string language;  // of most of the notes' words: "en", "es", or empty when not clear
};

// Takes in a day page by page, so that a day of any size fits into memory.
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
