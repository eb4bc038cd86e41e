#pragma once
// store/memory/envelopes.h - lists and replaces all envelopes of a tenant, by a permanent number.

#include <functional>

#include "store/envelope_subject.h"
#include "store/memory/tables.h"

namespace belay::store {

// Returns the first bytes of SHA-256 over the row's subject, so that no number must be stored.
std::uint64_t place_of_subject(std::string_view subject);

// A reference to a stored envelope, or with every_kind to other stored bytes. Changes to the bytes
// and the texts change the stored row.
struct Visited {
  Subject subject;
  StoredEnvelope::Kind kind = StoredEnvelope::Kind::envelope;
  std::string& envelope;
  std::vector<std::string*> texts = {};
};

// Called for each envelope, and with `every_kind` also for bytes that might not be envelopes. Empty
// ones are skipped, except seals and envelopes to which something is bound.
using VisitEnvelope = std::function<void(Visited)>;
void for_each_envelope(TenantTables& tenant, bool every_kind, const VisitEnvelope& visit);

Result<std::vector<StoredEnvelope>> list_envelopes(const TenantTables& tenant,
                                                   const EnvelopeFilter& filter);
void rewrite_envelopes(TenantTables& tenant, std::vector<Rewrite>& rewrites);

}  // namespace belay::store
