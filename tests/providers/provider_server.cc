// The scripted server as a program: prints its address, and serves until the end of its standard
// input.
//
//     provider_server            http://127.0.0.1:41235

#include <cstdio>

#include "tests/providers/scripted_provider.h"

int main() {
  belay::providers::ScriptedProvider provider;
  std::printf("%s\n", provider.url().c_str());
  std::fflush(stdout);
  while (std::getchar() != EOF) {
  }
}
