#pragma once
// store/sealed/cipher.h - AES-256-GCM under a tenant's key, with contexts that are used again. One
// thread at a time.
//
// Sealed data: 4 bytes by which the key is known again, 12 bytes of nonce, as many bytes as were
// sealed, 16 bytes of tag. What is bound to it without being in it: tenant, subject and the
// envelope's type, each behind its length (4 bytes, little-endian).
//
// The first 4 bytes tell a wrong key from changed bytes. They come from the key by HKDF and give
// nothing of it away.

#include <cstddef>
#include <map>
#include <memory>
#include <string>
#include <string_view>

#include "belay/clock.h"
#include "store/sealed/keys.h"

struct evp_cipher_ctx_st;

namespace belay::sealed {

inline constexpr std::size_t kNonceBytes = 12;
inline constexpr std::size_t kTagBytes = 16;
inline constexpr std::size_t kSealedMore = kCheckBytes + kNonceBytes + kTagBytes;
// The longest that one call of OpenSSL takes, and far beyond any value.
inline constexpr std::size_t kSealedBytesMax = 1u << 30;

// What sealed data is bound to.
struct Binding {
  const TenantId& tenant;
  std::string_view subject;
  std::string_view type;
};

class Cipher {
 public:
  explicit Cipher(Random& random) : random_(random) {}

  // Appends `plain`, sealed, to `out`. REQUIRES: plain.size() <= kSealedBytesMax.
  void seal(const NamedKey& key, const Binding& binding, std::string_view plain, std::string& out);

  enum class Opened { well, other_key, changed };
  // Appends what `data` holds to `out`, which is of no use unless the answer is `well`.
  Opened open(const NamedKey& key, const Binding& binding, std::string_view data, std::string& out);

 private:
  struct Free {
    void operator()(evp_cipher_ctx_st* context) const;
  };
  using Context = std::unique_ptr<evp_cipher_ctx_st, Free>;
  // With the key inside, so that the key itself need not be kept.
  struct Keyed {
    Context sealing;
    Context opening;
    std::string check;
  };

  const Keyed& keyed(const NamedKey& key, const TenantId& tenant);
  void bind(const Binding& binding);

  Random& random_;
  std::string bound_;  // used again
  std::map<std::pair<const NamedKey*, TenantId>, Keyed> keyed_;
};

}  // namespace belay::sealed
