#pragma once
// training/linear_trainer.h - trains the weights of the risk classifier: a linear support vector
// machine with squared hinge loss, by dual coordinate descent in a fixed order.
//
// Only additions, multiplications and divisions of doubles, in a fixed order: with IEEE arithmetic,
// equal days have equal weights on every machine.

#include <string>
#include <vector>

#include "agents/rules/risk_model.h"
#include "agents/rules/training/training_days.h"

namespace belay::rules {

// A day with its features.
struct TrainingExample {
  RiskFeatures features;
  bool crisis = false;
  bool labelled = false;  // a day, no template
  bool calm = false;      // a labelled day of low risk
  std::string language;
  double importance = 1;  // of its error
};

std::vector<TrainingExample> examples_of(const std::vector<TrainingDay>& days);

// Returns a model of the examples with these indexes; its marks are not set. Two kinds of days are
// added: long days, which are unions of labelled days without a crisis, and each example together
// with a calm day.
RiskModel trained(const std::vector<TrainingExample>& examples,
                  const std::vector<std::size_t>& indexes);

}  // namespace belay::rules
