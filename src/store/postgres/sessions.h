#pragma once
// store/postgres/sessions.h - who lives: sessions as leases in a table, by the server's clock.
//
// A session is a row in belay.sessions whose expires_at one thread of its process moves forward,
// three times in a lease. While it is expired others may take over its runs, and its commits for
// those are fenced then; what nobody took is its own again once it beats. So a server that was away
// for long, or a process that stood still, ends nothing.
//
// Who could not beat for a lease can't tell whether others could: it takes them for living until a
// lease after its own heart beats again, so that they are not robbed when a server comes back.
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
  // Releases the sessions that are open still, where the server can be reached.
  ~Sessions();

  // All of these wait for the server: `unavailable` where it can't be reached; the last two for
  // seconds at most, as the thread that asks has more to do. `now` is for people: what counts is
  // the server's clock.
  Result<Done> insert(const SessionId& session, Instant now);
  void release(const SessionId& session);
  // An answer may be a third of a lease old.
  Result<bool> is_alive(const SessionId& session);

  // The longest time for which an open session of ours was not renewed; none without one.
  std::chrono::milliseconds silent_for() const;

  // Deletes sessions that have been dead for a day, some of them; not those of runs that go on.
  static Result<Done> prune(Connection& connection);

 private:
  using Time = std::chrono::steady_clock::time_point;

  void beat_until_stopped();
  // Renews what is open; false when the server could not be asked.
  bool beat(std::unique_ptr<Connection>& connection);
  void note_renewed(const Rows& renewed, Time before);
  Result<Done> connect(std::unique_ptr<Connection>& connection) const;
  // Carries out a statement that may be repeated, on the connection that is kept for such.
  Result<Rows> ask(std::string_view sql, const Parameters& parameters,
                   std::chrono::milliseconds patience);
  std::optional<bool> remembered(const SessionId& session) const;
  // Whether it lives.
  bool remember(const SessionId& session, std::chrono::milliseconds lease_left, Time asked_at);

  const Address address_;
  const std::shared_ptr<const ShutdownDeadline> haste_;
  const std::string name_;
  const std::chrono::milliseconds interval_;  // of heartbeats
  ServerClock& clock_;

  std::mutex order_;  // of a beat and a release, so that no beat revives what was released

  std::mutex asking_;
  std::unique_ptr<Connection> asked_;  // protected by asking_

  mutable std::mutex mutex_;
  std::condition_variable stopping_;
  // Protected by mutex_.
  bool is_stopping_ = false;
  std::map<SessionId, Time> open_;   // ours, and when each was renewed
  std::map<SessionId, Time> alive_;  // others', and until when that is sure enough
  Time in_doubt_until_{};            // of the others, after a time without beats
  std::thread heart_;                // runs from the first session on
};

}  // namespace belay::postgres
