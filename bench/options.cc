#include "bench/options.h"

#include <filesystem>
#include <string_view>

#include "bench/pages.h"

namespace belay::bench {

Options options_from(int count, char** arguments) {
  Options options;
  for (int i = 1; i < count; ++i) {
    std::string_view argument = arguments[i];
    std::size_t equals = argument.find('=');
    std::string_view name = argument.substr(0, equals);
    std::string value(equals == argument.npos ? "" : argument.substr(equals + 1));
    if (name == "--rounds" && number_in<int>(value).value_or(0) > 0) {
      options.rounds = *number_in<int>(value);
    } else if (name == "--max-wait" && !value.empty()) {
      options.max_wait = number_in<double>(value).value_or(options.max_wait);
    } else if (name == "--directory" && !value.empty()) {
      options.directory = value;
    } else if (name == "--belay" && !value.empty()) {
      options.belay = value;
    } else {
      exit_with("Unknown option " + std::string(argument) +
                "; there are --rounds=N --max-wait=SECONDS --directory=DIR --belay=PATH.");
    }
  }
  return options;
}

// Not /tmp: it can be in memory, where fsync costs nothing.
Workplace::Workplace(const std::string& parent)
    : path((parent.empty() ? std::string("/var/tmp") : parent) + "/belay-bench-XXXXXX") {
  if (!mkdtemp(path.data())) exit_with("Cannot create a directory like " + path + ".");
}

Workplace::~Workplace() {
  std::error_code ignored;
  std::filesystem::remove_all(path, ignored);
}

}  // namespace belay::bench
