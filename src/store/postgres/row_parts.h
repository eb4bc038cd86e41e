#pragma once
// store/postgres/row_parts.h - lists and replaces the sealed parts of rows, table by table;
// envelopes.cc does the same for envelopes.

#include "store/postgres/place_walk.h"

namespace belay::postgres {

// Appends the tenant's parts after filter.after to `found`, up to filter.limit entries in total.
// Their sources are numbered from `sources_before` on.
Result<Done> list_parts(const Ask& ask, const EnvelopeFilter& filter, std::size_t sources_before,
                        std::vector<StoredEnvelope>& found);

// Locks the row, and queues the replacement unless the part differs from `before`.
Result<Done> rewrite_part(Connection& connection, const TenantId& tenant, const Rewrite& rewrite,
                          std::size_t sources_before);

}  // namespace belay::postgres
