#pragma once
// rules/figures.h - computes the accuracy of the rules on the labelled notes and their results for
// the diaries, as the Markdown of docs/builtin-provider.md. For rules_score and its test.

#include <string>
#include <vector>

#include "belay/result.h"

namespace belay::rules {

struct FigurePaths {
  std::string labelled;  // a JSONL file; its README describes the members
  std::string diaries;   // a folder of JSONL files; each line: {"date","content"}
};

// The counts of the labelled days: crisis days, those found, days that are certainly none, and
// those among them at the alarm.
struct AlarmCounts {
  int crisis = 0;
  int found = 0;
  int calm = 0;
  int false_alarms = 0;
};
Result<AlarmCounts> alarm_counts(const std::string& labelled);

// Returns three tables of counts, with a final newline. Fails with `not_found` or `invalid`; the
// message names the file and the line.
Result<std::string> figures_markdown(const FigurePaths& paths);

// Returns the words of the labelled notes and the diaries that match a listed word in another form
// than written: as an inflected form, or only by the stem, which does not count. Tab-separated
// lines: language, "form" or "stem", the word, the listed words. Sorted.
Result<std::string> lexicon_forms(const FigurePaths& paths);

// The notes of each day of a diary file, days in the file's order.
struct DiaryDay {
  std::string date;
  std::vector<std::string> notes;
};
Result<std::vector<DiaryDay>> read_diary(const std::string& path);

}  // namespace belay::rules
