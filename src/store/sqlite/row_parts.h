#pragma once
// store/sqlite/row_parts.h - lists and replaces the sealed parts of rows, table by table;
// envelopes.cc does the same for envelopes.
//
// Threading: that of the connection.

#include "belay/store.h"
#include "store/sqlite/connection.h"

namespace belay::sqlite {

// A row's position: the index of its source, followed by its number in that source.
inline constexpr int number_bits = 58;
inline constexpr std::uint64_t number_mask = (std::uint64_t{1} << number_bits) - 1;

// Appends the tenant's parts after filter.after to `found`, up to filter.limit entries in total.
// Their sources are numbered from `sources_before` on.
Result<Done> list_parts(Connection& connection, std::int64_t tenant, const EnvelopeFilter& filter,
                        std::size_t sources_before, std::vector<StoredEnvelope>& found);
// Does nothing if the part differs from `before` or if the row no longer exists.
Result<Done> rewrite_part(Connection& connection, std::int64_t tenant, const Rewrite& rewrite,
                          std::size_t sources_before);

}  // namespace belay::sqlite
