#pragma once
// store/sqlite/row_parts.h - the parts of rows that have a seal, table by table, and their
// replacement: what envelopes.cc is for envelopes.
//
// Threading: that of the connection.

#include "belay/store.h"
#include "store/sqlite/connection.h"

namespace belay::sqlite {

// The place of a row: which source, and its number there.
inline constexpr int number_bits = 58;
inline constexpr std::uint64_t number_mask = (std::uint64_t{1} << number_bits) - 1;

// Those of the tenant after filter.after, behind what is in `found`, which filter.limit bounds.
// Their sources are numbered from `sources_before` on.
Result<Done> list_parts(Connection& connection, std::int64_t tenant, const EnvelopeFilter& filter,
                        std::size_t sources_before, std::vector<StoredEnvelope>& found);
// Where the part is another than `before` says, or the row is gone, nothing happens.
Result<Done> rewrite_part(Connection& connection, std::int64_t tenant, const Rewrite& rewrite,
                          std::size_t sources_before);

}  // namespace belay::sqlite
