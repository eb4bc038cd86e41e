#pragma once
// langgraph/records.h - reads all records of a user's collection, and saves records.
//
// Threading: on the executor that awaits. The service must outlive the calls.

#include "belay/service.h"

namespace belay::langgraph {

// The maximum number of records, and of threads, that a search reads: the others are not found.
inline constexpr std::size_t kSearchedMax = 10'000;

template <Record R>
struct UserRecords {
  std::vector<Versioned<R>> records;  // ordered by key
  bool is_complete = true;            // false: there are more than kSearchedMax
};

// Returns the records that `filter` selects: `field` and `value`, or all; from `after` on, while
// their keys begin with `prefix`.
template <Record R>
Task<Result<UserRecords<R>>> read_records(Service& service, Principal who, UserId user,
                                          RecordFilter filter, std::string prefix = {}) {
  UserRecords<R> found;
  filter.collection = R::collection;
  filter.limit = limits::list_rows_max;
  while (true) {
    RecordFilter page = filter;
    UserId owner = user;
    BELAY_CO_TRY(std::vector<RecordRow> rows,
                 co_await service.find_records(who, std::move(owner), std::move(page)));
    for (const RecordRow& row : rows) {
      if (!row.key.starts_with(prefix)) co_return std::move(found);
      found.is_complete = found.records.size() < kSearchedMax;
      if (!found.is_complete) co_return std::move(found);
      BELAY_CO_TRY(R record, record_from<R>(row));
      found.records.push_back({std::move(record), row.version});
    }
    if (rows.size() < filter.limit) co_return std::move(found);
    filter.after = rows.back().key;
  }
}

// Adds the write that saves the record of the user; `expected`: the version that was read, 0 if it
// must be new.
template <Record R>
Result<Done> add_write(std::vector<RecordWrite>& writes, const R& record, const UserId& user,
                       std::optional<std::uint64_t> expected = std::nullopt) {
  BELAY_TRY(RecordWrite write, record_write(record, user));
  write.expected_version = expected;
  writes.push_back(std::move(write));
  return Done{};
}

}  // namespace belay::langgraph
