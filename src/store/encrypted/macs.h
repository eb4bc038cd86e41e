#pragma once
// store/encrypted/macs.h - HMAC-SHA-256 under a tenant's keys, with reused contexts. Not
// thread-safe.

#include <map>
#include <memory>
#include <string>
#include <string_view>
#include <tuple>

#include "belay/ids.h"
#include "store/encrypted/keys.h"

struct evp_mac_ctx_st;

namespace belay::encrypted {

class Macs {
 public:
  Digest of(const NamedKey& key, KeyUse use, const TenantId& tenant, std::string_view text);
  // The result of check_of(), computed once.
  const std::string& check(const NamedKey& key);

 private:
  struct Free {
    void operator()(evp_mac_ctx_st* context) const;
  };
  // Contains the key.
  using Keyed = std::unique_ptr<evp_mac_ctx_st, Free>;

  std::map<std::tuple<const NamedKey*, KeyUse, TenantId>, Keyed> keyed_;
  std::map<const NamedKey*, std::string> checks_;
};

}  // namespace belay::encrypted
