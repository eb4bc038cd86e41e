#pragma once
// store/encrypted/digest_mask.h - masks stored chain hashes: a guess cannot be checked against a
// mask, and a mask cannot be created, without the key.
//
// A masked digest: the digest XORed with HMAC-SHA-256 of the subject under a tenant's key
// (32 bytes); HMAC-SHA-256, under another key of the tenant, over the subject, the values
// bound to it and the digest (32); the bytes that identify the key (4); the key's id. A
// second XOR unmasks it. The subject names one commit: no mask is used for two digests. A
// digest masked by an older Belay lacks the second HMAC, and is shorter than any digest with
// one.

#include <optional>
#include <string>
#include <string_view>

#include "belay/ids.h"
#include "store/encrypted/macs.h"
#include "store/envelope_subject.h"

namespace belay::encrypted {

// Views into a masked digest.
struct MaskedParts {
  std::string_view bits;
  std::string_view code;  // empty if an older Belay masked it
  std::string_view check;
  std::string_view key_id;
};

std::string masked(Macs& macs, const NamedKey& key, const TenantId& tenant,
                   const store::Subject& subject, const Digest& digest);

// Returns nullopt for bytes that cannot be a masked digest.
std::optional<MaskedParts> masked_parts_of(std::string_view bytes);

enum class Unmasked { well, other_key, changed };
// `digest` is valid only if the result is `well`. Without a code it always is.
Unmasked unmask(Macs& macs, const NamedKey& key, const TenantId& tenant,
                const store::Subject& subject, const MaskedParts& parts, Digest& digest);

}  // namespace belay::encrypted
