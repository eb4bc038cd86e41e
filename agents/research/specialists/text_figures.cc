#include "agents/research/specialists/text_figures.h"

#include <array>
#include <cmath>
#include <string>

#include "agents/research/specialists/text_subtask.h"

namespace belay::research {
namespace {

constexpr const char* kSentiment = "filing_sentiment";

// Gunning, The Technique of Clear Writing, 1952.
Quantity gunning_fog(const TextMeasures& measures) {
  if (measures.sentences == 0 || measures.words == 0) {
    return Quantity::missing(Missing::non_positive, "the text has no sentences or no words");
  }
  const auto words = static_cast<double>(measures.words);
  return Quantity::of(0.4 * (words / static_cast<double>(measures.sentences) +
                             100 * static_cast<double>(measures.complex_words) / words));
}

// Loughran, McDonald, Measuring Readability in Financial Disclosures, 2014.
Quantity log_file_size(const TextContext& context) {
  if (context.text == nullptr) {
    return Quantity::missing(Missing::no_text, measured_document(context).reason);
  }
  const std::size_t size = context.text->bytes().size();
  if (size == 0) return Quantity::missing(Missing::non_positive, "the file is empty");
  return Quantity::of(std::log(static_cast<double>(size)));
}

Quantity words_per_sentence(const TextMeasures& measures) {
  return share_of(measures.words, measures.sentences, "the text has no sentences");
}

Quantity complex_word_share(const TextMeasures& measures) {
  return share_of(measures.complex_words, measures.words, "the text has no words");
}

std::string list_metric(const std::string& prefix, std::size_t list) {
  return prefix + std::string(kWordListNames[list]) + "_share";
}

}  // namespace

Results item_statistics(const TextContext& context) {
  TextSubtask subtask(context, "financial", "10k_parsing");
  subtask.add("item_count", "count", measured_document(context), [&](const TextMeasures&) {
    return Quantity::of(static_cast<double>(context.text->items().size()));
  });
  subtask.add_count("item_1_words", measured_item(context, "1"), &TextMeasures::words);
  subtask.add_count("item_1a_words", measured_item(context, "1A"), &TextMeasures::words);
  subtask.add_count("item_7_words", measured_item(context, "7"), &TextMeasures::words);
  subtask.add_count("item_8_words", measured_item(context, "8"), &TextMeasures::words);
  return subtask.take();
}

Results business_description(const TextContext& context) {
  TextSubtask subtask(context, "business_model", "business_description");
  const MeasuredPart business = measured_item(context, "1");
  subtask.add_count("business_sentences", business, &TextMeasures::sentences);
  subtask.add_count("business_distinct_words", business, &TextMeasures::distinct_words);
  return subtask.take();
}

Results tokenization(const TextContext& context) {
  TextSubtask subtask(context, kSentiment, "tokenization");
  const MeasuredPart document = measured_document(context);
  subtask.add_count("words_total", document, &TextMeasures::words);
  subtask.add_count("sentences_total", document, &TextMeasures::sentences);
  subtask.add_count("distinct_words", document, &TextMeasures::distinct_words);
  return subtask.take();
}

Results tone(const TextContext& context) {
  TextSubtask subtask(context, kSentiment, "tone");
  const MeasuredPart document = measured_document(context);
  for (std::size_t list = 0; list < kToneLists; ++list) {
    subtask.add_list_share(list_metric("", list), document, list);
  }
  subtask.add("net_tone", "ratio", document, net_tone_of);
  return subtask.take();
}

Results readability(const TextContext& context) {
  TextSubtask subtask(context, kSentiment, "readability");
  const MeasuredPart document = measured_document(context);
  subtask.add("gunning_fog", "score", document, gunning_fog);
  subtask.add("words_per_sentence", "ratio", document, words_per_sentence);
  subtask.add("complex_word_share", "ratio", document, complex_word_share);
  subtask.add("log_file_size", "score", log_file_size(context));
  return subtask.take();
}

Results section_tone(const TextContext& context) {
  TextSubtask subtask(context, kSentiment, "section_tone");
  const MeasuredPart risks = measured_item(context, "1A");
  const MeasuredPart discussion = measured_item(context, "7");
  for (const std::size_t list : {kNegative, kPositive, kUncertainty, kLitigious}) {
    subtask.add_list_share(list_metric("item_1a_", list), risks, list);
    subtask.add_list_share(list_metric("item_7_", list), discussion, list);
  }
  subtask.add("item_1a_net_tone", "ratio", risks, net_tone_of);
  subtask.add("item_7_net_tone", "ratio", discussion, net_tone_of);
  return subtask.take();
}

}  // namespace belay::research
