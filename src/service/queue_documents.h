#pragma once
// service/queue_documents.h - the documents of queues and workers.

#include "belay/service.h"
#include "belay/store.h"
#include "belay/value.h"

namespace belay {

Value queue_document(const QueueRow& row);

// `process_of` may be null, and may return nullopt.
struct QueueView {
  Store& store;
  TenantId tenant;
  Clock& clock;
  std::function<std::optional<std::int64_t>(const SessionId&)> process_of;
  ConcurrencyLimits concurrency = {};  // to explain why queued runs wait
};
Task<Result<Value>> show_queues(QueueView at, std::optional<UserId> user);
// Without the session `except`.
Task<Result<Value>> show_workers(QueueView at, std::optional<SessionId> except = std::nullopt);
Task<Result<Value>> change_queue(QueueView at, QueueChange change);

}  // namespace belay
