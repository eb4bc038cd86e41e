#pragma once
// tests/conformance/encrypted_stores.h - creates encrypted stores for the conformance suite.

#include "belay/storage.h"
#include "tests/conformance/store_suite.h"

namespace belay::conformance {

// Returns a ring of recognisable keys: "b" is 32 bytes 0xbb with the id "key-b". The first letter
// is the active key.
KeyRing keys_named(const std::string& letters);

// Returns options with every feature: compression, encryption, and blobs for values of 16 bytes or
// more.
EncryptionOptions all_of_encryption();

// Returns an encrypted store around `inner`, which it owns.
std::unique_ptr<Store> sealed_around(std::unique_ptr<Store> inner, Random& random,
                                     EncryptionOptions encryption);

}  // namespace belay::conformance
