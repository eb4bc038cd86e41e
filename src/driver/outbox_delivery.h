#pragma once
// driver/outbox_delivery.h - hands the messages of the outbox to their topics' receivers.
//
// A message is taken by a commit that counts the attempt and puts off when it is due: until then no
// other process takes it. Then its receiver is called, and a second commit says how that went. A
// process that dies in between leaves it to be tried again: at least once. Of one run at most one
// message is under way in a process, the oldest that is due first.
//
// Threading: everything on the executor's thread. Destroying it stops the calls under way.

#include <map>
#include <memory>
#include <set>
#include <string>
#include <tuple>
#include <vector>

#include "belay/runtime.h"

namespace belay {

class OutboxDelivery {
 public:
  // `parts` outlives it.
  explicit OutboxDelivery(RuntimeParts& parts) : parts_(parts) {}

  void add(std::string topic, Receiver receiver, DeliveryOptions options);

  // Looks for what is due, soon, and delivers it, without anybody waiting for that.
  void look(const TenantId& tenant);
  // Nothing more is begun until start().
  void stop() { is_stopped_ = true; }
  void start() { is_stopped_ = false; }
  // Ends the calls of receivers under way. Whether they have arrived is not known: they are tried
  // again, by whichever process, at the time that was put off for them when they began.
  void give_up();
  std::size_t under_way() const { return calls_.size() - over_.size(); }
  // What look() has begun goes on: it is looking, or delivers what was due.
  bool is_busy() const;

 private:
  using Id = std::tuple<RunId, std::uint64_t, std::int64_t>;

  struct Registered {
    Receiver receiver;
    DeliveryOptions options;
  };
  // Looks again and again while there is something under way.
  struct Round {
    bool looks_again = false;
    bool has_ended = false;
    Completion<Done> wakened;
    Spawned task;
  };
  struct Found {
    OutboxRow row;
    ThreadId thread;
  };

  Task<Done> go_round(TenantId tenant, Round* round);
  Task<Result<Done>> begin_due(TenantId tenant, Round* round);
  // What may be taken up now, of different runs.
  Task<Result<std::vector<Found>>> find_due(TenantId tenant);
  Task<Result<Done>> deliver(TenantId tenant, Found found);
  Task<Result<Done>> call(const Registered& registered, OutboxMessage message);
  Task<Result<CommitOutcome>> write(TenantId tenant, OutboxRow row, std::int64_t attempts_before);
  OutboxRow after(const Registered& registered, OutboxRow row, Result<Done> outcome);

  RuntimeParts& parts_;
  std::map<std::string, Registered> receivers_;
  bool is_stopped_ = false;
  std::vector<Id> over_;  // calls that have ended, to be let go outside of them
  std::map<TenantId, Round> rounds_;
  std::map<Id, Spawned> calls_;  // last: what they run uses all of the above
};

}  // namespace belay
