#include "program/belay_program.h"

int main(int argc, char** argv) {
  return belay::main(argc, argv, belay::program::options(), belay::program::modules());
}
