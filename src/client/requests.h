#pragma once
// client/requests.h - the requests of RemoteService: addresses and bodies, as docs/api.md defines
// them.

#include "belay/service.h"
#include "client/connection.h"
#include "client/server_address.h"

namespace belay::client {

std::uint64_t page_limit(std::size_t limit);

// The path of the deletion of a thread, with its query.
std::string deletion_path(std::string path, KeptRuns kept);
Value resume_body(const std::optional<Breakpoints>& breakpoints,
                  const std::optional<std::uint64_t>& only_at,
                  const std::optional<Consent>& consent);
// Refuses a start that a request cannot express.
Result<Done> check_start(const StartRun& start);
Value start_body(const StartRun& start);
Value fork_body(const ForkOptions& options, bool is_preview);
Value decision_body(const Decision& decision);
Value thread_body(const ThreadSettings& settings);

// Add a parameter to a query if it is set.
void add_user(Target& target, const std::optional<UserId>& user);
// The parameters of an indexed field: its value, or the range of an ordered index.
void add_field(Target& target, const RecordFilter& filter);
void add_run(Target& target, const std::optional<RunId>& run);

std::string thread_path(const ThreadId& thread, std::string_view more = "");

Ask ask_to(std::string method, std::string target, Value body = Value());
Ask post(std::string target);  // with the body {}
Ask post(std::string target, Value body);

// The request for a page of runs, of all threads or of one.
Target runs_target(const RunPage& page);

}  // namespace belay::client
