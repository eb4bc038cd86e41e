#pragma once
// tests/conformance/encrypted_stores.h - stores behind their encryption, to be tested as any other.

#include "belay/storage.h"
#include "tests/conformance/store_suite.h"

namespace belay::conformance {

// A ring of keys that are easy to tell: "b" is 32 bytes 0xbb, under the id "key-b". The first
// letter is the active key.
KeyRing keys_named(const std::string& letters);

// Everything that encryption can do: compressed, encrypted, and in blobs from 16 bytes up.
EncryptionOptions all_of_encryption();

// `inner`, sealed, as one store that owns it.
std::unique_ptr<Store> sealed_around(std::unique_ptr<Store> inner, Random& random,
                                     EncryptionOptions encryption);

}  // namespace belay::conformance
