#include "cli/app.h"
#include "program/wellbeing_program.h"

int main(int count, char** words) {
  return belay::cli::run_program(belay::program::wellbeing_program(), count, words);
}
