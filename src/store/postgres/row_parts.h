#pragma once
// store/postgres/row_parts.h - the parts of rows that have a seal, table by table, and their
// replacement: what envelopes.cc is for envelopes.

#include "store/postgres/place_walk.h"

namespace belay::postgres {

// Those of the tenant after filter.after, behind what is in `found`, which filter.limit bounds.
// Their sources are numbered from `sources_before` on.
Result<Done> list_parts(const Ask& ask, const EnvelopeFilter& filter, std::size_t sources_before,
                        std::vector<StoredEnvelope>& found);

// Locks the row, and queues the replacement unless the part is another than `before` says.
Result<Done> rewrite_part(Connection& connection, const TenantId& tenant, const Rewrite& rewrite,
                          std::size_t sources_before);

}  // namespace belay::postgres
