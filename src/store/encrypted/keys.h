#pragma once
// store/encrypted/keys.h - the keys of a ring, and the keys derived from them for a tenant.
//
// Key memory is overwritten before it is released, and no message contains a key.

#include <array>
#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "belay/ids.h"

namespace belay::encrypted {

inline constexpr std::size_t kKeyBytes = 32;
inline constexpr std::size_t kCheckBytes = 4;
inline constexpr std::size_t kKeyIdMax = 32;

void overwrite(void* bytes, std::size_t size);

// Bytes that the destructor overwrites.
template <std::size_t size>
class SecretBytes {
 public:
  SecretBytes() = default;
  SecretBytes(const SecretBytes&) = delete;
  SecretBytes& operator=(const SecretBytes&) = delete;
  ~SecretBytes() { overwrite(bytes_.data(), size); }

  std::uint8_t* data() { return bytes_.data(); }
  const std::uint8_t* data() const { return bytes_.data(); }

 private:
  std::array<std::uint8_t, size> bytes_{};
};

struct NamedKey {
  std::string id;
  SecretBytes<kKeyBytes> bytes;
};

class Keys {
 public:
  explicit Keys(std::vector<std::unique_ptr<NamedKey>> keys) : keys_(std::move(keys)) {}

  const NamedKey& active() const { return *keys_.front(); }
  const NamedKey* find(std::string_view id) const;
  const std::vector<std::unique_ptr<NamedKey>>& all() const { return keys_; }

 private:
  std::vector<std::unique_ptr<NamedKey>> keys_;
};

// Purpose of a derived tenant key; each purpose has its own key.
enum class KeyUse {
  old_values,  // envelopes sealed by an older Belay
  values,      // envelopes, and seals of parts of rows
  blobs,       // ids of blobs
  digests,     // masks of chain hashes
  chain,       // authentication codes of chain hashes
  index,       // search values of records
};
using TenantKey = SecretBytes<kKeyBytes>;
void derive_tenant_key(const NamedKey& key, KeyUse use, const TenantId& tenant, TenantKey& derived);

// Returns the kCheckBytes bytes that identify a key, the same for all tenants. They reveal nothing
// about the key.
std::string check_of(const NamedKey& key);

}  // namespace belay::encrypted
