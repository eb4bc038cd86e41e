#pragma once
// langgraph/thread_changes.h - changes of the metadata and the expiry of a thread, which can be in
// its record, in the thread of the service, or in both; and threads that are kept while their runs
// are deleted.
//
// Each change of a record requires the version that was read: of requests at the same time, none is
// lost.
//
// Threading: on the executor that awaits.

#include "langgraph/threads.h"

namespace belay::langgraph {

// Merges the metadata and the expiry of the changes into the thread: a member that is null is
// removed. If the thread has runs, the metadata and the expiry of the record move to the thread of
// the service; a kept one has them in both places. `not_found` if the thread is deleted meanwhile.
// REQUIRES: changes.metadata is an object.
Task<Result<Done>> change_thread(server::ApiContext& world, const server::Call& call,
                                 ThreadView view, ThreadSettings changes);
// True if the settings change nothing. REQUIRES: settings.metadata is an object.
bool contains_settings(const ThreadRow& thread, const ThreadSettings& settings);
// `invalid` if the metadata is too large.
Result<Done> check_thread_metadata(const Value& metadata);

// Writes graph_id and assistant_id, and the metadata of the record, to the metadata of the thread.
// To be called after a start, which has created the thread. A repeated call changes nothing.
Task<Result<Done>> note_run_on_thread(server::ApiContext& world, const server::Call& call,
                                      ThreadId thread, std::string graph_id,
                                      std::string assistant_id);

// Saves the thread as one without a run, before its runs are deleted by the request `by`: a crash
// loses nothing of it. `conflict` if it was changed since it was read.
Task<Result<Done>> keep_thread(AgentServer& served, const server::Call& call, ThreadView view,
                               std::string by);
// The start that would have deleted the runs was refused. Nothing changes if another request keeps
// the thread as well. `not_found`: the thread was deleted.
Task<Done> keep_no_longer(AgentServer& served, const server::Call& call, ThreadId thread,
                          std::string by, Error refused);

}  // namespace belay::langgraph
