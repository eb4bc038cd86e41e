#include "agents/rules/training/cross_validation.h"

#include <algorithm>
#include <array>
#include <set>
#include <utility>

namespace belay::rules {
namespace {

constexpr std::size_t kFolds = 5;
constexpr int kVeryHeavy = 7;           // a day without a crisis that may be at the alarm
constexpr std::size_t kHighFalse = 30;  // of 1000 days without a crisis at the mark `high`

// Returns the folds of kinds: the kinds of both classes in turn, each class for itself.
std::vector<std::size_t> folds_of_kinds(const std::vector<TrainingDay>& days) {
  std::array<std::set<std::string>, 2> kinds;
  for (const TrainingDay& day : days) kinds[day.crisis ? 1 : 0].insert(day.kind);
  std::vector<std::size_t> folds;
  for (const TrainingDay& day : days) {
    const std::set<std::string>& all = kinds[day.crisis ? 1 : 0];
    const auto place = std::distance(all.begin(), all.find(day.kind));
    folds.push_back(static_cast<std::size_t>(place) % kFolds);
  }
  return folds;
}

// The scores of the labelled days of each class, sorted.
struct Scores {
  std::vector<int> crisis;
  std::vector<int> calm;  // without the very heavy days
};

Scores sorted_scores(const std::vector<TrainingDay>& days, const std::vector<int>& scores) {
  Scores out;
  for (std::size_t i = 0; i < scores.size(); ++i) {
    if (days[i].crisis) out.crisis.push_back(scores[i]);
    if (!days[i].crisis && days[i].risk < kVeryHeavy) out.calm.push_back(scores[i]);
  }
  std::sort(out.crisis.begin(), out.crisis.end());
  std::sort(out.calm.begin(), out.calm.end());
  return out;
}

std::size_t at_least(const std::vector<int>& sorted, int mark) {
  const auto first = std::lower_bound(sorted.begin(), sorted.end(), mark);
  return static_cast<std::size_t>(sorted.end() - first);
}

}  // namespace

std::vector<int> held_out_scores(const std::vector<TrainingDay>& days,
                                 const std::vector<TrainingExample>& examples, Folds folds) {
  std::size_t labelled = 0;
  while (labelled < days.size() && days[labelled].kind != "template") ++labelled;
  const std::vector<TrainingDay> all(days.begin(),
                                     days.begin() + static_cast<std::ptrdiff_t>(labelled));
  std::vector<std::size_t> fold_of = folds_of_kinds(all);
  if (folds == Folds::days) {
    for (std::size_t i = 0; i < labelled; ++i) fold_of[i] = i % kFolds;
  }
  std::vector<int> scores(labelled, 0);
  for (std::size_t fold = 0; fold < kFolds; ++fold) {
    std::vector<std::size_t> used;
    for (std::size_t i = 0; i < days.size(); ++i) {
      if (i >= labelled || fold_of[i] != fold) used.push_back(i);
    }
    const RiskModel model = trained(examples, used);
    for (std::size_t i = 0; i < labelled; ++i) {
      if (fold_of[i] == fold) scores[i] = model.score(examples[i].features);
    }
  }
  return scores;
}

RiskMarks marks_of(const std::vector<TrainingDay>& days, const std::vector<int>& scores) {
  const Scores sorted = sorted_scores(days, scores);
  RiskMarks marks;
  BELAY_ASSERT(!sorted.crisis.empty() && !sorted.calm.empty());
  marks.high = sorted.calm[sorted.calm.size() * (1000 - kHighFalse) / 1000];
  // The greatest difference between the two shares: recall minus false alarms.
  std::int64_t best = -1;
  for (const int mark : sorted.crisis) {
    const auto found =
        static_cast<std::int64_t>(at_least(sorted.crisis, mark) * sorted.calm.size());
    const auto wrong =
        static_cast<std::int64_t>(at_least(sorted.calm, mark) * sorted.crisis.size());
    if (found - wrong <= best) continue;
    best = found - wrong;
    marks.alarm = mark;
  }
  return marks;
}

std::string curve_markdown(const std::vector<TrainingDay>& days, const std::vector<int>& scores) {
  const Scores sorted = sorted_scores(days, scores);
  std::string out = "| mark | days of crisis found | false alarms |\n|---|---|---|\n";
  for (int mark = 1200; mark >= -1200; mark -= 200) {
    out += "| " + std::to_string(mark) + " | " + std::to_string(at_least(sorted.crisis, mark)) +
           " of " + std::to_string(sorted.crisis.size()) + " | " +
           std::to_string(at_least(sorted.calm, mark)) + " of " +
           std::to_string(sorted.calm.size()) + " |\n";
  }
  return out;
}

}  // namespace belay::rules
