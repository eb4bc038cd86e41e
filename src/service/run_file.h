#pragma once
// service/run_file.h - exports a run and everything that it wrote as one document, and imports it.
//
// The document, in version 1: {"belay": "run", "version": 1, "exportedAt", "thread", "run",
// "checkpoints", "values", "tasks", "effects", "events", "messages", "approvals", "inner",
// "digest"}. Rows have the members of belay/rows.h. A stored value is the text of its JSON, so that
// hashes over it remain valid; a value of another type is {"hex": its envelope}. Times are texts,
// with microseconds. "digest" is the SHA-256 of the document without it, as compact JSON with its
// members sorted by name.
//
// The document contains plaintext, also for an encrypted store. A user's records are not part of a
// run.
//
// An import keeps every id; therefore it writes nothing if the thread or the run already exists.
// Messages that waited for delivery are discarded in the copy: the original store delivers them.

#include "belay/check.h"
#include "belay/store.h"
#include "check/contents.h"

namespace belay {

Value run_file(const check::RunContents& contents, const ThreadRow& thread, Instant exported_at);

struct RunFile {
  ThreadRow thread;
  check::RunContents contents;
};
// Fails with `invalid` if the document is not a run file, or has a later version; with `corrupt` if
// it was changed.
Result<RunFile> run_file_from(const Value& document);

// Exports `run`, or the thread's current run. Fails with `not_found` for an unknown one.
Task<Result<Value>> export_run(Store& store, CheckScope scope, ThreadId thread,
                               std::optional<RunId> run, Instant now, std::string call);

// Writes the run in one commit, after checking it against the rules of belay/check.h (`corrupt`).
// Returns the existing run if the same import succeeded before. Otherwise fails with `conflict` if
// the thread or the run exists; with `invalid` if the run has not ended, unless `allow_unfinished`:
// it could then execute both here and in its original store. A later run of a thread brings the
// state that it started from: it becomes the only run of a thread, and further runs continue it.
Task<Result<RunRow>> import_run(Store& store, CheckScope scope, RunFile file, bool allow_unfinished,
                                Clock& clock, Random& random);

}  // namespace belay
