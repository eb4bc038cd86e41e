// The command line of the shipped program, one word per line.

#include "cli/arguments.h"

#include "belay/value.h"
#include "cli/modules.h"
#include "cli/settings.h"
#include "program/belay_program.h"
#include "tests/fuzz/target.h"

BELAY_FUZZ_TARGET(Arguments, "arguments") {
  using namespace belay;
  static const cli::Program program =
      *cli::program_with("belay", program::options(), program::modules());
  constexpr std::size_t kWordsMax = 50;
  std::vector<std::string> words = {"belay"};
  for (std::string_view rest = input; !rest.empty() && words.size() < kWordsMax;) {
    std::string word(fuzz::take_line(rest));
    // A word ends at its first NUL, as in a real argument.
    words.emplace_back(word.c_str());
  }
  std::vector<const char*> pointers;
  for (const std::string& word : words) pointers.push_back(word.c_str());
  int count = static_cast<int>(pointers.size());
  cli::wants_json(count, pointers.data());
  auto parsed = cli::parse_arguments(program, count, pointers.data());
  if (!parsed.ok()) {
    fuzz::require_sound(parsed.error());
    fuzz::require(parsed.error().code == ErrorCode::invalid, "words that are wrong are invalid");
    return;
  }
  if (auto* text = std::get_if<std::string>(&*parsed)) {
    fuzz::require(!text->empty() && !first_invalid_utf8(*text), "help is a text");
    return;
  }
  cli::Environment environment;
  environment.home = "/people/ana";
  auto settings = cli::settings_from(program, environment, std::get<cli::Arguments>(*parsed).flags);
  if (!settings.ok()) fuzz::require_sound(settings.error());
}
