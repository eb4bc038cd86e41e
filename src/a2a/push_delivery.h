#pragma once
// a2a/push_delivery.h - PushDelivery: sends the changes of tasks to the addresses of their configs.
//
// Each change is sent at least once (server/due_deliveries.h), and the changes of a task in their
// order: the next one after the receiver has accepted the one before. The progress is saved after
// each of them, and any server on the store continues the delivery of one that has ended.
//
// Threading: the executor's thread.

#include <memory>

#include "a2a/push_config.h"
#include "a2a/task_stream.h"
#include "server/due_deliveries.h"

namespace belay::a2a {

class PushDelivery final : public server::DueDeliveries<A2aPush, RunRow> {
 public:
  // All of them must outlive the delivery.
  PushDelivery(server::ApiContext& world, const conversation::Conversations& conversations,
               std::shared_ptr<HttpAccess> http)
      : DueDeliveries(world), conversations_(conversations), http_(std::move(http)) {}

 private:
  Task<Result<std::optional<RunRow>>> work_on(const A2aPush& push) override;
  UserId user_of(const A2aPush&, const RunRow& run) const override { return run.user; }
  Task<Result<Done>> perform(Versioned<A2aPush>& push, RunRow& run) override;
  void forget_secrets(A2aPush& push) const override { push.credentials.clear(); }
  Task<Result<Done>> send_changes(Versioned<A2aPush>& push, const RunRow& run);
  Task<Result<std::unique_ptr<TaskStream>>> changes_of(const A2aPush& push, const RunRow& run);

  const conversation::Conversations& conversations_;
  const std::shared_ptr<HttpAccess> http_;
};

}  // namespace belay::a2a
