#pragma once
// store/postgres/envelopes.h - every envelope of a tenant, table by table, and its replacement.
//
// A position consists of the index of a column in the list of envelopes.cc and a row's number.

#include <functional>

#include "belay/store.h"
#include "store/postgres/query.h"

namespace belay::postgres {

// `ask` executes a statement within the transaction of the caller.
Result<std::vector<StoredEnvelope>> list_envelopes(
    const std::function<Result<Rows>(const Query&)>& ask, const EnvelopeFilter& filter);

// Queues the replacement; for a part of a row, reads the part first. Changes nothing if the stored
// bytes differ from `before` or if the row no longer exists.
Result<Done> rewrite_envelope(Connection& connection, const TenantId& tenant,
                              const Rewrite& rewrite);

}  // namespace belay::postgres
