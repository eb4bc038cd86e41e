#include "agents/rules/risk_features.h"

#include <algorithm>
#include <optional>
#include <string>
#include <tuple>
#include <utility>

#include "agents/rules/concepts.h"
#include "agents/rules/risk_signs.h"

namespace belay::rules {
namespace {

constexpr std::size_t kLettersMin = 3;
constexpr std::size_t kLettersMax = 5;
constexpr std::size_t kStartBytes = 5;
constexpr std::size_t kOrderedReach = 5;  // words between two concepts of an ordered pair
constexpr std::size_t kTripleReach = 6;
constexpr std::size_t kPairReach = 12;  // concepts; limits the work for a text without sentences

constexpr std::size_t kWords = 0;
constexpr std::size_t kLetters = 1;
constexpr std::size_t kConcepts = 2;
constexpr std::size_t kStarts = 3;
constexpr std::size_t kSigns = 4;

// FNV-1a, then a mix of the bits: the upper bits select the weight.
class Hash {
 public:
  explicit Hash(char kind) { add(kind); }
  Hash& add(char c) {
    value_ = (value_ ^ static_cast<std::uint8_t>(c)) * 0x100000001B3U;
    return *this;
  }
  Hash& add(std::string_view text) {
    for (const char c : text) add(c);
    return add('\x1f');
  }
  Hash& add(std::uint32_t number) {
    for (int shift = 0; shift < 32; shift += 8) add(static_cast<char>((number >> shift) & 0xFF));
    return *this;
  }
  std::uint64_t value() const {
    std::uint64_t mixed = value_;
    mixed = (mixed ^ (mixed >> 33)) * 0xFF51AFD7ED558CCDU;
    mixed = (mixed ^ (mixed >> 33)) * 0xC4CEB9FE1A85EC53U;
    return mixed ^ (mixed >> 33);
  }

 private:
  std::uint64_t value_ = 0xCBF29CE484222325U;
};

// A word of a sentence, or a quotation mark.
struct Item {
  std::string_view text;
  std::uint32_t token = 0;  // a quotation mark has that of the word after it
  std::optional<std::uint32_t> meaning;
};

bool ends_sentence(std::string_view gap) {
  return gap.find_first_of(".!?\n") != std::string_view::npos ||
         gap.find("\u2026") != std::string_view::npos;
}

bool has_quotation_mark(std::string_view gap) {
  constexpr std::array<std::string_view, 5> kMarks = {"\"", "\u00AB", "\u00BB", "\u201C", "\u201D"};
  return std::any_of(kMarks.begin(), kMarks.end(),
                     [&](std::string_view mark) { return gap.find(mark) != gap.npos; });
}

class FeatureReader {
 public:
  explicit FeatureReader(RiskFeatures& out) : out_(out) {}

  void read(const RiskNote& note, std::uint32_t index) {
    note_ = index;
    std::vector<Item> sentence;
    std::size_t end = 0;
    const std::vector<Token>& tokens = note.words->tokens;
    std::vector<std::optional<std::uint32_t>> meanings;
    for (const std::string& word : note.words->vocabulary) {
      meanings.push_back(concepts().of(word));
    }
    for (std::uint32_t at = 0; at < tokens.size(); ++at) {
      const Token& token = tokens[at];
      if (token.span.begin > end) {
        const std::string_view gap = note.text.substr(end, token.span.begin - end);
        if (ends_sentence(gap)) add_sentence(sentence);
        if (has_quotation_mark(gap)) sentence.push_back({"\"", at, std::nullopt});
      }
      sentence.push_back({note.words->vocabulary[token.word], at, meanings[token.word]});
      end = std::max(end, token.span.end);
    }
    add_sentence(sentence);
  }

 private:
  void add(std::size_t block, const Hash& hash, const Item& first, const Item& last) {
    out_.blocks[block].push_back({hash.value(), note_, first.token, last.token});
  }

  void add_sentence(std::vector<Item>& sentence) {
    if (sentence.empty()) return;
    add_words(sentence);
    add_letters(sentence);
    add_concepts(sentence);
    add_starts(sentence);
    sentence.clear();
  }

  void add_words(const std::vector<Item>& items) {
    for (std::size_t i = 0; i < items.size(); ++i) {
      add(kWords, Hash('1').add(items[i].text), items[i], items[i]);
      if (i + 1 >= items.size()) continue;
      const Hash pair = Hash('2').add(items[i].text).add(items[i + 1].text);
      add(kWords, pair, items[i], items[i + 1]);
      if (i + 2 >= items.size()) continue;
      add(kWords, Hash(pair).add('3').add(items[i + 2].text), items[i], items[i + 2]);
      add(kWords, Hash('4').add(items[i].text).add(items[i + 2].text), items[i], items[i + 2]);
    }
  }

  void add_letters(const std::vector<Item>& items) {
    std::string text = " ";
    std::vector<std::uint32_t> item_of = {0};
    for (std::uint32_t i = 0; i < items.size(); ++i) {
      text.append(items[i].text).push_back(' ');
      item_of.resize(text.size(), i);
    }
    for (std::size_t begin = 0; begin < text.size(); ++begin) {
      Hash hash('c');
      for (std::size_t length = 1; length <= kLettersMax; ++length) {
        if (begin + length > text.size()) break;
        hash.add(text[begin + length - 1]);
        if (length < kLettersMin) continue;
        add(kLetters, hash, items[item_of[begin]], items[item_of[begin + length - 1]]);
      }
    }
  }

  void add_concepts(const std::vector<Item>& items) {
    std::vector<std::size_t> places;
    for (std::size_t i = 0; i < items.size(); ++i) {
      if (items[i].meaning) places.push_back(i);
    }
    for (std::size_t a = 0; a < places.size(); ++a) {
      const Item& first = items[places[a]];
      add(kConcepts, Hash('u').add(*first.meaning), first, first);
      for (std::size_t b = a + 1; b < std::min(places.size(), a + 1 + kPairReach); ++b) {
        const Item& second = items[places[b]];
        const auto [low, high] = std::minmax(*first.meaning, *second.meaning);
        if (low != high) add(kConcepts, Hash('p').add(low).add(high), first, second);
        const Hash ordered = Hash('s').add(*first.meaning).add(*second.meaning);
        if (places[b] - places[a] <= kOrderedReach) add(kConcepts, ordered, first, second);
        if (b + 1 >= places.size() || places[b + 1] - places[a] > kTripleReach) continue;
        const Item& third = items[places[b + 1]];
        add(kConcepts, Hash(ordered).add('t').add(*third.meaning), first, third);
      }
    }
  }

  void add_starts(const std::vector<Item>& items) {
    const auto start = [&](std::size_t i) { return items[i].text.substr(0, kStartBytes); };
    for (std::size_t i = 0; i < items.size(); ++i) {
      add(kStarts, Hash('x').add(start(i)), items[i], items[i]);
      if (i + 1 >= items.size()) continue;
      add(kStarts, Hash('y').add(start(i)).add(start(i + 1)), items[i], items[i + 1]);
      if (i + 2 >= items.size()) continue;
      add(kStarts, Hash('z').add(start(i)).add(start(i + 2)), items[i], items[i + 2]);
    }
  }

  RiskFeatures& out_;
  std::uint32_t note_ = 0;
};

}  // namespace

RiskFeatures risk_features(const std::vector<RiskNote>& notes) {
  RiskFeatures out;
  FeatureReader reader(out);
  for (std::uint32_t i = 0; i < notes.size(); ++i) reader.read(notes[i], i);
  for (const RiskNote& note : notes) out.words += note.words->tokens.size();
  for (const RiskSign& sign : risk_signs(notes)) {
    out.blocks[kSigns].push_back(
        {Hash('g').add(sign.name).value(), sign.note, sign.first_token, sign.last_token});
  }
  for (std::vector<RiskFeature>& block : out.blocks) {
    std::sort(block.begin(), block.end(), [](const RiskFeature& a, const RiskFeature& b) {
      return std::tie(a.hash, a.note, a.first_token, a.last_token) <
             std::tie(b.hash, b.note, b.first_token, b.last_token);
    });
    const auto same = [](const RiskFeature& a, const RiskFeature& b) { return a.hash == b.hash; };
    block.erase(std::unique(block.begin(), block.end(), same), block.end());
  }
  return out;
}

}  // namespace belay::rules
