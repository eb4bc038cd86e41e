#pragma once
// store/postgres/sessions.h - sessions as leases in a table, by the server's clock.
//
// A session is a row of belay.sessions. One thread of its process renews the row's expires_at by a
// heartbeat, three times per lease. After the lease has expired, other processes can claim the
// session's runs, and its commits to these runs are fenced. Runs that were not claimed belong to it
// again after its next heartbeat: an unavailable server or a stopped process ends no run.
//
// If a process sent no heartbeat for a whole lease, it cannot distinguish dead sessions from
// sessions that had no connection either. It therefore considers all others alive until one lease
// after its next heartbeat, so that it does not claim runs of live owners when a server is
// available again.
//
// Threading: any method, from any thread.

#include <chrono>
#include <condition_variable>
#include <map>
#include <memory>
#include <mutex>
#include <thread>

#include "belay/ids.h"
#include "store/postgres/connection.h"
#include "store/postgres/server_clock.h"

namespace belay::postgres {

class Sessions {
 public:
  // `name` is for display and need not be unique; empty: "host:pid". `clock` learns the server's
  // time with every heartbeat, and outlives the object.
  Sessions(const Address& address, std::shared_ptr<const ShutdownDeadline> haste, std::string name,
           ServerClock& clock);
  Sessions(const Sessions&) = delete;
  Sessions& operator=(const Sessions&) = delete;
  // Releases the open sessions if there is a connection.
  ~Sessions();

  // These wait for the server and fail with `unavailable` if it cannot be reached; release() and
  // is_alive() wait only for seconds, because they block the event loop. `now` is for display:
  // leases use the server's clock.
  Result<Done> insert(const SessionId& session, Instant now);
  void release(const SessionId& session);
  // The result can be up to a third of a lease old.
  Result<bool> is_alive(const SessionId& session);

  // The longest time since the last renewal of an open session of this process; 0 without one.
  std::chrono::milliseconds silent_for() const;

  // Deletes up to 1,000 sessions whose lease expired more than a day ago, except those that own
  // runs that have not ended.
  static Result<Done> prune(Connection& connection);

 private:
  using Time = std::chrono::steady_clock::time_point;

  void beat_until_stopped();
  // Renews the open sessions; false if that failed.
  bool beat(std::unique_ptr<Connection>& connection);
  void note_renewed(const Rows& renewed, Time before);
  Result<Done> connect(std::unique_ptr<Connection>& connection) const;
  // Executes a statement on the connection `asked_`. Retries it if the reply is lost, so that its
  // repetition must be harmless.
  Result<Rows> ask(std::string_view sql, const Parameters& parameters,
                   std::chrono::milliseconds patience);
  std::optional<bool> remembered(const SessionId& session) const;
  // Caches the reply of the server and returns whether the session is alive.
  bool remember(const SessionId& session, std::chrono::milliseconds lease_left, Time asked_at);

  const Address address_;
  const std::shared_ptr<const ShutdownDeadline> haste_;
  const std::string name_;
  const std::chrono::milliseconds interval_;  // of heartbeats
  ServerClock& clock_;

  std::mutex order_;  // excludes release() during a heartbeat, which would renew the session again

  std::mutex asking_;
  std::unique_ptr<Connection> asked_;  // protected by asking_

  mutable std::mutex mutex_;
  std::condition_variable stopping_;
  // Protected by mutex_.
  bool is_stopping_ = false;
  std::map<SessionId, Time> open_;   // sessions of this process and their last renewal
  std::map<SessionId, Time> alive_;  // other live sessions and the end of the cache entry
  Time in_doubt_until_{};            // until then, other sessions count as alive (see the top)
  std::thread heart_;                // started by the first session
};

}  // namespace belay::postgres
