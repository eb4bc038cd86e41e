#pragma once
// load/code_gone.h - finds runs that no live process can continue: their code is gone.
//
// It is derived from the graphs of this process and from those that the others have declared, and
// writes nothing: a program that has a graph of that version, or an upgrade from it, continues the
// run. With default OtherPrograms, it is about this process alone.

#include <optional>
#include <string>
#include <vector>

#include "belay/store.h"
#include "load/declared_programs.h"

namespace belay {

// Returns why no graph can continue the run; nullopt if one can, or if the run has ended. `row`
// may lack its input.
Result<std::optional<std::string>> why_code_is_gone(Snapshot& view, const GraphRegistry& graphs,
                                                    const OtherPrograms& others, const RunRow& row);

// Returns why this process does not execute the run: its code is gone here, or its graph refuses
// the run because of its materials.
Result<std::optional<std::string>> why_not_executed(Snapshot& view, const GraphRegistry& graphs,
                                                    const RunRow& row);

// Returns the runs of the tenant that have not ended and that no graph can continue, without their
// inputs, newest first; only those of `user`, if that is given. Reads all runs that have not ended.
Result<std::vector<RunRow>> runs_without_code(Snapshot& view, const GraphRegistry& graphs,
                                              const OtherPrograms& others, const TenantId& tenant,
                                              const std::optional<UserId>& user = std::nullopt);

// The place of a walk over the runs that have not ended.
struct CodeGoneCursor {
  std::optional<RunId> after = std::nullopt;  // unset: the walk begins
  bool is_at_end = false;                     // of the page that was read last
};

// Reads the next page of the runs that have not ended, and returns those that no program can
// continue. After the last page, and if the run of the cursor was deleted, the walk begins again.
Result<std::vector<RunRow>> page_without_code(Snapshot& view, const GraphRegistry& graphs,
                                              const OtherPrograms& others, const TenantId& tenant,
                                              CodeGoneCursor& cursor);

}  // namespace belay
