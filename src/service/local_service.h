#pragma once
// service/local_service.h - creates a Service for the runs of this process's store.
//
// One service serves all principals: each call is restricted to the tenant and to the access of its
// principal (principal.h).
//
// A run that a call starts, continues or decides keeps executing when the call is destroyed: the
// caller might lose its connection. This process owns the run meanwhile.

#include "belay/service.h"

namespace belay {

// All of it must outlive the service.
struct LocalServiceParts {
  Store& store;
  Store& stored;  // below `store`: without encryption and caches
  Runtime& runtime;
  Executor& executor;
  Clock& clock;
  Random& random;
  std::vector<std::shared_ptr<const GraphDefinition>> graphs;
  EncryptionOptions encryption;
  std::vector<std::string> collections;  // of the records that check() examines
  // Returns `invalid` for a record that must not be saved; null: accepts all records.
  std::function<Result<Done>(const RecordWrite&, Instant now)> check_record = nullptr;
  std::string call = "belay";  // the program's name in the commands of error messages
  // Returns the process of a session, if it is known, for errors about a run's owner.
  std::function<std::optional<std::int64_t>(const SessionId&)> process_of = nullptr;
  ConcurrencyLimits concurrency = {};  // of the runtime; to explain why a queued run waits
  bool works = false;                  // this process claims queued runs
};

std::unique_ptr<Service> make_local_service(LocalServiceParts parts);

}  // namespace belay
