#pragma once
// load/declared_programs.h - which runs the other live processes of a store can continue.
//
// A worker or server declares its graphs in a record of its tenant, by its session. A live process
// that has declared none, such as a command without a worker, might have any graph: a run's code
// is gone for all processes only if each live one has declared that it cannot continue it.
//
// Threading: the executor's thread.

#include <map>
#include <set>
#include <string>
#include <vector>

#include "belay/store.h"
#include "load/graph_registry.h"

namespace belay {

// Of one process: by the name of a graph, the versions, in hex, that it continues; "*": all.
using DeclaredVersions = std::map<std::string, std::set<std::string>>;

// Those of the live processes except one.
struct OtherPrograms {
  std::vector<DeclaredVersions> declared = {};
  bool has_undeclared = false;

  bool might_continue(const std::string& graph, const Digest& version) const;
};

DeclaredVersions declared_versions(const GraphRegistry& graphs);

// Returns the records to save: they declare the graphs of this process, and delete the declarations
// of ended ones.
Task<Result<std::vector<RecordWrite>>> program_declaration(
    Store& store, TenantId tenant, SessionId own, std::shared_ptr<const GraphRegistry> graphs);

// Reads the declarations of all live sessions except `own`.
Task<Result<OtherPrograms>> other_programs(Store& store, TenantId tenant, SessionId own);

}  // namespace belay
