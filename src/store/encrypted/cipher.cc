#include "store/encrypted/cipher.h"

#include <openssl/evp.h>

#include <cstring>

#include "belay/result.h"

namespace belay::encrypted {
namespace {

// Maximum number of cached contexts, one for each key and tenant; a process seldom uses more.
constexpr std::size_t kKeyedMax = 256;

const unsigned char* octets(std::string_view text) {
  return reinterpret_cast<const unsigned char*>(text.data());
}
unsigned char* octets(std::string& text, std::size_t at) {
  return reinterpret_cast<unsigned char*>(text.data()) + at;
}

// Fetched once: the algorithm is immutable and shared.
const EVP_CIPHER* aes_gcm() {
  static const EVP_CIPHER* const algorithm = EVP_CIPHER_fetch(nullptr, "AES-256-GCM", nullptr);
  return algorithm;
}

void add(std::string& bound, std::string_view text) {
  for (std::size_t i = 0; i < 4; ++i) bound += static_cast<char>(text.size() >> (8 * i) & 0xff);
  bound += text;
}

}  // namespace

void Cipher::Free::operator()(evp_cipher_ctx_st* context) const { EVP_CIPHER_CTX_free(context); }

Cipher::Cipher(Random& random)
    : random_(random), encryption_(EVP_CIPHER_CTX_new()), opening_(EVP_CIPHER_CTX_new()) {
  BELAY_ASSERT(encryption_ && opening_);
  int worked = EVP_EncryptInit_ex2(encryption_.get(), aes_gcm(), nullptr, nullptr, nullptr) &
               EVP_DecryptInit_ex2(opening_.get(), aes_gcm(), nullptr, nullptr, nullptr);
  BELAY_ASSERT(worked == 1);
}

const Cipher::Keyed& Cipher::keyed(const NamedKey& key, const TenantId& tenant) {
  auto found = keyed_.find({&key, tenant});
  if (found != keyed_.end()) return found->second;
  if (keyed_.size() >= kKeyedMax) keyed_.clear();
  TenantKey values;
  derive_tenant_key(key, KeyUse::values, tenant, values);
  TenantKey old;
  derive_tenant_key(key, KeyUse::old_values, tenant, old);
  Keyed keyed{MessageKeys(values), Context(EVP_CIPHER_CTX_new()), check_of(key)};
  BELAY_ASSERT(keyed.old_opening != nullptr);
  EVP_CIPHER_CTX* opening = keyed.old_opening.get();
  int worked = EVP_DecryptInit_ex2(opening, aes_gcm(), old.data(), nullptr, nullptr);
  BELAY_ASSERT(worked == 1);
  return keyed_.emplace(std::pair(&key, tenant), std::move(keyed)).first->second;
}

void Cipher::bind(Method method, const Binding& binding) {
  bound_.clear();
  add(bound_, binding.tenant.text);
  add(bound_, binding.subject.row);
  if (method == Method::xaes256gcm) add(bound_, binding.subject.bound);
  add(bound_, binding.type);
}

void Cipher::seal(const NamedKey& key, const Binding& binding, std::string_view plain,
                  std::string& out) {
  BELAY_ASSERT(plain.size() <= kSealedBytesMax);
  const Keyed& with = keyed(key, binding.tenant);
  bind(Method::xaes256gcm, binding);
  out += with.check;
  std::uint64_t random[3] = {random_.bits(), random_.bits(), random_.bits()};
  static_assert(sizeof random == kNonceBytes);
  std::size_t at = out.size();
  out.resize(at + kNonceBytes + plain.size() + kTagBytes);
  std::memcpy(out.data() + at, random, kNonceBytes);
  TenantKey secret;
  with.messages.derive(std::string_view(out).substr(at), secret);
  EVP_CIPHER_CTX* context = encryption_.get();
  int worked = EVP_EncryptInit_ex2(context, nullptr, secret.data(), octets(out, at + 12), nullptr);
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

Cipher::Opened Cipher::open(Method method, const NamedKey& key, const Binding& binding,
                            std::string_view data, std::string& out) {
  bool is_old = method == Method::aes256gcm;
  std::size_t nonce_bytes = is_old ? kOldNonceBytes : kNonceBytes;
  std::size_t more = kCheckBytes + nonce_bytes + kTagBytes;
  if (data.size() < more || data.size() - more > kSealedBytesMax) return Opened::changed;
  const Keyed& with = keyed(key, binding.tenant);
  bind(method, binding);
  bool is_known = data.substr(0, kCheckBytes) == with.check;
  data.remove_prefix(kCheckBytes);
  std::string_view nonce = data.substr(0, nonce_bytes);
  std::string_view within = data.substr(nonce_bytes, data.size() - nonce_bytes - kTagBytes);
  unsigned char tag[kTagBytes];
  std::memcpy(tag, data.data() + data.size() - kTagBytes, kTagBytes);
  EVP_CIPHER_CTX* context = is_old ? with.old_opening.get() : opening_.get();
  int worked = 0;
  if (is_old) {
    worked = EVP_DecryptInit_ex2(context, nullptr, nullptr, octets(nonce), nullptr);
  } else {
    TenantKey secret;
    with.messages.derive(nonce, secret);
    worked =
        EVP_DecryptInit_ex2(context, nullptr, secret.data(), octets(nonce.substr(12)), nullptr);
  }
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
  // If a key opens the data, it is the right one and the first 4 bytes were changed.
  return fits || is_known ? Opened::changed : Opened::other_key;
}

}  // namespace belay::encrypted
