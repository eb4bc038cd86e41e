// Creates the files of the current schema for tests/data/stores: see the README there.
//
//   make_corpus FOLDER     writes FOLDER/plain.db and FOLDER/sealed.db

#include <iostream>

#include "tests/corpus/journeys.h"

int main(int count, char** words) {
  if (count != 2) {
    std::cerr << "usage: make_corpus FOLDER\n";
    return 2;
  }
  using namespace belay::corpus;
  std::string folder = words[1];
  Journeys(folder + "/plain.db", plaintext_options()).set_out();
  Journeys(folder + "/sealed.db", encrypting_options()).set_out();
  return 0;
}
