// scenario_player [--store NAME] FILE...: executes scripts and prints each line that passes. Exit
// code 1: an expectation is not met; 2: a script cannot be read. scripts/scenario builds and calls
// it.

#include <algorithm>
#include <cstdio>
#include <string>

#include "tests/scenario/player.h"

namespace belay::scenario {
namespace {

void print_line(const Step& step) { std::printf("  ok %4d  %s\n", step.line, step.text.c_str()); }

// Executes one script on each of its stores, or on the named one.
int play_file(const std::string& path, const std::string& store) {
  auto script = read_script(path);
  if (!script.ok()) {
    std::printf("%s\n", script.error().message.c_str());
    return 2;
  }
  auto kinds = stores_for(*script);
  if (!kinds.ok()) {
    std::printf("%s\n", kinds.error().message.c_str());
    return 2;
  }
  int faults = 0;
  for (const StoreKind& kind : *kinds) {
    if (!store.empty() && kind.name != store) continue;
    std::printf("%s, on %s: %s\n", script->name.c_str(), kind.name.c_str(),
                script->sentence.c_str());
    auto fault = play(*script, kind, print_line);
    if (!fault) continue;
    std::printf("%s", report(*script, kind, *fault).c_str());
    ++faults;
  }
  return faults > 0 ? 1 : 0;
}

}  // namespace
}  // namespace belay::scenario

int main(int argc, char** argv) {
  std::string store;
  int first = 1;
  if (argc > 2 && std::string(argv[1]) == "--store") {
    store = argv[2];
    first = 3;
  }
  if (first >= argc) {
    std::fprintf(stderr, "usage: scenario_player [--store NAME] FILE...\n");
    return 2;
  }
  int worst = 0;
  for (int at = first; at < argc; ++at) {
    worst = std::max(worst, belay::scenario::play_file(argv[at], store));
  }
  return worst;
}
