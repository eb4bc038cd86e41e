#include "belay/result.h"

#include <algorithm>
#include <array>
#include <cstdio>
#include <cstdlib>

#include "base/characters.h"
#include "belay/value.h"

namespace belay {
namespace {

struct CodeName {
  ErrorCode code;
  std::string_view name;
};

constexpr std::array code_names{
    CodeName{ErrorCode::not_found, "not_found"}, CodeName{ErrorCode::conflict, "conflict"},
    CodeName{ErrorCode::invalid, "invalid"},     CodeName{ErrorCode::unavailable, "unavailable"},
    CodeName{ErrorCode::uncertain, "uncertain"}, CodeName{ErrorCode::exhausted, "exhausted"},
    CodeName{ErrorCode::cancelled, "cancelled"}, CodeName{ErrorCode::corrupt, "corrupt"},
    CodeName{ErrorCode::forbidden, "forbidden"},
};

constexpr std::size_t sentence_bytes_max = 4'000;
constexpr std::string_view replacement = "\xEF\xBF\xBD";  // U+FFFD

bool is_sentence(std::string_view text) {
  return text.size() <= sentence_bytes_max && !first_invalid_utf8(text) &&
         std::none_of(text.begin(), text.end(), is_control);
}

// Converts a message to one line of valid UTF-8 of at most sentence_bytes_max bytes. Messages quote
// users, models and exceptions, and they are stored as JSON.
std::string as_sentence(std::string_view text) {
  std::string out;
  while (!text.empty() && out.size() < sentence_bytes_max) {
    std::size_t sound = first_invalid_utf8(text).value_or(text.size());
    out += text.substr(0, sound);
    if (sound < text.size()) out += replacement;
    text.remove_prefix(std::min(sound + 1, text.size()));
  }
  std::replace_if(out.begin(), out.end(), is_control, ' ');
  if (out.size() <= sentence_bytes_max) return out;
  constexpr std::string_view rest = "...";
  std::size_t end = sentence_bytes_max - rest.size();
  // Moves back to the first byte of a character.
  while ((static_cast<unsigned char>(out[end]) & 0xc0) == 0x80) --end;
  return out.substr(0, end).append(rest);
}

}  // namespace

std::string_view name_of(ErrorCode code) {
  for (const CodeName& entry : code_names) {
    if (entry.code == code) return entry.name;
  }
  return "unknown";
}

std::optional<ErrorCode> error_code_named(std::string_view name) {
  for (const CodeName& entry : code_names) {
    if (entry.name == name) return entry.code;
  }
  return std::nullopt;
}

Error error(ErrorCode code, std::string message) {
  if (!is_sentence(message)) message = as_sentence(message);
  return Error{code, std::move(message)};
}

namespace detail {

void throw_failure(const Error& error) { throw Failure(error); }

void assertion_failed(const char* expression, const char* file, int line) {
  std::fprintf(stderr, "belay: broken invariant at %s:%d: %s\n", file, line, expression);
  std::abort();
}

}  // namespace detail
}  // namespace belay
