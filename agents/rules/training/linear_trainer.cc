#include "agents/rules/training/linear_trainer.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <iterator>
#include <string_view>
#include <utility>

namespace belay::rules {
namespace {

constexpr double kCost = 0.3;  // of an error, against the size of the weights
constexpr double kTemplateImportance = 1.5;
constexpr double kLongDayImportance = 0.5;
constexpr std::size_t kLongDays = 200;  // of each language
constexpr std::size_t kPartsMin = 2;    // days that make up a long day
constexpr std::size_t kPartsMore = 8;
constexpr double kMixedImportance = 0.5;
constexpr int kCalmRisk = 3;
constexpr double kRarity = 4;  // the rarity of a feature that counts once
constexpr int kRounds = 10;
constexpr std::array<unsigned, kRiskBlocks> kBits = {16, 17, 16, 16, 12};
constexpr double kUnits = 1000.0 * 1024.0;  // of a block's scale: thousandths; the unit of lengths
constexpr std::size_t kWithinScale = 998;   // of 1000 weights, those that are not clipped

// A value of a row is that of its block, times the rarity of its column.
struct Row {
  std::vector<std::uint32_t> columns;
  std::array<std::size_t, kRiskBlocks> ends{};  // of the blocks, in columns
  std::array<double, kRiskBlocks> values{};
  double square = 1;  // the sum of the squares of its values, with the 1 of the bias
  double sign = 1;
  double limit = 0;  // 1 / (2 * cost)
};

// An example, and whether it was made of others: such a day makes no feature known.
struct Used {
  const TrainingExample* example = nullptr;
  bool added = false;
};

// Returns the hashes of a block that occur in two examples at least, sorted.
std::vector<std::uint64_t> repeated(const std::vector<Used>& examples, std::size_t block) {
  std::vector<std::uint64_t> all;
  for (const Used& each : examples) {
    if (each.added) continue;
    for (const RiskFeature& one : each.example->features.blocks[block]) all.push_back(one.hash);
  }
  std::sort(all.begin(), all.end());
  std::vector<std::uint64_t> out;
  for (std::size_t i = 1; i < all.size(); ++i) {
    if (all[i] == all[i - 1] && (out.empty() || out.back() != all[i])) out.push_back(all[i]);
  }
  return out;
}

std::size_t first_column(std::size_t block) {
  std::size_t first = 0;
  for (std::size_t i = 0; i < block; ++i) first += std::size_t{1} << kBits[i];
  return first;
}

// Returns the natural logarithm of a number from 1 on; std::log is not the same everywhere.
double logarithm(double number) {
  constexpr double kOfTwo = 0.693147180559945309;
  double whole = 0;
  for (; number >= 2; number /= 2) ++whole;
  double part = 1;
  double sum = 0;
  for (int i = 0; i < 30; ++i) {
    number *= number;
    part /= 2;
    if (number < 2) continue;
    number /= 2;
    sum += part;
  }
  return (whole + sum) * kOfTwo;
}

// The rows of examples, and the rarity of each column: the logarithm of the number of examples per
// example that has the column.
struct Table {
  std::vector<Row> rows;
  std::vector<double> rarities;
};

void add_block(const std::vector<Used>& examples, std::size_t block, std::size_t originals,
               Table& table) {
  const std::vector<std::uint64_t> known = repeated(examples, block);
  std::vector<double> counts(std::size_t{1} << kBits[block], 0);
  const std::size_t first = first_column(block);
  for (std::size_t i = 0; i < examples.size(); ++i) {
    const auto& features = examples[i].example->features.blocks[block];
    Row& row = table.rows[i];
    const std::size_t words = examples[i].example->features.words;
    const double part = std::min(1.0, static_cast<double>(kRiskWordsMax) /
                                          static_cast<double>(std::max<std::size_t>(1, words)));
    row.values[block] =
        std::sqrt(part / static_cast<double>(std::max<std::size_t>(1, features.size())));
    for (const RiskFeature& each : features) {
      if (!std::binary_search(known.begin(), known.end(), each.hash)) continue;
      const auto bucket = each.hash >> (64U - kBits[block]);
      row.columns.push_back(static_cast<std::uint32_t>(first + bucket));
      if (!examples[i].added) ++counts[bucket];
    }
    row.ends[block] = row.columns.size();
  }
  for (const double count : counts) {
    const double ratio = static_cast<double>(originals) / std::max(1.0, count);
    table.rarities.push_back(logarithm(std::max(1.0, ratio)) / kRarity);
  }
}

Table table_of(const std::vector<Used>& examples) {
  Table table;
  table.rows.resize(examples.size());
  const auto originals = static_cast<std::size_t>(std::count_if(
      examples.begin(), examples.end(), [](const Used& each) { return !each.added; }));
  for (std::size_t block = 0; block < kRiskBlocks; ++block) {
    add_block(examples, block, originals, table);
  }
  for (std::size_t i = 0; i < examples.size(); ++i) {
    const TrainingExample& example = *examples[i].example;
    Row& row = table.rows[i];
    std::size_t at = 0;
    for (std::size_t block = 0; block < kRiskBlocks; ++block) {
      for (; at < row.ends[block]; ++at) {
        const double value = row.values[block] * table.rarities[row.columns[at]];
        row.square += value * value;
      }
    }
    row.sign = example.crisis ? 1 : -1;
    row.limit = 1 / (2 * kCost * example.importance);
  }
  return table;
}

// The weights, while they are trained.
class Descent {
 public:
  explicit Descent(const Table& table)
      : rows_(table.rows),
        rarities_(table.rarities),
        weights_(first_column(kRiskBlocks), 0.0),
        multipliers_(table.rows.size(), 0.0) {
    for (std::uint32_t i = 0; i < rows_.size(); ++i) order_.push_back(i);
  }

  void round() {
    for (std::size_t i = order_.size(); i > 1; --i) {
      state_ = state_ * 6364136223846793005U + 1442695040888963407U;
      std::swap(order_[i - 1], order_[(state_ >> 33U) % i]);
    }
    for (const std::uint32_t index : order_) step(index);
  }

  // The weights of columns without their rarity.
  std::vector<double> weights() const {
    std::vector<double> out = weights_;
    for (std::size_t i = 0; i < out.size(); ++i) out[i] *= rarities_[i];
    return out;
  }
  double bias() const { return bias_; }

 private:
  double value_of(const Row& row) const {
    double total = bias_;
    std::size_t at = 0;
    for (std::size_t block = 0; block < kRiskBlocks; ++block) {
      double sum = 0;
      for (; at < row.ends[block]; ++at) {
        sum += weights_[row.columns[at]] * rarities_[row.columns[at]];
      }
      total += sum * row.values[block];
    }
    return total;
  }

  void step(std::uint32_t index) {
    const Row& row = rows_[index];
    double& multiplier = multipliers_[index];
    const double slope = row.sign * value_of(row) - 1 + row.limit * multiplier;
    const double next = std::max(0.0, multiplier - slope / (row.square + row.limit));
    const double change = (next - multiplier) * row.sign;
    multiplier = next;
    bias_ += change;
    std::size_t at = 0;
    for (std::size_t block = 0; block < kRiskBlocks; ++block) {
      const double add = change * row.values[block];
      for (; at < row.ends[block]; ++at) {
        weights_[row.columns[at]] += add * rarities_[row.columns[at]];
      }
    }
  }

  const std::vector<Row>& rows_;
  const std::vector<double>& rarities_;
  std::vector<double> weights_;
  std::vector<double> multipliers_;
  std::vector<std::uint32_t> order_;
  double bias_ = 0;
  std::uint64_t state_ = 25;
};

// A linear congruential generator.
class Chooser {
 public:
  explicit Chooser(std::uint64_t seed) : state_(seed) {}
  std::size_t below(std::size_t count) {
    state_ = state_ * 6364136223846793005U + 1442695040888963407U;
    return static_cast<std::size_t>((state_ >> 33U) % count);
  }

 private:
  std::uint64_t state_;
};

void add_features(const TrainingExample& from, TrainingExample& to) {
  to.features.words += from.features.words;
  for (std::size_t block = 0; block < kRiskBlocks; ++block) {
    std::vector<RiskFeature> all;
    std::set_union(to.features.blocks[block].begin(), to.features.blocks[block].end(),
                   from.features.blocks[block].begin(), from.features.blocks[block].end(),
                   std::back_inserter(all),
                   [](const RiskFeature& a, const RiskFeature& b) { return a.hash < b.hash; });
    to.features.blocks[block] = std::move(all);
  }
}

template <typename Condition>
std::vector<const TrainingExample*> in_language(const std::vector<const TrainingExample*>& examples,
                                                std::string_view language, Condition is_chosen) {
  std::vector<const TrainingExample*> out;
  for (const TrainingExample* each : examples) {
    if (each->language == language && is_chosen(*each)) out.push_back(each);
  }
  return out;
}

std::vector<TrainingExample> long_days(const std::vector<const TrainingExample*>& examples) {
  Chooser chooser(2);
  std::vector<TrainingExample> out;
  for (const std::string_view language : {"en", "es"}) {
    const auto calm = in_language(examples, language, [](const TrainingExample& each) {
      return each.labelled && !each.crisis;
    });
    for (std::size_t i = 0; i < kLongDays && !calm.empty(); ++i) {
      TrainingExample example;
      example.importance = kLongDayImportance;
      const std::size_t parts = kPartsMin + chooser.below(kPartsMore);
      for (std::size_t j = 0; j < parts; ++j) {
        add_features(*calm[chooser.below(calm.size())], example);
      }
      out.push_back(std::move(example));
    }
  }
  return out;
}

// Returns each example together with a calm day of its language.
std::vector<TrainingExample> mixed_days(const std::vector<const TrainingExample*>& examples) {
  Chooser chooser(9);
  std::vector<TrainingExample> out;
  for (const std::string_view language : {"en", "es"}) {
    const auto calm =
        in_language(examples, language, [](const TrainingExample& each) { return each.calm; });
    for (const TrainingExample* each : examples) {
      if (each->language != language || calm.empty()) continue;
      TrainingExample example;
      example.crisis = each->crisis;
      example.importance = kMixedImportance;
      add_features(*each, example);
      add_features(*calm[chooser.below(calm.size())], example);
      out.push_back(std::move(example));
    }
  }
  return out;
}

int rounded(double value) { return static_cast<int>(std::floor(value + 0.5)); }

RiskModel::Block rounded_block(const std::vector<double>& weights, std::size_t block) {
  const std::size_t first = first_column(block);
  const std::size_t limit = first_column(block + 1);
  std::vector<double> sizes;
  for (std::size_t i = first; i < limit; ++i) {
    if (weights[i] != 0) sizes.push_back(std::max(weights[i], -weights[i]));
  }
  std::sort(sizes.begin(), sizes.end());
  const double largest = sizes.empty() ? 1 : sizes[(sizes.size() - 1) * kWithinScale / 1000];
  const double unit = largest / kRiskWeightMax;
  RiskModel::Block out;
  out.bits = kBits[block];
  out.scale = static_cast<std::int64_t>(std::floor(unit * kUnits + 0.5));
  for (std::size_t i = first; i < limit; ++i) {
    const int weight = std::clamp(rounded(weights[i] / unit), kRiskWeightMin, kRiskWeightMax);
    out.weights.push_back(static_cast<std::int8_t>(weight));
  }
  return out;
}

}  // namespace

std::vector<TrainingExample> examples_of(const std::vector<TrainingDay>& days) {
  std::vector<TrainingExample> examples;
  for (const TrainingDay& day : days) {
    std::vector<std::string> texts;
    std::vector<Words> words;
    for (const std::string& note : day.notes) {
      texts.push_back(readable(note));
      words.push_back(words_of(texts.back()));
    }
    std::vector<RiskNote> notes;
    for (std::size_t i = 0; i < texts.size(); ++i) notes.push_back({texts[i], &words[i]});
    const bool labelled = day.kind != "template";
    const bool calm = labelled && !day.crisis && day.risk <= kCalmRisk;
    examples.push_back({risk_features(notes), day.crisis, labelled, calm, day.language,
                        labelled ? 1 : kTemplateImportance});
  }
  return examples;
}

RiskModel trained(const std::vector<TrainingExample>& examples,
                  const std::vector<std::size_t>& indexes) {
  std::vector<const TrainingExample*> chosen;
  std::vector<Used> used;
  for (const std::size_t index : indexes) {
    chosen.push_back(&examples[index]);
    used.push_back({&examples[index], false});
  }
  const std::vector<TrainingExample> longer = long_days(chosen);
  const std::vector<TrainingExample> mixed = mixed_days(chosen);
  for (const TrainingExample& each : longer) used.push_back({&each, true});
  for (const TrainingExample& each : mixed) used.push_back({&each, true});
  const Table table = table_of(used);
  Descent descent(table);
  for (int i = 0; i < kRounds; ++i) descent.round();
  RiskModel model;
  model.bias = rounded(descent.bias() * 1000);
  const std::vector<double> weights = descent.weights();
  for (std::size_t block = 0; block < kRiskBlocks; ++block) {
    model.blocks[block] = rounded_block(weights, block);
  }
  return model;
}

}  // namespace belay::rules
