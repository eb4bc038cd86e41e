#include "agents/rules/risk_model.h"

#include <algorithm>
#include <charconv>
#include <optional>
#include <tuple>
#include <utility>

#include "agents/rules/lexicon_text.h"

namespace belay::rules {
namespace {

constexpr std::string_view kDigits =
    "0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz-_";
constexpr int kZeroDigit = 32;
constexpr std::size_t kWeightsPerLine = 96;
constexpr unsigned kBitsMin = 4;
constexpr unsigned kBitsMax = 18;
constexpr unsigned kRootShift = 20;
constexpr std::int64_t kShareUnits = 1024;
constexpr std::size_t kReasonWordsMin = 2;
constexpr std::size_t kReasonWordsMax = 6;

std::uint64_t root_of(std::uint64_t value) {
  std::uint64_t root = 0;
  for (std::uint64_t bit = std::uint64_t{1} << 31; bit != 0; bit >>= 1) {
    if ((root + bit) * (root + bit) <= value) root += bit;
  }
  return root;
}

// Returns 1024 times the root of the number of features: the divisor of their weights.
std::int64_t length_of(const std::vector<RiskFeature>& features) {
  const std::uint64_t count = std::max<std::uint64_t>(1, features.size());
  return static_cast<std::int64_t>(root_of(count << kRootShift));
}

int weight_of(const RiskModel::Block& block, const RiskFeature& feature) {
  return block.weights[feature.hash >> (64U - block.bits)];
}

// Reads the lines of a model.
class Lines {
 public:
  explicit Lines(std::string_view text) : rest_(text) {}

  std::string_view next() {
    while (!rest_.empty()) {
      const std::size_t end = std::min(rest_.find('\n'), rest_.size());
      const std::string_view line = rest_.substr(0, end);
      rest_.remove_prefix(std::min(end + 1, rest_.size()));
      if (!line.empty() && !line.starts_with('#')) return line;
    }
    return "";
  }

  // Returns the number of the next line, which is "NAME NUMBER".
  std::optional<std::int64_t> number(std::string_view name) {
    std::string_view line = next();
    if (!line.starts_with(name) || line.size() <= name.size()) return std::nullopt;
    line.remove_prefix(name.size() + 1);
    std::int64_t value = 0;
    const auto read = std::from_chars(line.data(), line.data() + line.size(), value);
    if (read.ec != std::errc{} || read.ptr != line.data() + line.size()) return std::nullopt;
    return value;
  }

 private:
  std::string_view rest_;
};

bool read_weights(Lines& lines, RiskModel::Block& block) {
  const std::size_t count = std::size_t{1} << block.bits;
  block.weights.reserve(count);
  while (block.weights.size() < count) {
    const std::string_view line = lines.next();
    if (line.empty() || line.size() > count - block.weights.size()) return false;
    for (const char c : line) {
      const std::size_t digit = kDigits.find(c);
      if (digit == std::string_view::npos || digit == 0) return false;
      block.weights.push_back(static_cast<std::int8_t>(static_cast<int>(digit) - kZeroDigit));
    }
  }
  return true;
}

bool read_block(Lines& lines, std::string_view name, RiskModel::Block& block) {
  const auto bits = lines.number(std::string(name) + "-bits");
  const auto scale = lines.number(std::string(name) + "-scale");
  if (!bits || *bits < kBitsMin || *bits > kBitsMax || !scale) return false;
  if (*scale < 0 || *scale > (std::int64_t{1} << 40)) return false;
  block.bits = static_cast<unsigned>(*bits);
  block.scale = *scale;
  return read_weights(lines, block);
}

bool read_mark(Lines& lines, std::string_view name, int& mark) {
  constexpr std::int64_t kScoreMax = 1'000'000;
  const auto value = lines.number(name);
  if (!value || *value < -kScoreMax || *value > kScoreMax) return false;
  mark = static_cast<int>(*value);
  return true;
}

// The tokens [first, limit) of a note, with their part of the score.
struct Passage {
  std::int64_t share = 0;
  std::size_t note = 0;
  std::size_t first = 0;
  std::size_t limit = 0;
};

bool overlap(const Passage& a, const Passage& b) {
  return a.note == b.note && a.first < b.limit && b.first < a.limit;
}

void add_passages(const Words& words, std::size_t note, const std::vector<std::int64_t>& shares,
                  std::vector<Passage>& out) {
  for (std::size_t first = 0; first < shares.size(); ++first) {
    Passage passage{0, note, first, first};
    while (passage.limit < shares.size() && passage.limit - first < kReasonWordsMax) {
      if (passage.limit > first && words.tokens[passage.limit].pause_before) break;
      passage.share += shares[passage.limit++];
      if (passage.limit - first >= kReasonWordsMin && passage.share > 0) out.push_back(passage);
    }
  }
}

}  // namespace

Result<RiskModel> RiskModel::read(std::string_view text) {
  RiskModel model;
  Lines lines(text);
  bool good = read_mark(lines, "bias", model.bias) &&
              read_mark(lines, "alarm", model.marks.alarm) &&
              read_mark(lines, "high", model.marks.high);
  for (std::size_t i = 0; good && i < kRiskBlocks; ++i) {
    good = read_block(lines, kRiskBlockNames[i], model.blocks[i]);
  }
  if (!good || !lines.next().empty()) {
    return error(ErrorCode::invalid, "The text is not a model of the risk classifier.");
  }
  return model;
}

std::string RiskModel::text() const {
  std::string out = "bias " + std::to_string(bias) + "\nalarm " + std::to_string(marks.alarm) +
                    "\nhigh " + std::to_string(marks.high) + "\n";
  for (std::size_t i = 0; i < kRiskBlocks; ++i) {
    const std::string name(kRiskBlockNames[i]);
    out += name + "-bits " + std::to_string(blocks[i].bits) + "\n";
    out += name + "-scale " + std::to_string(blocks[i].scale) + "\n";
    std::size_t on_line = 0;
    for (const std::int8_t weight : blocks[i].weights) {
      const int digit = weight + kZeroDigit;
      out += kDigits[static_cast<std::size_t>(digit)];
      if (++on_line % kWeightsPerLine == 0) out += '\n';
    }
    if (on_line % kWeightsPerLine != 0) out += '\n';
  }
  return out;
}

int RiskModel::score(const RiskFeatures& features) const {
  std::int64_t total = 0;
  for (std::size_t i = 0; i < kRiskBlocks; ++i) {
    std::int64_t sum = 0;
    for (const RiskFeature& feature : features.blocks[i]) sum += weight_of(blocks[i], feature);
    total += sum * blocks[i].scale / length_of(features.blocks[i]);
  }
  if (features.words > kRiskWordsMax) {
    const std::uint64_t part = (std::uint64_t{kRiskWordsMax} << kRootShift) / features.words;
    total = total * static_cast<std::int64_t>(root_of(part)) / kShareUnits;
  }
  return static_cast<int>(total + bias);
}

std::vector<RiskReason> RiskModel::reasons(const std::vector<RiskNote>& notes,
                                           const RiskFeatures& features, bool raising) const {
  std::vector<std::vector<std::int64_t>> shares;
  for (const RiskNote& note : notes) shares.emplace_back(note.words->tokens.size(), 0);
  for (std::size_t i = 0; i < kRiskBlocks; ++i) {
    const std::int64_t length = length_of(features.blocks[i]);
    for (const RiskFeature& feature : features.blocks[i]) {
      const std::int64_t weight = weight_of(blocks[i], feature) * (raising ? 1 : -1);
      const std::int64_t words = feature.last_token - feature.first_token + 1;
      const std::int64_t share = weight * blocks[i].scale * kShareUnits / length / words;
      for (std::size_t at = feature.first_token; at <= feature.last_token; ++at) {
        shares[feature.note][at] += share;
      }
    }
  }
  std::vector<Passage> passages;
  for (std::size_t i = 0; i < notes.size(); ++i) {
    add_passages(*notes[i].words, i, shares[i], passages);
  }
  std::sort(passages.begin(), passages.end(), [](const Passage& a, const Passage& b) {
    return std::tie(b.share, a.note, a.first, a.limit) <
           std::tie(a.share, b.note, b.first, b.limit);
  });
  std::vector<Passage> chosen;
  std::vector<RiskReason> out;
  for (const Passage& each : passages) {
    if (out.size() == kRiskReasonsMax) break;
    const auto meets = [&](const Passage& other) { return overlap(each, other); };
    if (std::any_of(chosen.begin(), chosen.end(), meets)) continue;
    chosen.push_back(each);
    const std::vector<Token>& tokens = notes[each.note].words->tokens;
    const Span span{tokens[each.first].span.begin, tokens[each.limit - 1].span.end};
    out.push_back({std::string(notes[each.note].text.substr(span.begin, span.end - span.begin)),
                   each.note, span});
  }
  return out;
}

const RiskModel& risk_model() {
  static const RiskModel kModel = [] {
    auto read = RiskModel::read(kRiskModelText);
    BELAY_ASSERT(read.ok());
    return *std::move(read);
  }();
  return kModel;
}

}  // namespace belay::rules
