#pragma once
// store/encrypted/cipher.h - authenticated encryption under a tenant's key, with reused
// contexts. Not thread-safe.
//
// Sealed data: 4 bytes that identify the key, the nonce, the ciphertext (as long as the plaintext),
// and a tag of 16 bytes. The associated data: tenant, subject, the values bound to the subject and
// the envelope's type, each after its length (4 bytes, little-endian).
//
// The algorithm is XAES-256-GCM (https://c2sp.org/XAES-256-GCM): a nonce of 24 random bytes, whose
// first half derives a key for this one message, so that the number of messages under a key is not
// limited. An older Belay sealed with AES-256-GCM and 12 random bytes, with only the subject as
// associated data; such values can be opened but are no longer written.
//
// The first 4 bytes distinguish a wrong key from changed bytes. They are derived from the key by
// HKDF and reveal nothing about it.

#include <cstddef>
#include <cstdint>
#include <map>
#include <memory>
#include <string>
#include <string_view>

#include "belay/clock.h"
#include "store/encrypted/message_key.h"
#include "store/envelope_subject.h"

struct evp_cipher_ctx_st;

namespace belay::encrypted {

inline constexpr std::size_t kNonceBytes = 24;
inline constexpr std::size_t kOldNonceBytes = 12;
inline constexpr std::size_t kTagBytes = 16;
inline constexpr std::size_t kSealedMore = kCheckBytes + kNonceBytes + kTagBytes;
// The maximum of one call of OpenSSL, far above the size of any value.
inline constexpr std::size_t kSealedBytesMax = 1u << 30;

// The data to which a sealed value is bound (associated data).
struct Binding {
  const TenantId& tenant;
  const store::Subject& subject;
  std::string_view type;
};

// The algorithm of a sealed value.
enum class Method { aes256gcm, xaes256gcm };

class Cipher {
 public:
  explicit Cipher(Random& random);

  // Appends `plain`, sealed, to `out`. REQUIRES: plain.size() <= kSealedBytesMax.
  void seal(const NamedKey& key, const Binding& binding, std::string_view plain, std::string& out);

  enum class Opened { well, other_key, changed };
  // Appends the plaintext of `data` to `out`, which is valid only if the result is `well`.
  Opened open(Method method, const NamedKey& key, const Binding& binding, std::string_view data,
              std::string& out);

 private:
  struct Free {
    void operator()(evp_cipher_ctx_st* context) const;
  };
  using Context = std::unique_ptr<evp_cipher_ctx_st, Free>;
  // Contains the keys, so that the keys need not be stored separately.
  struct Keyed {
    MessageKeys messages;
    Context old_opening;
    std::string check;
  };

  const Keyed& keyed(const NamedKey& key, const TenantId& tenant);
  void bind(Method method, const Binding& binding);

  Random& random_;
  std::string bound_;  // reused buffer
  Context encryption_;
  Context opening_;
  std::map<std::pair<const NamedKey*, TenantId>, Keyed> keyed_;
};

}  // namespace belay::encrypted
