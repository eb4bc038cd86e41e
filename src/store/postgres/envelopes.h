#pragma once
// store/postgres/envelopes.h - every envelope of a tenant, table by table, and its replacement.
//
// A place is the number of the table's column in the list of envelopes.cc, and the row's.

#include <functional>

#include "belay/store.h"
#include "store/postgres/query.h"

namespace belay::postgres {

// `ask` carries a statement out, within the transaction of the caller.
Result<std::vector<StoredEnvelope>> list_envelopes(
    const std::function<Result<Rows>(const Query&)>& ask, const EnvelopeFilter& filter);

// Queues the replacement; of a part of a row, after a look at it. Where the bytes are others than
// `before` says, or the row is gone, it will change nothing.
Result<Done> rewrite_envelope(Connection& connection, const TenantId& tenant,
                              const Rewrite& rewrite);

}  // namespace belay::postgres
