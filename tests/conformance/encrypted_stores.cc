#include "tests/conformance/encrypted_stores.h"

#include "store/forwarding_store.h"

namespace belay::conformance {
namespace {

// An encrypted store together with the inner store that it wraps.
class OwningStore final : public ForwardingStore {
 public:
  OwningStore(std::unique_ptr<Store> inner, std::unique_ptr<Store> sealed)
      : ForwardingStore(*sealed), inner_(std::move(inner)), sealed_(std::move(sealed)) {}

 private:
  std::unique_ptr<Store> inner_;
  std::unique_ptr<Store> sealed_;
};

}  // namespace

KeyRing keys_named(const std::string& letters) {
  std::string lines;
  for (char letter : letters) {
    lines += "key-" + std::string(1, letter) + ":" + std::string(64, letter) + "\n";
  }
  return KeyRing::from_text(std::move(lines)).value();
}

EncryptionOptions all_of_encryption() {
  EncryptionOptions encryption;
  encryption.keys = keys_named("a");
  encryption.compress_from = 8;
  encryption.blob_above = 16;
  return encryption;
}

std::unique_ptr<Store> sealed_around(std::unique_ptr<Store> inner, Random& random,
                                     EncryptionOptions encryption) {
  auto sealed = make_encrypted_store(*inner, random, std::move(encryption));
  return std::make_unique<OwningStore>(std::move(inner), std::move(sealed));
}

}  // namespace belay::conformance
