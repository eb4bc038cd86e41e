#pragma once
// service/queue_documents.h - queues and workers, as they are shown.

#include "belay/store.h"
#include "belay/value.h"
#include "service/service.h"

namespace belay {

Value queue_document(const QueueRow& row);

// `process_of` may be null; so may what it answers.
struct QueueView {
  Store& store;
  TenantId tenant;
  Clock& clock;
  std::function<std::optional<std::int64_t>(const SessionId&)> process_of;
  ConcurrencyLimits concurrency = {};  // explain why runs wait
};
Task<Result<Value>> show_queues(QueueView at, std::optional<UserId> user);
Task<Result<Value>> show_workers(QueueView at);
Task<Result<Value>> change_queue(QueueView at, QueueChange change);

}  // namespace belay
