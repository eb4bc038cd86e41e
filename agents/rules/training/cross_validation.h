#pragma once
// training/cross_validation.h - scores the labelled training days by models that were trained
// without them, and chooses the marks of the classifier by these scores.

#include <string>
#include <vector>

#include "agents/rules/training/linear_trainer.h"

namespace belay::rules {

enum class Folds {
  days,   // each fold leaves out every fifth day
  kinds,  // each fold leaves out whole kinds of days, in both languages
};

// Returns the score of each labelled day; templates are always trained from and never scored.
std::vector<int> held_out_scores(const std::vector<TrainingDay>& days,
                                 const std::vector<TrainingExample>& examples, Folds folds);

RiskMarks marks_of(const std::vector<TrainingDay>& days, const std::vector<int>& scores);

// Returns a Markdown table: recall and false alarms by mark.
std::string curve_markdown(const std::vector<TrainingDay>& days, const std::vector<int>& scores);

}  // namespace belay::rules
