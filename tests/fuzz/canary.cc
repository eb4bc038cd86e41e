// A parser with a deliberate fault: fuzzing must find it, otherwise it might find nothing in the
// other targets. scripts/fuzz fails if this target does not.

#include <cstddef>
#include <vector>

#include "tests/fuzz/target.h"

// A length byte, then the bytes: the parser trusts the length.
BELAY_FUZZ_TARGET(Canary, "canary") {
  if (!input.starts_with("len")) return;
  input.remove_prefix(3);
  unsigned claimed = belay::fuzz::take_byte(input);
  std::vector<char> held(input.begin(), input.end());
  unsigned sum = 0;
  for (unsigned i = 0; i < claimed; ++i) sum += static_cast<unsigned char>(held.data()[i]);
  belay::fuzz::require(sum != 1, "never a sum of one");
}
