#pragma once
// bench/options.h - what every benchmark may be told on its command line.

#include <charconv>
#include <optional>
#include <string>
#include <string_view>

namespace belay::bench {

// The whole text as a number, or nothing.
template <typename Number>
std::optional<Number> number_in(std::string_view text) {
  Number number{};
  auto [rest, failed] = std::from_chars(text.data(), text.data() + text.size(), number);
  if (failed != std::errc() || rest != text.data() + text.size()) return std::nullopt;
  return number;
}

struct Options {
  int rounds = 9;
  double max_wait = 60;        // seconds to wait, in all, for a quiet machine
  std::string directory = "";  // where the SQLite files go; empty: a new one under /var/tmp
  std::string belay = "";      // the program that start_bench starts
};

// --rounds=N --max-wait=SECONDS --directory=DIR --belay=PATH; anything else ends the program.
Options options_from(int count, char** arguments);

// A directory for this process's files, removed with them at the end.
class Workplace {
 public:
  explicit Workplace(const std::string& parent);
  ~Workplace();
  Workplace(const Workplace&) = delete;
  Workplace& operator=(const Workplace&) = delete;
  std::string path;
};

}  // namespace belay::bench
