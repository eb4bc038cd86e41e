#pragma once
// store/sealed/cipher.h - authenticated encryption under a tenant's key, with contexts that are
// used again. One thread at a time.
//
// Sealed data: 4 bytes by which the key is known again, the nonce, as many bytes as were sealed, 16
// bytes of tag. What is bound to it without being in it: tenant, subject, what that is bound to and
// the envelope's type, each behind its length (4 bytes, little-endian).
//
// What is sealed is XAES-256-GCM (https://c2sp.org/XAES-256-GCM): a nonce of 24 random bytes, the
// first half of which makes a key for this one message, so that no number of messages wears a key
// out. What an older Belay sealed is AES-256-GCM with 12 random bytes, and bound to its subject
// alone; it is opened, and nothing is sealed so any more.
//
// The first 4 bytes tell a wrong key from changed bytes. They come from the key by HKDF and give
// nothing of it away.

#include <cstddef>
#include <cstdint>
#include <map>
#include <memory>
#include <string>
#include <string_view>

#include "belay/clock.h"
#include "store/envelope_subject.h"
#include "store/sealed/message_key.h"

struct evp_cipher_ctx_st;

namespace belay::sealed {

inline constexpr std::size_t kNonceBytes = 24;
inline constexpr std::size_t kOldNonceBytes = 12;
inline constexpr std::size_t kTagBytes = 16;
inline constexpr std::size_t kSealedMore = kCheckBytes + kNonceBytes + kTagBytes;
// The longest that one call of OpenSSL takes, and far beyond any value.
inline constexpr std::size_t kSealedBytesMax = 1u << 30;

// What sealed data is bound to.
struct Binding {
  const TenantId& tenant;
  const store::Subject& subject;
  std::string_view type;
};

// How it was sealed.
enum class Method { aes256gcm, xaes256gcm };

class Cipher {
 public:
  explicit Cipher(Random& random);

  // Appends `plain`, sealed, to `out`. REQUIRES: plain.size() <= kSealedBytesMax.
  void seal(const NamedKey& key, const Binding& binding, std::string_view plain, std::string& out);

  enum class Opened { well, other_key, changed };
  // Appends what `data` holds to `out`, which is of no use unless the answer is `well`.
  Opened open(Method method, const NamedKey& key, const Binding& binding, std::string_view data,
              std::string& out);

 private:
  struct Free {
    void operator()(evp_cipher_ctx_st* context) const;
  };
  using Context = std::unique_ptr<evp_cipher_ctx_st, Free>;
  // With the keys inside, so that the keys themselves need not be kept.
  struct Keyed {
    MessageKeys messages;
    Context old_opening;
    std::string check;
  };

  const Keyed& keyed(const NamedKey& key, const TenantId& tenant);
  void bind(Method method, const Binding& binding);

  Random& random_;
  std::string bound_;  // used again
  Context sealing_;
  Context opening_;
  std::map<std::pair<const NamedKey*, TenantId>, Keyed> keyed_;
};

}  // namespace belay::sealed
