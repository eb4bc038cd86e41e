#pragma once
// store/sqlite/envelopes.h - every envelope of a tenant, table by table, and its replacement.
//
// A place is the number of the table's column in the list of envelopes.cc, and the row's.

#include "belay/store.h"
#include "store/sqlite/connection.h"

namespace belay::sqlite {

Result<std::vector<StoredEnvelope>> list_envelopes(Connection& connection, std::int64_t tenant,
                                                   const EnvelopeFilter& filter);
// Where the bytes are others than `before` says, or the row is gone, nothing happens.
Result<Done> rewrite_envelope(Connection& connection, std::int64_t tenant, const Rewrite& rewrite);

}  // namespace belay::sqlite
