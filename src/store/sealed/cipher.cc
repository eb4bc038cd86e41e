#include "store/sealed/cipher.h"

#include <openssl/evp.h>

#include <cstring>

#include "belay/result.h"

namespace belay::sealed {
namespace {

// Contexts of this many keys and tenants are kept; a process seldom serves more at once.
constexpr std::size_t kKeyedMax = 256;

const unsigned char* octets(std::string_view text) {
  return reinterpret_cast<const unsigned char*>(text.data());
}
unsigned char* octets(std::string& text, std::size_t at) {
  return reinterpret_cast<unsigned char*>(text.data()) + at;
}

void add(std::string& bound, std::string_view text) {
  for (std::size_t i = 0; i < 4; ++i) bound += static_cast<char>(text.size() >> (8 * i) & 0xff);
  bound += text;
}

}  // namespace

void Cipher::Free::operator()(evp_cipher_ctx_st* context) const { EVP_CIPHER_CTX_free(context); }

const Cipher::Keyed& Cipher::keyed(const NamedKey& key, const TenantId& tenant) {
  auto found = keyed_.find({&key, tenant});
  if (found != keyed_.end()) return found->second;
  if (keyed_.size() >= kKeyedMax) keyed_.clear();
  // Fetched once: the algorithm is immutable and shared.
  static const EVP_CIPHER* const algorithm = EVP_CIPHER_fetch(nullptr, "AES-256-GCM", nullptr);
  TenantKey secret;
  derive_tenant_key(key, tenant, secret);
  Keyed keyed{Context(EVP_CIPHER_CTX_new()), Context(EVP_CIPHER_CTX_new()), check_of(key)};
  BELAY_ASSERT(keyed.sealing && keyed.opening);
  int worked =
      EVP_EncryptInit_ex2(keyed.sealing.get(), algorithm, secret.data(), nullptr, nullptr) &
      EVP_DecryptInit_ex2(keyed.opening.get(), algorithm, secret.data(), nullptr, nullptr);
  BELAY_ASSERT(worked == 1);
  return keyed_.emplace(std::pair(&key, tenant), std::move(keyed)).first->second;
}

void Cipher::bind(const Binding& binding) {
  bound_.clear();
  add(bound_, binding.tenant.text);
  add(bound_, binding.subject);
  add(bound_, binding.type);
}

void Cipher::seal(const NamedKey& key, const Binding& binding, std::string_view plain,
                  std::string& out) {
  BELAY_ASSERT(plain.size() <= kSealedBytesMax);
  const Keyed& with = keyed(key, binding.tenant);
  bind(binding);
  out += with.check;
  std::uint64_t random[2] = {random_.bits(), random_.bits()};
  std::size_t at = out.size();
  out.resize(at + kNonceBytes + plain.size() + kTagBytes);
  std::memcpy(out.data() + at, random, kNonceBytes);
  EVP_CIPHER_CTX* context = with.sealing.get();
  int worked = EVP_EncryptInit_ex2(context, nullptr, nullptr, octets(out, at), nullptr);
  int size = 0;
  worked &=
      EVP_EncryptUpdate(context, nullptr, &size, octets(bound_), static_cast<int>(bound_.size()));
  at += kNonceBytes;
  if (!plain.empty()) {
    worked &= EVP_EncryptUpdate(context, octets(out, at), &size, octets(plain),
                                static_cast<int>(plain.size()));
  }
  at += plain.size();
  worked &= EVP_EncryptFinal_ex(context, octets(out, at), &size);
  worked &= EVP_CIPHER_CTX_ctrl(context, EVP_CTRL_AEAD_GET_TAG, kTagBytes, octets(out, at));
  BELAY_ASSERT(worked == 1);
}

Cipher::Opened Cipher::open(const NamedKey& key, const Binding& binding, std::string_view data,
                            std::string& out) {
  if (data.size() < kSealedMore || data.size() - kSealedMore > kSealedBytesMax) {
    return Opened::changed;
  }
  const Keyed& with = keyed(key, binding.tenant);
  bind(binding);
  bool is_known = data.substr(0, kCheckBytes) == with.check;
  data.remove_prefix(kCheckBytes);
  std::string_view nonce = data.substr(0, kNonceBytes);
  std::string_view within = data.substr(kNonceBytes, data.size() - kNonceBytes - kTagBytes);
  unsigned char tag[kTagBytes];
  std::memcpy(tag, data.data() + data.size() - kTagBytes, kTagBytes);
  EVP_CIPHER_CTX* context = with.opening.get();
  int worked = EVP_DecryptInit_ex2(context, nullptr, nullptr, octets(nonce), nullptr);
  int size = 0;
  worked &=
      EVP_DecryptUpdate(context, nullptr, &size, octets(bound_), static_cast<int>(bound_.size()));
  std::size_t at = out.size();
  out.resize(at + within.size());
  if (!within.empty()) {
    worked &= EVP_DecryptUpdate(context, octets(out, at), &size, octets(within),
                                static_cast<int>(within.size()));
  }
  worked &= EVP_CIPHER_CTX_ctrl(context, EVP_CTRL_AEAD_SET_TAG, kTagBytes, tag);
  BELAY_ASSERT(worked == 1);
  bool fits = EVP_DecryptFinal_ex(context, tag, &size) == 1;
  if (fits && is_known) return Opened::well;
  overwrite(out.data() + at, out.size() - at);
  // A key that opens it is the right one, whatever the first bytes say: then those were changed.
  return fits || is_known ? Opened::changed : Opened::other_key;
}

}  // namespace belay::sealed
