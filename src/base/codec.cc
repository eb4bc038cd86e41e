#include "belay/codec.h"

#include <array>
#include <charconv>
#include <cmath>

namespace belay {
namespace {

template <typename Integer>
void append_integer(Integer number, std::string& out) {
  std::array<char, 24> text;
  auto written = std::to_chars(text.data(), text.data() + text.size(), number);
  out.append(text.data(), written.ptr);
}

}  // namespace

void Encoder::write(std::int64_t value) { append_integer(value, text); }
void Encoder::write(std::uint64_t value) { append_integer(value, text); }

void Encoder::write(double value) {
  if (std::isfinite(value)) {
    write_json_number(value, text);
    return;
  }
  if (problem.empty()) problem = "A number is NaN or infinite, which JSON can't say.";
  text += "null";
}

void Encoder::write(std::string_view value) {
  if (problem.empty()) {
    if (auto offset = first_invalid_utf8(value)) {
      problem = "A text is not valid UTF-8 at byte " + std::to_string(*offset) + ".";
    } else if (value.find('\0') != std::string_view::npos) {
      problem = "A text contains U+0000, which Belay does not store.";
    }
  }
  write_json_string(value, text);
}

void Encoder::write_name(std::string_view name, bool first) {
  if (!first) text += ',';
  write_json_string(name, text);
  text += ':';
}

bool Decoder::mismatch(std::string_view expected, const Value& found) {
  if (!problem.empty()) return false;
  for (const std::string& part : path) {
    if (!problem.empty()) problem += '.';
    problem += part;
  }
  problem = (problem.empty() ? std::string("The value") : "\"" + problem + "\"") + " should be " +
            std::string(expected) + ", but is ";
  std::string text = to_json(found);
  problem += text.size() <= 40 ? text + "." : std::string(found.kind()) + ".";
  return false;
}

}  // namespace belay
