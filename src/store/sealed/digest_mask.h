#pragma once
// store/sealed/digest_mask.h - chain hashes, kept so that nobody can test a guess with them, and
// none can be put there without the key.
//
// A masked digest: the digest, each bit of it turned over where HMAC-SHA-256 of the subject under a
// tenant's key has a one (32 bytes); HMAC-SHA-256, under another key of the tenant, of subject,
// what that is bound to and the digest (32); the bytes by which the key is known again (4); the
// key's id. Turning over once more unmasks. The subject names one commit: no mask serves two
// digests. What an older Belay masked lacks the second HMAC, and is shorter than anything that has
// it.

#include <optional>
#include <string>
#include <string_view>

#include "belay/ids.h"
#include "store/envelope_subject.h"
#include "store/sealed/macs.h"

namespace belay::sealed {

// Views into a masked digest.
struct MaskedParts {
  std::string_view bits;
  std::string_view code;  // empty where an older Belay masked it
  std::string_view check;
  std::string_view key_id;
};

std::string masked(Macs& macs, const NamedKey& key, const TenantId& tenant,
                   const store::Subject& subject, const Digest& digest);

// Nothing for bytes that can't be one.
std::optional<MaskedParts> masked_parts_of(std::string_view bytes);

enum class Unmasked { well, other_key, changed };
// `digest` is of no use unless the answer is `well`. Without a code it always is.
Unmasked unmask(Macs& macs, const NamedKey& key, const TenantId& tenant,
                const store::Subject& subject, const MaskedParts& parts, Digest& digest);

}  // namespace belay::sealed
