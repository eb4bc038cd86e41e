#include "store/encrypted/digest_mask.h"

#include <openssl/crypto.h>

#include "store/stored_digest.h"

namespace belay::encrypted {
namespace {

constexpr std::size_t kDigestBytes = Digest{}.size();

Digest turned_over(Macs& macs, const NamedKey& key, const TenantId& tenant,
                   const store::Subject& subject, Digest digest) {
  Digest mask = macs.of(key, KeyUse::digests, tenant, subject.row);
  for (std::size_t i = 0; i < digest.size(); ++i) digest[i] ^= mask[i];
  return digest;
}

std::string code_of(Macs& macs, const NamedKey& key, const TenantId& tenant,
                    const store::Subject& subject, const Digest& digest) {
  std::string text;
  store::add(text, subject.row);
  store::add(text, subject.bound);
  store::add(text, store::bytes_of(digest));
  return store::bytes_of(macs.of(key, KeyUse::chain, tenant, text));
}

}  // namespace

std::string masked(Macs& macs, const NamedKey& key, const TenantId& tenant,
                   const store::Subject& subject, const Digest& digest) {
  return store::bytes_of(turned_over(macs, key, tenant, subject, digest)) +
         code_of(macs, key, tenant, subject, digest) + macs.check(key) + key.id;
}

std::optional<MaskedParts> masked_parts_of(std::string_view bytes) {
  if (bytes.size() <= kDigestBytes + kCheckBytes) return std::nullopt;
  MaskedParts parts;
  auto take = [&](std::size_t size) {
    std::string_view front = bytes.substr(0, size);
    bytes.remove_prefix(front.size());
    return front;
  };
  bool has_code = bytes.size() > kDigestBytes + kCheckBytes + kKeyIdMax;
  parts.bits = take(kDigestBytes);
  if (has_code) parts.code = take(kDigestBytes);
  parts.check = take(kCheckBytes);
  parts.key_id = bytes;
  if (parts.key_id.empty()) return std::nullopt;
  return parts;
}

Unmasked unmask(Macs& macs, const NamedKey& key, const TenantId& tenant,
                const store::Subject& subject, const MaskedParts& parts, Digest& digest) {
  bool is_known = parts.check == macs.check(key);
  digest = turned_over(macs, key, tenant, subject, store::digest_of(parts.bits));
  if (parts.code.empty()) return is_known ? Unmasked::well : Unmasked::other_key;
  std::string code = code_of(macs, key, tenant, subject, digest);
  bool fits = CRYPTO_memcmp(code.data(), parts.code.data(), code.size()) == 0;
  if (fits && is_known) return Unmasked::well;
  return fits || is_known ? Unmasked::changed : Unmasked::other_key;
}

}  // namespace belay::encrypted
