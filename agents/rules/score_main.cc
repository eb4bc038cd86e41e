// Prints the figures of docs/builtin-provider.md:
//   rules_score [LABELLED.jsonl [DIARIES_FOLDER]]
// Its defaults are paths from the repository's root. Exit status 1: something could not be read.

#include <cstdio>

#include "agents/rules/figures.h"

int main(int argc, char** argv) {
  const belay::rules::FigurePaths paths{
      argc > 1 ? argv[1] : "tests/data/labelled/risk_notes_dev.jsonl",
      argc > 2 ? argv[2] : "examples/diaries"};
  const auto figures = belay::rules::figures_markdown(paths);
  if (!figures.ok()) {
    std::fprintf(stderr, "rules_score: %s\n", figures.error().message.c_str());
    return 1;
  }
  std::fputs(figures->c_str(), stdout);
  return 0;
}
