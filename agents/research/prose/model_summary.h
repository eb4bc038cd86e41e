#pragma once
// agents/research/prose/model_summary.h - the request for a summary, and the check of its reply.
//
// All functions are pure. A reply is data from a third party: nothing of it is used unchecked, and
// a damaged one only has no sentences.

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "agents/research/prose/filing_excerpt.h"
#include "belay/model.h"

namespace belay::research {

inline constexpr std::string_view kProsePurpose = "research/prose";  // ModelRequest::purpose
inline constexpr std::size_t kProseReplyBytesMax = 64 * 1024;
inline constexpr std::size_t kProseSentencesMax = 8;  // further ones are dropped
inline constexpr std::size_t kProseSentencesMin = 2;  // with fewer, a text is not usable
inline constexpr std::size_t kSentenceQuotesMax = 3;  // further ones are dropped

struct ProseSentence {
  std::string text;
  std::vector<Quote> quotes;  // of the filing; at least one

  bool operator==(const ProseSentence&) const = default;
};

// The sentences and quotes of the replies that were not used, by the first reason.
struct DroppedProse {
  std::int64_t malformed = 0;  // not a sentence of plain text, repeated, or too many
  std::int64_t advice = 0;     // recommends a transaction, or rates or prices the shares
  std::int64_t unquoted = 0;   // without a quote that is in the filing
  std::int64_t numbers = 0;    // with a number or character that its quotes do not contain
  std::int64_t quotes = 0;     // not in the filing, of whichever sentence

  std::int64_t sentences() const { return malformed + advice + unquoted + numbers; }
  DroppedProse& operator+=(const DroppedProse& other);
  bool operator==(const DroppedProse&) const = default;
};

struct CheckedReply {
  std::string fault;  // the reply as a whole cannot be read; empty: none
  std::vector<ProseSentence> sentences;
  DroppedProse dropped;
  std::vector<std::string> problems;  // for the model, each one line; at most ten

  bool is_usable() const { return sentences.size() >= kProseSentencesMin; }
};

// Returns the first request: instructions, and the excerpt as delimited data. Requires an excerpt
// with paragraphs.
ModelRequest summary_request(const FilingExcerpt& excerpt);

// Adds the reply and its problems to the conversation.
void ask_again(const ModelReply& reply, const CheckedReply& checked, ModelRequest& request);

// Reads the reply, and keeps the sentences that obey the rules of sentence_rules.h and have a quote
// of the excerpt. Invalid quotes of a kept sentence are dropped.
CheckedReply checked_reply(const ModelReply& reply, const FilingExcerpt& excerpt);

}  // namespace belay::research
