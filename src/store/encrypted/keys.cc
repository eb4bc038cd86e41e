#include "store/encrypted/keys.h"

#include <openssl/core_names.h>
#include <openssl/crypto.h>
#include <openssl/evp.h>
#include <openssl/kdf.h>
#include <openssl/params.h>

#include <algorithm>

#include "belay/result.h"

namespace belay::encrypted {
namespace {

// The salt of the derivation. A changed derivation must have another salt.
constexpr std::string_view kSalt = "belay sealed store 1";

struct FreeKdf {
  void operator()(EVP_KDF_CTX* context) const { EVP_KDF_CTX_free(context); }
};

// OSSL_PARAM is not const, although OpenSSL only reads input parameters.
OSSL_PARAM octets(const char* name, std::string_view text) {
  return OSSL_PARAM_construct_octet_string(name, const_cast<char*>(text.data()), text.size());
}

OSSL_PARAM sha256_as(const char* name) {
  static char digest[] = "SHA256";
  return OSSL_PARAM_construct_utf8_string(name, digest, 0);
}

// HKDF-SHA-256 with `purpose`, a zero byte and the tenant as its info.
void derive(const NamedKey& key, std::string_view purpose, const TenantId& tenant,
            std::uint8_t* out, std::size_t size) {
  // Fetched once: the algorithm is immutable and shared, and fetching costs more than deriving.
  static EVP_KDF* const algorithm = EVP_KDF_fetch(nullptr, "HKDF", nullptr);
  std::unique_ptr<EVP_KDF_CTX, FreeKdf> context(EVP_KDF_CTX_new(algorithm));
  BELAY_ASSERT(context != nullptr);
  std::string info(purpose);
  info += '\0';
  info += tenant.text;
  std::string_view secret(reinterpret_cast<const char*>(key.bytes.data()), kKeyBytes);
  const OSSL_PARAM parameters[] = {sha256_as(OSSL_KDF_PARAM_DIGEST),
                                   octets(OSSL_KDF_PARAM_KEY, secret),
                                   octets(OSSL_KDF_PARAM_SALT, kSalt),
                                   octets(OSSL_KDF_PARAM_INFO, info), OSSL_PARAM_construct_end()};
  int worked = EVP_KDF_derive(context.get(), out, size, parameters);
  BELAY_ASSERT(worked == 1);
}

std::string_view purpose_of(KeyUse use) {
  switch (use) {
    case KeyUse::old_values:
      return "values";
    case KeyUse::values:
      return "values of any number";
    case KeyUse::blobs:
      return "blobs";
    case KeyUse::digests:
      return "digests";
    case KeyUse::chain:
      return "chain";
    case KeyUse::index:
      return "index";
  }
  return {};
}

}  // namespace

void overwrite(void* bytes, std::size_t size) { OPENSSL_cleanse(bytes, size); }

const NamedKey* Keys::find(std::string_view id) const {
  auto found = std::find_if(keys_.begin(), keys_.end(), [&](auto& key) { return key->id == id; });
  return found == keys_.end() ? nullptr : found->get();
}

void derive_tenant_key(const NamedKey& key, KeyUse use, const TenantId& tenant,
                       TenantKey& derived) {
  derive(key, purpose_of(use), tenant, derived.data(), kKeyBytes);
}

std::string check_of(const NamedKey& key) {
  std::array<std::uint8_t, kCheckBytes> check{};
  derive(key, "check", TenantId(), check.data(), check.size());
  return {check.begin(), check.end()};
}

}  // namespace belay::encrypted
