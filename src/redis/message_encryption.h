#pragma once
// redis/message_encryption.h - encrypts texts for Redis with the keys of the store.
//
// Redis then contains no plaintext that an encrypted store does not contain, and texts that were
// written without the keys are rejected.
//
// Threading: any.

#include <memory>
#include <optional>
#include <string>
#include <string_view>

#include "belay/storage.h"

namespace belay::encrypted {
class EnvelopeSealer;
}

namespace belay::redis {

class MessageEncryption {
 public:
  // If `keys` is empty, texts are not changed. `random` must outlive this object.
  MessageEncryption(KeyRing keys, Random& random);
  ~MessageEncryption();

  bool encrypts() const;
  // Encrypts the text and binds it to `subject`: it cannot be opened under another one. Returns
  // nullopt if encryption fails.
  std::optional<std::string> seal(std::string_view subject, std::string_view text) const;
  // Returns nullopt if the bytes were changed, or not encrypted with these keys and subject.
  std::optional<std::string> open(std::string_view subject, std::string_view bytes) const;

 private:
  const std::unique_ptr<encrypted::EnvelopeSealer> sealer_;
};

}  // namespace belay::redis
