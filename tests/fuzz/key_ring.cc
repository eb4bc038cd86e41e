// The key file: an accepted ring seals and opens, and no error contains a key.

#include "belay/testing.h"
#include "store/encrypted/envelope_sealer.h"
#include "tests/fuzz/target.h"

BELAY_FUZZ_TARGET(KeyRing, "key_ring") {
  using namespace belay;
  auto ring = KeyRing::from_text(std::string(input));
  if (!ring.ok()) {
    fuzz::require_sound(ring.error());
    fuzz::require(ring.error().code == ErrorCode::invalid, "what is no key is invalid");
    // A text that is longer than every id might be a key.
    constexpr std::size_t kWindow = 33;
    for (std::size_t i = 0; i + kWindow <= input.size() && i < 1'000; ++i) {
      std::string_view window = input.substr(i, kWindow);
      bool is_text = window.find_first_of(": \t\r\n") == window.npos;
      fuzz::require(!is_text || ring.error().message.find(window) == std::string::npos,
                    "no error shows a key");
    }
    return;
  }
  fuzz::require(!ring->ids().empty(), "a ring has a key");
  for (const std::string& id : ring->ids()) {
    fuzz::require(!id.empty() && id.size() <= 32, "an id is bounded");
    fuzz::require(input.find(id) != input.npos, "an id is the person's own");
  }
  belay::testing::SeededRandom random(3);
  EncryptionOptions encryption;
  encryption.keys = *ring;
  encrypted::EnvelopeSealer sealer(std::move(encryption), random);
  std::string envelope = json_envelope("7");
  std::vector<BlobRow> blobs;
  fuzz::require(sealer.seal(default_tenant(), "value", envelope, blobs).ok(), "a ring seals");
  fuzz::require(sealer.open(default_tenant(), "value", envelope).ok(), "and opens");
  fuzz::require(envelope == json_envelope("7"), "what it has sealed");
}
