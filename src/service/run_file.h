#pragma once
// service/run_file.h - a run with everything that it wrote, as one document: to keep, to send along
// with a report, to look at elsewhere.
//
// The document, as version 1: {"belay": "run", "version": 1, "exportedAt", "thread", "run",
// "checkpoints", "values", "tasks", "effects", "events", "messages", "approvals", "inner",
// "digest"}. Rows have the members of belay/rows.h. A stored value is the text of its JSON, so that
// the hashes over it still hold; one of another type is {"hex": its envelope}. Times are texts, to
// the microsecond. "digest" is the SHA-256 of the document without it, as compact JSON with its
// members in the order of their names.
//
// What a store has sealed is in plain here. A user's records are not part of a run.
//
// An import keeps every id, so it makes nothing where the thread or the run is there already.
// Messages that waited to be delivered are given up in the copy: the original delivers them.

#include "belay/check.h"
#include "belay/store.h"
#include "check/contents.h"

namespace belay {

Value run_file(const check::RunContents& contents, const ThreadRow& thread, Instant exported_at);

struct RunFile {
  ThreadRow thread;
  check::RunContents contents;
};
// `invalid` for what is no such document, or of a later version; `corrupt` where it was changed.
Result<RunFile> run_file_from(const Value& document);

// The thread's latest run. `not_found` for an unknown thread.
Task<Result<Value>> export_run(Store& store, CheckScope scope, ThreadId thread, Instant now,
                               std::string call);

// Writes it in one commit, after the rules of belay/check.h have found nothing wrong with it
// (`corrupt`). `conflict` where its thread or run is there; `invalid` for a run that has not ended
// unless `may_go_on`: it would go on here as well as where it came from.
Task<Result<RunRow>> import_run(Store& store, CheckScope scope, RunFile file, bool may_go_on,
                                Clock& clock, Random& random);

}  // namespace belay
