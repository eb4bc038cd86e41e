#pragma once
// store/postgres/place_walk.h - the rows of a table in the order of their numbers, for which there
// is a block range index.
//
// A place is the number of a source in a list, and the row's number there.

#include <functional>

#include "belay/store.h"
#include "store/postgres/query.h"

namespace belay::postgres {

inline constexpr int number_bits = 58;
inline constexpr std::uint64_t number_mask = (std::uint64_t{1} << number_bits) - 1;

// `ask` carries a statement out, within the transaction of the caller.
using Ask = std::function<Result<Rows>(const Query&)>;

struct Numbered {
  std::string_view table;
  std::string_view number;
};

// Rows with numbers from after `after` up to and with `last`.
struct Window {
  std::uint64_t after = 0;
  std::uint64_t last = 0;
};

// Calls `look` for one window after the other, which adds what is there to `found`, until that
// holds `limit`, or there are no more.
Result<Done> walk_places(const Ask& ask, const Numbered& source, std::uint64_t after,
                         std::size_t limit, const std::vector<StoredEnvelope>& found,
                         const std::function<Result<Done>(const Window&)>& look);

}  // namespace belay::postgres
