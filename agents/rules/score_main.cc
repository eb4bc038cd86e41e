// Prints the figures of docs/builtin-provider.md, or tests/data/lexicon/forms.tsv:
//   rules_score [--forms] [LABELLED.jsonl [DIARIES_FOLDER]]
// Its defaults are paths from the repository's root. Exit status 1: something could not be read.

#include <cstdio>
#include <string_view>

#include "agents/rules/figures.h"

int main(int argc, char** argv) {
  const bool forms = argc > 1 && std::string_view(argv[1]) == "--forms";
  if (forms) {
    --argc;
    ++argv;
  }
  const belay::rules::FigurePaths paths{
      argc > 1 ? argv[1] : "tests/data/labelled/risk_notes_dev.jsonl",
      argc > 2 ? argv[2] : "examples/diaries"};
  const auto figures =
      forms ? belay::rules::lexicon_forms(paths) : belay::rules::figures_markdown(paths);
  if (!figures.ok()) {
    std::fprintf(stderr, "rules_score: %s\n", figures.error().message.c_str());
    return 1;
  }
  std::fputs(figures->c_str(), stdout);
  return 0;
}
