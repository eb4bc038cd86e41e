#include "store/encrypted/macs.h"

#include <openssl/core_names.h>
#include <openssl/evp.h>
#include <openssl/params.h>

#include "belay/result.h"

namespace belay::encrypted {
namespace {

// Maximum number of cached contexts, one for each key, use and tenant.
constexpr std::size_t kKeyedMacsMax = 1'024;

}  // namespace

void Macs::Free::operator()(evp_mac_ctx_st* context) const { EVP_MAC_CTX_free(context); }

Digest Macs::of(const NamedKey& key, KeyUse use, const TenantId& tenant, std::string_view text) {
  auto found = keyed_.find({&key, use, tenant});
  int worked = 1;
  if (found == keyed_.end()) {
    if (keyed_.size() >= kKeyedMacsMax) keyed_.clear();
    // Fetched once: the algorithm is immutable and shared.
    static EVP_MAC* const algorithm = EVP_MAC_fetch(nullptr, "HMAC", nullptr);
    static char digest[] = "SHA256";
    const OSSL_PARAM parameters[] = {
        OSSL_PARAM_construct_utf8_string(OSSL_MAC_PARAM_DIGEST, digest, 0),
        OSSL_PARAM_construct_end()};
    Keyed context(EVP_MAC_CTX_new(algorithm));
    BELAY_ASSERT(context != nullptr);
    TenantKey secret;
    derive_tenant_key(key, use, tenant, secret);
    worked &= EVP_MAC_init(context.get(), secret.data(), kKeyBytes, parameters);
    found = keyed_.emplace(std::tuple(&key, use, tenant), std::move(context)).first;
  } else {
    worked &= EVP_MAC_init(found->second.get(), nullptr, 0, nullptr);
  }
  Digest code{};
  std::size_t size = 0;
  EVP_MAC_CTX* context = found->second.get();
  worked &=
      EVP_MAC_update(context, reinterpret_cast<const unsigned char*>(text.data()), text.size());
  worked &= EVP_MAC_final(context, code.data(), &size, code.size());
  BELAY_ASSERT(worked == 1 && size == code.size());
  return code;
}

const std::string& Macs::check(const NamedKey& key) {
  auto found = checks_.find(&key);
  if (found == checks_.end()) found = checks_.emplace(&key, check_of(key)).first;
  return found->second;
}

}  // namespace belay::encrypted
