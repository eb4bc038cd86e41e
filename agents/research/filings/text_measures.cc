#include "agents/research/filings/text_measures.h"

#include <bit>

#include "agents/research/filings/distinct_words.h"
#include "agents/research/filings/item_headings.h"
#include "agents/research/filings/text_words.h"

namespace belay::research {
namespace {

constexpr std::size_t kComplexWordSyllables = 3;

class TextMeter {
 public:
  void add_line(std::string_view line) {
    measures_.sentences += count_sentence_ends(line);
    for_each_word(line, [&](TextSpan span) { add_word(span.of(line)); });
  }

  TextMeasures take() {
    measures_.distinct_words = distinct_.count();
    return measures_;
  }

 private:
  void add_word(std::string_view word) {
    ++measures_.words;
    if (syllables(word) >= kComplexWordSyllables) ++measures_.complex_words;
    distinct_.add(word);
    for (WordListSet rest = lists_.lists_with(word); rest != 0; rest &= rest - 1) {
      ++measures_.in_list[static_cast<std::size_t>(std::countr_zero(rest))];
    }
  }

  const WordLists& lists_ = WordLists::built_in();
  TextMeasures measures_;
  DistinctWords distinct_;
};

}  // namespace

TextMeasures measure_text(std::string_view text, TextSpan part, PartLines part_lines) {
  TextMeter meter;
  const std::string_view until_end = text.substr(0, part.end);
  for (std::size_t at = part.begin; at < part.end;) {
    const TextLine line = line_at(until_end, at);
    at = line.next;
    const std::string_view bytes = line.span.of(text);
    if (!is_prose(bytes)) continue;
    if (part_lines == PartLines::left_out && is_part_line(bytes)) continue;
    meter.add_line(bytes);
  }
  return meter.take();
}

}  // namespace belay::research
