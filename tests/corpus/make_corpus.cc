// Creates the stores of the current schema for tests/data/stores: see the README there.
//
//   make_corpus PLAIN-STORE ENCRYPTED-STORE
//
// Both are names for open_store() of stores that do not exist: "sqlite:plain.db", or the URL of an
// empty database.

#include <iostream>

#include "tests/corpus/journeys.h"

int main(int count, char** words) {
  if (count != 3) {
    std::cerr << "usage: make_corpus PLAIN-STORE ENCRYPTED-STORE\n";
    return 2;
  }
  using namespace belay::corpus;
  Journeys(words[1], plaintext_options()).set_out();
  Journeys(words[2], encrypting_options()).set_out();
  return 0;
}
