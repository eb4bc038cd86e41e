#pragma once
// rules/risk_model.h - the risk classifier: a linear model over risk_features(), trained by
// rules_train on invented days (agents/rules/training/README.md).
//
// A score is in thousandths: below 0, the day resembles the training days without a crisis more.
// It is neither a probability nor a diagnosis. Only integers are used: equal notes have an equal
// score on every machine.
//
// Threading: immutable after read().

#include <array>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "agents/rules/risk_features.h"
#include "belay/result.h"

namespace belay::rules {

inline constexpr std::size_t kRiskReasonsMax = 3;
inline constexpr int kRiskWeightMin = -31;
inline constexpr int kRiskWeightMax = 31;

// Scores from which the classifier changes a level (risk_level.h); chosen by cross-validation.
struct RiskMarks {
  // From here on: level 7. Below, a crisis phrase that is not a statement about the writer counts
  // no more.
  int alarm = 0;
  int high = 0;  // from here on: level 8
};

// Words of a note that weighed much in its score.
struct RiskReason {
  std::string text;  // as written
  std::size_t note_index = 0;
  Span span;
  friend bool operator==(const RiskReason&, const RiskReason&) = default;
};

class RiskModel {
 public:
  struct Block {
    unsigned bits = 0;  // the upper bits of a hash select the weight
    std::int64_t scale = 0;
    std::vector<std::int8_t> weights;
  };

  // Fails with `invalid` if the text is not a model as text() writes it.
  static Result<RiskModel> read(std::string_view text);
  std::string text() const;

  int score(const RiskFeatures& features) const;

  // Returns the words with the greatest share in the score: for `raising`, of a high one, otherwise
  // of a low one. In the order of their weight, at most kRiskReasonsMax.
  std::vector<RiskReason> reasons(const std::vector<RiskNote>& notes, const RiskFeatures& features,
                                  bool raising) const;

  RiskMarks marks;
  int bias = 0;
  std::array<Block, kRiskBlocks> blocks;
};

// Returns the compiled-in model.
const RiskModel& risk_model();

}  // namespace belay::rules
