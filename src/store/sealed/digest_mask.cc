#include "store/sealed/digest_mask.h"

#include "store/stored_digest.h"

namespace belay::sealed {
namespace {

Digest turned_over(const NamedKey& key, const TenantId& tenant, std::string_view subject,
                   Digest digest) {
  Digest mask = mask_mac(key, tenant, subject);
  for (std::size_t i = 0; i < digest.size(); ++i) digest[i] ^= mask[i];
  return digest;
}

}  // namespace

std::string masked(const NamedKey& key, const TenantId& tenant, std::string_view subject,
                   const Digest& digest) {
  return store::bytes_of(turned_over(key, tenant, subject, digest)) + check_of(key) + key.id;
}

std::optional<MaskedParts> masked_parts_of(std::string_view bytes) {
  constexpr std::size_t digest_bytes = Digest{}.size();
  if (bytes.size() <= digest_bytes + kCheckBytes) return std::nullopt;
  return MaskedParts{bytes.substr(0, digest_bytes), bytes.substr(digest_bytes, kCheckBytes),
                     bytes.substr(digest_bytes + kCheckBytes)};
}

std::optional<Digest> unmasked(const NamedKey& key, const TenantId& tenant,
                               std::string_view subject, const MaskedParts& parts) {
  if (parts.check != check_of(key)) return std::nullopt;
  return turned_over(key, tenant, subject, store::digest_of(parts.bits));
}

}  // namespace belay::sealed
