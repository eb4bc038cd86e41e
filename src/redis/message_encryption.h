#pragma once
// redis/message_encryption.h - texts as they are put into a Redis: encrypted where the store is, so
// that nothing stands there that does not stand in the store's file, and nobody else can have put
// it there.
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
  // Without a key texts stay as they are. `random` outlives it.
  MessageEncryption(KeyRing keys, Random& random);
  ~MessageEncryption();

  bool encrypts() const;
  // Bound to `subject`: under another one it does not open. Nothing where it can't be sealed.
  std::optional<std::string> seal(std::string_view subject, std::string_view text) const;
  // Nothing for what was changed, was sealed with another key, or was not sealed here.
  std::optional<std::string> open(std::string_view subject, std::string_view bytes) const;

 private:
  const std::unique_ptr<encrypted::EnvelopeSealer> sealer_;
};

}  // namespace belay::redis
