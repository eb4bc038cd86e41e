#pragma once
// store/postgres/place_walk.h - reads a table's rows in the order of their numbers, which
// have a block range index.
//
// A position combines the index of a source in a list with the row's number in that source.

#include <functional>

#include "belay/store.h"
#include "store/postgres/query.h"

namespace belay::postgres {

inline constexpr int number_bits = 58;
inline constexpr std::uint64_t number_mask = (std::uint64_t{1} << number_bits) - 1;

// Executes a statement within the caller's transaction.
using Ask = std::function<Result<Rows>(const Query&)>;

struct Numbered {
  std::string_view table;
  std::string_view number;
};

// Rows with numbers greater than `after`, up to and including `last`.
struct Window {
  std::uint64_t after = 0;
  std::uint64_t last = 0;
};

// Calls `look` for each window in turn; it appends the window's rows to `found`. Stops when `found`
// has `limit` entries or no rows are left.
Result<Done> walk_places(const Ask& ask, const Numbered& source, std::uint64_t after,
                         std::size_t limit, const std::vector<StoredEnvelope>& found,
                         const std::function<Result<Done>(const Window&)>& look);

}  // namespace belay::postgres
