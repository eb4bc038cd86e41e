#pragma once
// store/sealed/digest_mask.h - digests of plain text, kept so that nobody can test a guess with
// them.
//
// A masked digest: the digest, each bit of it turned over where HMAC-SHA-256 of the subject under a
// tenant's key has a one (32 bytes), the bytes by which the key is known again (4), the key's id.
// Turning over once more unmasks. What is masked is chained, and the subject names one commit: no
// mask serves two digests, and a bit that is changed breaks the chain.

#include <optional>
#include <string>
#include <string_view>

#include "belay/ids.h"
#include "store/sealed/keys.h"

namespace belay::sealed {

// Views into a masked digest.
struct MaskedParts {
  std::string_view bits;
  std::string_view check;
  std::string_view key_id;
};

std::string masked(const NamedKey& key, const TenantId& tenant, std::string_view subject,
                   const Digest& digest);

// Nothing for bytes that can't be one.
std::optional<MaskedParts> masked_parts_of(std::string_view bytes);

// Nothing if it was masked with another key of this id.
std::optional<Digest> unmasked(const NamedKey& key, const TenantId& tenant,
                               std::string_view subject, const MaskedParts& parts);

}  // namespace belay::sealed
