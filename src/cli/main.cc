#include "cli/app.h"

int main(int count, char** words) { return belay::cli::run_program(count, words); }
