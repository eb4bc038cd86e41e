#pragma once
// store/memory/envelopes.h - every envelope of a tenant, wherever it is kept, under a number that
// stays with its row.

#include <functional>

#include "store/envelope_subject.h"
#include "store/memory/tables.h"

namespace belay::store {

// The first bytes of SHA-256 over the row's subject: it needs no bookkeeping.
std::uint64_t place_of_subject(std::string_view subject);

// An envelope where it is kept, or what else every_kind is about. What is made of the bytes, and of
// the texts, is kept.
struct Visited {
  Subject subject;
  StoredEnvelope::Kind kind = StoredEnvelope::Kind::envelope;
  std::string& envelope;
  std::vector<std::string*> texts = {};
};

// Calls `visit` for each of them, with `every_kind` also for what may be no envelope. Empty ones
// are left out, but for seals and what something is bound to.
using VisitEnvelope = std::function<void(Visited)>;
void for_each_envelope(TenantTables& tenant, bool every_kind, const VisitEnvelope& visit);

Result<std::vector<StoredEnvelope>> list_envelopes(const TenantTables& tenant,
                                                   const EnvelopeFilter& filter);
void rewrite_envelopes(TenantTables& tenant, std::vector<Rewrite>& rewrites);

}  // namespace belay::store
