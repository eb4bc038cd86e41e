#include <cstdio>
#include <cstdlib>

#include "belay/value.h"
#include "tests/fuzz/target.h"

namespace belay::fuzz {

void require(bool holds, std::string_view law) {
  if (holds) return;
  std::fprintf(stderr, "broken law: %.*s\n", static_cast<int>(law.size()), law.data());
  std::abort();
}

void require_sound(const Error& error) {
  require(error_code_named(name_of(error.code)) == error.code, "an error's code has a name");
  require(!error.message.empty(), "an error says something");
  require(error.message.size() <= kErrorBytesMax, "an error's message is bounded");
  require(!first_invalid_utf8(error.message), "an error's message is valid UTF-8");
  for (char c : error.message) {
    require(static_cast<unsigned char>(c) >= 0x20 && c != 0x7f, "an error is one line of text");
  }
}

unsigned take_byte(std::string_view& input) {
  if (input.empty()) return 0;
  auto byte = static_cast<unsigned char>(input.front());
  input.remove_prefix(1);
  return byte;
}

std::string_view take_line(std::string_view& input) {
  std::size_t end = input.find('\n');
  std::string_view line = input.substr(0, end);
  input.remove_prefix(end == input.npos ? input.size() : end + 1);
  return line;
}

}  // namespace belay::fuzz
