#include "agents/rules/summary.h"

#include <unicode/uchar.h>
#include <unicode/utf8.h>

#include <algorithm>
#include <numeric>

namespace belay::rules {
namespace {

constexpr std::size_t kSentencesMax = 3;
constexpr std::string_view kEllipsis = "…";
constexpr std::size_t kLeadIn = 40;  // code points kept before the focus

std::string one_spaced(std::string_view text) {
  std::string out;
  out.reserve(text.size());
  for (const char c : text) {
    const bool white = c == ' ' || c == '\t' || c == '\n' || c == '\r' || c == '\f' || c == '\v';
    if (!white) {
      out.push_back(c);
    } else if (!out.empty() && out.back() != ' ') {
      out.push_back(' ');
    }
  }
  if (!out.empty() && out.back() == ' ') out.pop_back();
  return out;
}

// Returns the byte offset that is `count` code points after `from`.
std::size_t forward(std::string_view text, std::size_t from, std::size_t count) {
  while (from < text.size() && count > 0) {
    ++from;
    while (from < text.size() && (text[from] & 0xC0) == 0x80) ++from;
    --count;
  }
  return from;
}

std::size_t backward(std::string_view text, std::size_t from, std::size_t count) {
  while (from > 0 && count > 0) {
    --from;
    while (from > 0 && (text[from] & 0xC0) == 0x80) --from;
    --count;
  }
  return from;
}

// Returns whether the code point at `at` belongs to the previous character: a mark or a joiner.
bool continues(std::string_view text, std::size_t at) {
  if (at >= text.size() || at == 0) return false;
  const std::string_view rest = text.substr(at, 4);
  std::int32_t index = 0;
  UChar32 c = 0;
  const auto* bytes = reinterpret_cast<const std::uint8_t*>(rest.data());
  U8_NEXT(bytes, index, static_cast<std::int32_t>(rest.size()), c);
  return c >= 0 && (c == 0x200D || (U_GET_GC_MASK(c) & U_GC_M_MASK) != 0);
}

// Returns the last position in [from, limit] to cut at: before a space, or between the characters
// of one long word.
std::size_t cut_before(std::string_view text, std::size_t from, std::size_t limit) {
  const std::size_t space = text.rfind(' ', limit);
  if (space != std::string_view::npos && space > from + (limit - from) / 2) return space;
  while (limit > from && continues(text, limit)) limit = backward(text, limit, 1);
  return limit;
}

}  // namespace

std::string shortened(std::string_view raw, std::size_t focus, std::size_t code_points_max) {
  const std::size_t new_focus = one_spaced(raw.substr(0, std::min(focus, raw.size()))).size();
  std::string text = one_spaced(raw);
  if (code_points(text) <= code_points_max) return text;
  const std::size_t room = code_points_max - 2;  // for an ellipsis at each end
  std::size_t begin = 0;
  // Move the window only when what was found would not be in it.
  if (code_points(std::string_view(text).substr(0, new_focus)) > room / 2) {
    const std::size_t wanted = std::min(backward(text, std::min(new_focus, text.size()), kLeadIn),
                                        backward(text, text.size(), room));
    const std::size_t space = text.find(' ', wanted);
    begin = space == std::string::npos || space > new_focus ? wanted : space + 1;
    while (begin > 0 && continues(text, begin)) begin = backward(text, begin, 1);
  }
  std::size_t end = forward(text, begin, room);
  if (end < text.size()) end = cut_before(text, begin, end);
  std::string out(begin > 0 ? kEllipsis : "");
  out.append(text, begin, end - begin);
  if (end < text.size()) out.append(kEllipsis);
  return out;
}

std::string summary_of(const std::vector<ScoredSentence>& sentences, std::size_t code_points_max) {
  std::vector<std::size_t> order(sentences.size());
  std::iota(order.begin(), order.end(), std::size_t{0});
  std::sort(order.begin(), order.end(), [&](std::size_t a, std::size_t b) {
    const double a_score = sentences[a].score;
    const double b_score = sentences[b].score;
    return a_score != b_score ? a_score > b_score : a < b;
  });
  const bool any_scored = !order.empty() && sentences[order.front()].score > 0;
  std::vector<std::size_t> chosen;
  std::size_t used = 0;
  for (const std::size_t index : order) {
    if (chosen.size() == kSentencesMax) break;
    if (any_scored && sentences[index].score <= 0) break;
    const std::size_t length = code_points(one_spaced(sentences[index].text));
    const std::size_t separator = chosen.empty() ? 0 : 1;
    if (!chosen.empty() && used + separator + length > code_points_max) {
      if (any_scored) continue;
      break;  // the first sentences, without leaving one out
    }
    chosen.push_back(index);
    used += separator + std::min(length, code_points_max);
  }
  std::sort(chosen.begin(), chosen.end());
  std::string out;
  for (const std::size_t index : chosen) {
    if (!out.empty()) out.push_back(' ');
    out.append(shortened(sentences[index].text, sentences[index].focus, code_points_max));
  }
  return out;
}

}  // namespace belay::rules
