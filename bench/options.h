#pragma once
// bench/options.h - command-line options of all benchmarks.

#include <charconv>
#include <optional>
#include <string>
#include <string_view>

namespace belay::bench {

// Returns the number if the whole text is one.
template <typename Number>
std::optional<Number> number_in(std::string_view text) {
  Number number{};
  auto [rest, failed] = std::from_chars(text.data(), text.data() + text.size(), number);
  if (failed != std::errc() || rest != text.data() + text.size()) return std::nullopt;
  return number;
}

struct Options {
  int rounds = 9;
  double max_wait = 60;        // total seconds to wait for a quiet machine
  std::string directory = "";  // for the SQLite files; empty: a new one under /var/tmp
  std::string belay = "";      // the program that start_bench starts
};

// Parses --rounds=N --max-wait=SECONDS --directory=DIR --belay=PATH; any other argument ends the
// program.
Options options_from(int count, char** arguments);

// A directory for this process's files; the destructor removes it.
class Workplace {
 public:
  explicit Workplace(const std::string& parent);
  ~Workplace();
  Workplace(const Workplace&) = delete;
  Workplace& operator=(const Workplace&) = delete;
  std::string path;
};

}  // namespace belay::bench
