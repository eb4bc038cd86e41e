// The rules of prose that need more than a pattern.

#include <algorithm>
#include <cctype>

#include "tests/tidy/prose_rules.h"

namespace belay::tidy {
namespace {

template <std::size_t N>
bool is_one_of(std::string_view word, const std::string_view (&words)[N]) {
  return std::find(std::begin(words), std::end(words), word) != std::end(words);
}

// "no longer", "no more than": not a missing noun.
constexpr std::string_view kAfterNo[] = {"longer",    "more", "less", "other",
                                         "different", "need", "such"};

constexpr std::string_view kParticiples[] = {
    "built", "caught", "cut",  "done", "found", "had",  "heard", "held",   "kept", "known",
    "left",  "let",    "lost", "made", "met",   "paid", "put",   "read",   "run",  "said",
    "sent",  "set",    "sold", "told", "won",   "gone", "begun", "thought"};

// Before "'s": "it's" is a contraction, "thread's" is not.
constexpr std::string_view kWithIs[] = {"here's", "he's",    "it's",   "let's", "she's",
                                        "that's", "there's", "what's", "who's", "where's"};
constexpr std::string_view kContracted[] = {"n't", "'re", "'ve", "'ll", "'m", "'d"};

bool is_participle(std::string_view word) {
  return word.ends_with("ed") || word.ends_with("en") || word.ends_with("wn") ||
         is_one_of(word, kParticiples);
}

bool is_contraction(std::string_view word) {
  return is_one_of(word, kWithIs) ||
         std::any_of(std::begin(kContracted), std::end(kContracted),
                     [&](std::string_view end) { return word.ends_with(end); });
}

bool ends_with_question(const Passage& passage, std::size_t at) {
  for (std::size_t i = at + 1; i < passage.words.size(); ++i) {
    Gap gap = passage.words[i].gap;
    if (gap == Gap::sentence || gap == Gap::question) return gap == Gap::question;
  }
  return passage.end == Gap::question;
}

class CodeRules {
 public:
  CodeRules(const Passage& passage, const std::string& path) : passage_(passage), path_(path) {}

  std::vector<Hit> run() {
    for (at_ = 0; at_ < passage_.words.size(); ++at_) step();
    return std::move(hits_);
  }

 private:
  void step() {
    std::string word = lower_at(0);
    if (word == "what" && starts_sentence() && !ends_with_question(passage_, at_)) {
      add(std::string(kWhatSentence), "begin with the noun");
    }
    if (word == "is" && lower_at(1) == "no" && !lower_at(2).empty() && !follows_there() &&
        !is_one_of(lower_at(2), kAfterNo)) {
      add("x is no y", "is not a valid y, is not a y");
    }
    if ((word == "is" || word == "are") && lower_at(1) == "to" && lower_at(2) == "be" &&
        is_participle(lower_at(3))) {
      add("(is|are) to be + participle", "must be, will be");
    }
    if (is_message() && is_contraction(word)) {
      add("contraction in a string literal", "cannot, does not, it is");
    }
  }

  bool starts_sentence() const {
    Gap gap = passage_.words[at_].gap;
    return gap == Gap::sentence || gap == Gap::question;
  }

  // A literal of one word is data, such as an entry of a lexicon.
  bool is_message() const { return passage_.source == Source::string && passage_.words.size() > 1; }

  bool follows_there() const {
    if (at_ == 0 || passage_.words[at_].gap != Gap::space) return false;
    return lower(passage_.words[at_ - 1].text) == "there";
  }

  // The word `ahead` of this one in lower case; empty if punctuation separates them.
  std::string lower_at(std::size_t ahead) const {
    if (at_ + ahead >= passage_.words.size()) return "";
    for (std::size_t i = 1; i <= ahead; ++i) {
      if (passage_.words[at_ + i].gap != Gap::space) return "";
    }
    return lower(passage_.words[at_ + ahead].text);
  }

  static std::string lower(std::string_view word) {
    std::string text(word);
    for (char& c : text) c = static_cast<char>(std::tolower(static_cast<unsigned char>(c)));
    return text;
  }

  void add(std::string phrase, std::string instead) {
    hits_.push_back(
        {path_, passage_.words[at_].line, passage_.source, std::move(phrase), std::move(instead)});
  }

  const Passage& passage_;
  const std::string& path_;
  std::vector<Hit> hits_;
  std::size_t at_ = 0;
};

}  // namespace

std::vector<Hit> find_by_code(const Passage& passage, const std::string& path) {
  return CodeRules(passage, path).run();
}

}  // namespace belay::tidy
