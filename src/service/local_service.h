#pragma once
// service/local_service.h - a service of the runs of this process's store.
//
// A run that it is asked to begin, to go on with or to decide goes on though nobody waits for it
// any more: whoever asked may lose its connection. Its process holds it meanwhile.

#include "service/service.h"

namespace belay {

// All of it outlives the service.
struct LocalServiceParts {
  Store& store;
  Store& stored;  // what lies below `store`: as it is stored, for what looks after that
  Runtime& runtime;
  Executor& executor;
  Clock& clock;
  Random& random;
  std::vector<std::shared_ptr<const GraphDefinition>> graphs;
  EncryptionOptions encryption;
  std::vector<std::string> collections;  // of records that check() looks at
  TenantId tenant = default_tenant();
  // Returns `invalid` for a record that must not be saved; null: accepts all records.
  std::function<Result<Done>(const RecordWrite&, Instant now)> check_record = nullptr;
  std::string call = "belay";  // how the program is called in what an error says to do next
  // The process of a session, where that is known: for an error that says who has a run.
  std::function<std::optional<std::int64_t>(const SessionId&)> process_of = nullptr;
  ConcurrencyLimits concurrency = {};  // of the runtime; explain why a queued run waits
  bool works = false;                  // this process claims queued runs
};

std::unique_ptr<Service> make_local_service(LocalServiceParts parts);

}  // namespace belay
