#pragma once
// a2a/push_delivery.h - PushDelivery: sends the changes of tasks to the addresses of their configs.
//
// Each change is sent at least once, and the changes of a task in their order: the next one after
// the receiver has accepted the one before. The progress is saved after each of them, and any
// server on the store continues the delivery of one that has ended: a server claims a config by a
// `wake` in the future, before which no other one reads it.
//
// A failure is repeated after 1 s, then after twice the time, up to an hour; after 12 failures in a
// row, or if the policy for requests forbids the address, the config ends.
//
// Threading: the executor's thread.

#include <chrono>
#include <map>
#include <memory>

#include "a2a/push_config.h"
#include "a2a/task_stream.h"
#include "server/routes.h"

namespace belay::a2a {

class PushDelivery {
 public:
  // All of them must outlive the delivery.
  PushDelivery(server::ApiContext& world, const conversation::Conversations& conversations,
               std::shared_ptr<HttpAccess> http)
      : world_(world), conversations_(conversations), http_(std::move(http)) {}

  // Looks for changes now, and then repeatedly.
  void start();

 private:
  using Milliseconds = std::chrono::milliseconds;
  struct Sending {
    UserId user;  // of the task
    Spawned task;
    bool has_ended = false;
  };

  Task<Done> look_repeatedly();
  Task<Result<Milliseconds>> look();
  Task<Result<Done>> look_at(Versioned<A2aPush> push);
  bool has_room_for(const UserId& user) const;
  Task<Done> deliver(Versioned<A2aPush> push, RunRow run);
  Task<Result<Done>> send_changes(Versioned<A2aPush>& push, const RunRow& run);
  Task<Result<std::unique_ptr<TaskStream>>> changes_of(const A2aPush& push, const RunRow& run);
  Task<Result<Done>> send_one(const A2aPush& push, TaskResponse response);
  Task<Result<Done>> write(const Versioned<A2aPush>& push, bool is_erased);
  Task<Result<Done>> save(Versioned<A2aPush>& push);
  Task<Result<Done>> erase(Versioned<A2aPush> push);

  server::ApiContext& world_;
  const conversation::Conversations& conversations_;
  const std::shared_ptr<HttpAccess> http_;
  const Principal who_ = Principal();       // of the configs of all users
  std::map<std::string, Sending> sending_;  // by A2aPush::id
  Spawned looking_;
};

}  // namespace belay::a2a
