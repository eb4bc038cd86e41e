#pragma once
// training/training_days.h - reads the days that the risk classifier is trained from.

#include <string>
#include <vector>

#include "belay/result.h"

namespace belay::rules {

struct TrainingDay {
  std::vector<std::string> notes;
  bool crisis = false;
  int risk = 0;          // 1 to 10, by the day's writer; 0 for a template
  std::string kind;      // the difficulty; "template" for a template
  std::string language;  // "en" or "es"
};

// Returns the labelled days of train_en.jsonl and train_es.jsonl, then the variants of
// templates_en.txt and templates_es.txt, in the folder. Fails with `not_found` or `invalid`; the
// message names the file and the line.
Result<std::vector<TrainingDay>> read_training_days(const std::string& folder);

// Returns different texts of the template, at most `count`: always the same ones for `seed`.
std::vector<std::string> variants_of(std::string_view pattern, std::uint32_t seed,
                                     std::size_t count);

}  // namespace belay::rules
