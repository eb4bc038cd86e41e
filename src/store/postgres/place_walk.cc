#include "store/postgres/place_walk.h"

#include <algorithm>

namespace belay::postgres {
namespace {

// A block range index finds a range of numbers but no order: this many numbers are read at a time,
// and the range doubles with each read.
constexpr std::uint64_t first_window = 4'096;
constexpr std::uint64_t window_max = std::uint64_t{1} << 20;

// Returns an upper bound of the table's row numbers: from the sequence if the user may
// read it, else from the table.
Result<std::uint64_t> last_number(const Ask& ask, const Numbered& source) {
  std::string table = "belay." + std::string(source.table);
  std::string number(source.number);
  Query query("SELECT coalesce(CASE WHEN has_sequence_privilege(s.name, 'SELECT')");
  query.add(" THEN pg_sequence_last_value(s.name) END, (SELECT max(" + number + ") FROM " + table +
            "), 0) FROM (SELECT pg_get_serial_sequence('" + table + "', '" + number +
            "')::regclass::oid AS name) s");
  BELAY_TRY(Rows row, ask(query));
  return row.natural(0, 0);
}

}  // namespace

Result<Done> walk_places(const Ask& ask, const Numbered& source, std::uint64_t after,
                         std::size_t limit, const std::vector<StoredEnvelope>& found,
                         const std::function<Result<Done>(const Window&)>& look) {
  BELAY_TRY(std::uint64_t last, last_number(ask, source));
  std::uint64_t size = std::max<std::uint64_t>(first_window, std::min(limit, window_max));
  while (after < last && found.size() < limit) {
    Window window{after, after + std::min(size, last - after)};
    BELAY_CHECK(look(window));
    after = window.last;
    size = std::min(size * 2, window_max);
  }
  return Done{};
}

}  // namespace belay::postgres
