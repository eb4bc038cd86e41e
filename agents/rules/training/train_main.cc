// Trains the risk classifier and prints agents/rules/risk_model.txt:
//   rules_train [--curves] [FOLDER]
// FOLDER contains the training days; its default is a path from the repository's root. --curves
// prints recall and false alarms in the cross-validation instead. Exit status 1: something could
// not be read.

#include <cstdio>
#include <string>
#include <string_view>

#include "agents/rules/training/cross_validation.h"

int main(int argc, char** argv) {
  using namespace belay::rules;
  const bool curves = argc > 1 && std::string_view(argv[1]) == "--curves";
  const int at = curves ? 2 : 1;
  const auto days = read_training_days(argc > at ? argv[at] : "agents/rules/training");
  if (!days.ok()) {
    std::fprintf(stderr, "rules_train: %s\n", days.error().message.c_str());
    return 1;
  }
  const auto examples = examples_of(*days);
  const std::vector<int> scores = held_out_scores(*days, examples, Folds::days);
  if (curves) {
    const std::vector<int> kinds = held_out_scores(*days, examples, Folds::kinds);
    std::printf("Days left out:\n\n%s\nKinds left out:\n\n%s",
                curve_markdown(*days, scores).c_str(), curve_markdown(*days, kinds).c_str());
    return 0;
  }
  std::vector<std::size_t> all;
  for (std::size_t i = 0; i < examples.size(); ++i) all.push_back(i);
  RiskModel model = trained(examples, all);
  model.marks = marks_of(*days, scores);
  std::fputs(model.text().c_str(), stdout);
  return 0;
}
