#pragma once
// worker/outbox_delivery.h - delivers the messages of the outbox to the receivers of their topics.
//
// Order of a delivery: the first commit counts the attempt and sets a later due time, before which
// no other process delivers the message; then the receiver is called; the second commit records the
// outcome. If the process dies in between, the message is delivered again when it is due: at least
// once. A process delivers at most one message of a run at a time, the oldest due one first.
//
// Threading: everything on the executor's thread. The destructor cancels the calls in progress.

#include <deque>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "belay/runtime.h"

namespace belay {

class OutboxDelivery {
 public:
  // `parts` must outlive it.
  explicit OutboxDelivery(RuntimeParts& parts) : parts_(parts) {}

  void add(std::string topic, Receiver receiver, DeliveryOptions options);

  // Starts a search for due messages, and their delivery. Does not wait for either.
  void look(const TenantId& tenant);
  // The same for the messages of one run, in their order.
  void look_at(const TenantId& tenant, const RunId& run);
  // No further delivery is started until start().
  void stop() { is_stopped_ = true; }
  void start() { is_stopped_ = false; }
  // Cancels the running calls of receivers. Their outcome is unknown: any process retries them at
  // the time that was stored when the call started.
  void give_up();
  // message.cc: on request, makes a message waiting and due now, or given up.
  Task<Result<Done>> move_message(TenantId tenant, std::string id, OutboxStatus to);
  std::size_t under_way() const;
  // True while a search is in progress, or the delivery of the messages that it found.
  bool is_busy() const;

 private:
  using Key = std::pair<std::uint64_t, std::int64_t>;  // (seq, index) of a message in its run

  struct Registered {
    Receiver receiver;
    DeliveryOptions options;
  };
  // For one tenant: starts calls as long as messages are due or calls are running.
  struct Round {
    std::deque<RunId> ready;  // runs whose next message can be started; each once
    bool looks = false;       // a search for such runs is requested
    bool has_ended = false;
    Completion<Done> wakened;
    Spawned task;
  };
  // A call of a receiver, or the read before it.
  struct Call {
    bool is_over = false;
    bool goes_on = false;  // the run might have a next message
    Spawned task;
  };
  struct Found {
    OutboxRow row;
    ThreadId thread;
  };

  void wake(const TenantId& tenant);
  void wake_all();
  void make_ready(Round& round, const RunId& run);
  void clear_ended_calls();
  void begin_ready(const TenantId& tenant, Round& round);
  Task<Done> go_round(TenantId tenant, Round* round);
  Task<Result<Done>> find_ready(TenantId tenant, Round* round);
  // Delivers the run's next due message to the end; returns false if it has none.
  Task<Result<bool>> deliver_next(TenantId tenant, RunId run);
  Task<Result<std::optional<Found>>> find_next(TenantId tenant, RunId run);
  Task<Result<Done>> deliver(TenantId tenant, Found found);
  Task<Result<Done>> call(const Registered& registered, OutboxMessage message);
  Task<Result<CommitOutcome>> write(TenantId tenant, OutboxRow row, std::int64_t attempts_before);
  OutboxRow after(const Registered& registered, OutboxRow row, Result<Done> outcome);
  std::vector<std::string> topics() const;

  RuntimeParts& parts_;
  std::map<std::string, Registered> receivers_;
  bool is_stopped_ = false;
  // The last message of each run whose delivery was started: the search for the next one
  // starts there, so that earlier messages are not read again. Retried messages precede this
  // position: find_ready() resets it.
  std::map<RunId, Key> begun_;
  std::map<TenantId, Round> rounds_;
  std::map<RunId, Call> calls_;  // last member: the calls use all members above
};

}  // namespace belay
