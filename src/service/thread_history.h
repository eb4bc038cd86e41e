#pragma once
// service/thread_history.h - reads the commits of a thread over all of its runs, newest first.

#include "belay/service.h"

namespace belay {

// Returns the runs of the page, newest first, with their commits; the first run also if it has no
// commit on the page. Fails with `not_found` for an unknown thread or run; `call` is the program's
// name in the suggested command.
Result<std::vector<RunHistory>> thread_history(Snapshot& view, const TenantId& tenant,
                                               const HistoryPage& page, const std::string& call);

// Returns the last commit of a full page, after which the next page starts; nullopt if it is not
// full.
struct HistoryEnd {
  RunId run;
  std::uint64_t seq = 0;
};
std::optional<HistoryEnd> end_of_page(const std::vector<RunHistory>& history, std::size_t limit);

// The first characters of an id, for a text.
std::string short_id(const RunId& run);

}  // namespace belay
