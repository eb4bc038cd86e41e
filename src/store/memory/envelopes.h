#pragma once
// store/memory/envelopes.h - every envelope of a tenant, wherever it is kept, under a number that
// stays with its row.

#include <functional>

#include "store/memory/tables.h"

namespace belay::store {

// The first bytes of SHA-256 over the row's subject: it needs no bookkeeping.
std::uint64_t place_of_subject(std::string_view subject);

// Calls `visit(subject, envelope, kind)` for each of them, and with `every_kind` for what may be no
// envelope; empty ones are left out. What `visit` makes of the bytes is kept.
using VisitEnvelope = std::function<void(std::string&&, std::string&, StoredEnvelope::Kind)>;
void for_each_envelope(TenantTables& tenant, bool every_kind, const VisitEnvelope& visit);

Result<std::vector<StoredEnvelope>> list_envelopes(const TenantTables& tenant,
                                                   const EnvelopeFilter& filter);
void rewrite_envelopes(TenantTables& tenant, std::vector<Rewrite>& rewrites);

}  // namespace belay::store
