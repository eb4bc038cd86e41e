#pragma once
// store/encrypted/message_key.h - derives a key for each message, from a tenant's key and the
// first half of a message's nonce: steps 1 to 5 of XAES-256-GCM
// (https://c2sp.org/XAES-256-GCM). Not thread-safe.

#include <array>
#include <cstdint>
#include <memory>
#include <string_view>

#include "store/encrypted/keys.h"

struct evp_cipher_ctx_st;

namespace belay::encrypted {

class MessageKeys {
 public:
  explicit MessageKeys(const TenantKey& key);

  // REQUIRES: `nonce` has at least 12 bytes; the first 12 are used.
  void derive(std::string_view nonce, TenantKey& derived) const;

 private:
  struct Free {
    void operator()(evp_cipher_ctx_st* context) const;
  };
  std::unique_ptr<evp_cipher_ctx_st, Free> blocks_;  // AES-256 of single blocks, contains the key
  std::array<std::uint8_t, 16> mask_{};              // K1 of the specification
};

}  // namespace belay::encrypted
