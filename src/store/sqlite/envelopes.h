#pragma once
// store/sqlite/envelopes.h - every envelope of a tenant, table by table, and its replacement.
//
// A position consists of the index of a column in the list of envelopes.cc and a row's number.

#include "belay/store.h"
#include "store/sqlite/connection.h"

namespace belay::sqlite {

Result<std::vector<StoredEnvelope>> list_envelopes(Connection& connection, std::int64_t tenant,
                                                   const EnvelopeFilter& filter);
// Does nothing if the stored bytes differ from `before` or if the row no longer exists.
Result<Done> rewrite_envelope(Connection& connection, std::int64_t tenant, const Rewrite& rewrite);

}  // namespace belay::sqlite
