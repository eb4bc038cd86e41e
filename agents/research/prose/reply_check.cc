// The check of a reply: each sentence against the rules, each quote against the filing.

#include <algorithm>
#include <utility>

#include "agents/research/prose/model_summary.h"
#include "agents/research/prose/phrase_words.h"
#include "agents/research/prose/sentence_rules.h"

namespace belay::research {
namespace {

constexpr std::size_t kProblemsMax = 10;
constexpr std::size_t kShownBytesMax = 200;
constexpr std::size_t kReadSentencesMax = 50;  // further ones are not looked at
constexpr std::size_t kReplyDepthMax = 8;

using FoundQuotes = std::vector<QuotePlace>;

// Collects the sentences of one reply.
class ReplyCheck {
 public:
  explicit ReplyCheck(const FilingExcerpt& excerpt) : excerpt_(excerpt) {}

  void add(const Value& sentence) {
    const std::string* text = sentence["text"].as_string();
    if (text == nullptr) return drop(checked_.dropped.malformed, "A sentence has no text", "");
    if (!is_plain_sentence(*text) || is_known(*text)) {
      return drop(checked_.dropped.malformed,
                  "A sentence is not one line of plain text, is too long, or is repeated", *text);
    }
    if (checked_.sentences.size() == kProseSentencesMax) {
      return drop(checked_.dropped.malformed, "There are too many sentences", *text);
    }
    if (has_advice(*text)) {
      return drop(checked_.dropped.advice, "A sentence contains advice or a rating", *text);
    }
    const FoundQuotes quotes = found_quotes(sentence["quotes"]);
    if (quotes.empty()) {
      return drop(checked_.dropped.unquoted, "A sentence has no quote of the report", *text);
    }
    if (!numbers_are_quoted(*text, quotes) || !characters_are_quoted(*text, quotes)) {
      return drop(checked_.dropped.numbers,
                  "A sentence has a number or a sign that its quotes do not contain", *text);
    }
    ProseSentence kept{*text, {}};
    for (const QuotePlace& quote : quotes) kept.quotes.push_back(quote.quote());
    checked_.sentences.push_back(std::move(kept));
  }

  void add_all(const Value::Array& sentences) {
    const std::size_t read = std::min(sentences.size(), kReadSentencesMax);
    for (std::size_t i = 0; i < read; ++i) add(sentences[i]);
    checked_.dropped.malformed += static_cast<std::int64_t>(sentences.size() - read);
  }

  CheckedReply take() { return std::move(checked_); }

 private:
  // Returns the valid quotes of a sentence, each once.
  FoundQuotes found_quotes(const Value& quotes) {
    FoundQuotes found;
    const Value::Array one{quotes};
    const Value::Array& all = quotes.as_array() != nullptr ? *quotes.as_array() : one;
    for (std::size_t i = 0; i < std::min(all.size(), kSentenceQuotesMax); ++i) {
      const std::string* text = all[i].as_string();
      const auto place = text != nullptr ? find_in_excerpt(excerpt_, *text) : std::nullopt;
      if (!place) {
        drop(checked_.dropped.quotes, "The report does not contain this quote",
             text != nullptr ? *text : "");
        continue;
      }
      const auto is_same = [&place](const QuotePlace& other) {
        return other.paragraph == place->paragraph && other.span == place->span;
      };
      if (std::none_of(found.begin(), found.end(), is_same)) found.push_back(*place);
    }
    return found;
  }

  bool is_known(std::string_view text) const {
    return std::any_of(checked_.sentences.begin(), checked_.sentences.end(),
                       [text](const ProseSentence& sentence) { return sentence.text == text; });
  }

  void drop(std::int64_t& count, std::string_view reason, std::string_view shown) {
    ++count;
    if (checked_.problems.size() == kProblemsMax) return;
    std::string problem(reason);
    const std::string text = shown_text(shown, kShownBytesMax);
    if (!text.empty()) problem += ": " + text;
    checked_.problems.push_back(std::move(problem));
  }

  const FilingExcerpt& excerpt_;
  CheckedReply checked_;
};

CheckedReply unreadable(std::string fault) {
  CheckedReply checked;
  checked.fault = std::move(fault);
  return checked;
}

// Returns the text from the first "{" to the last "}": some models add a code fence or a greeting.
std::string_view object_in(std::string_view text) {
  const std::size_t begin = text.find('{');
  const std::size_t end = text.rfind('}');
  if (begin == text.npos || end == text.npos || end < begin) return {};
  return text.substr(begin, end + 1 - begin);
}

}  // namespace

DroppedProse& DroppedProse::operator+=(const DroppedProse& other) {
  malformed += other.malformed;
  advice += other.advice;
  unquoted += other.unquoted;
  numbers += other.numbers;
  quotes += other.quotes;
  return *this;
}

CheckedReply checked_reply(const ModelReply& reply, const FilingExcerpt& excerpt) {
  if (reply.stop_reason == StopReason::refused) return unreadable("the model refused the request");
  if (reply.stop_reason == StopReason::length) {
    return unreadable("the reply was cut at its maximum length; a shorter one is required");
  }
  if (reply.text.size() > kProseReplyBytesMax) {
    return unreadable("the reply has more than " + std::to_string(kProseReplyBytesMax) + " bytes");
  }
  const Result<Value> value = parse_json(object_in(reply.text), kReplyDepthMax);
  if (!value.ok()) return unreadable("the reply is not a JSON object");
  const Value::Array* sentences = (*value)["sentences"].as_array();
  if (sentences == nullptr) return unreadable("the reply has no array \"sentences\"");
  ReplyCheck check(excerpt);
  check.add_all(*sentences);
  return check.take();
}

}  // namespace belay::research
