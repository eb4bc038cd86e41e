#pragma once
// store/memory/open_sessions.h - the sessions of an in-memory store.
//
// Threading: any method, from any thread, also from within a read.

#include <map>
#include <mutex>
#include <vector>

#include "belay/queue.h"

namespace belay::store {

class OpenSessions {
 public:
  void open(const SessionId& session, Instant now) {
    std::lock_guard lock(mutex_);
    sessions_[session] = {now, true, ++last_number_};
  }
  void close(const SessionId& session) {
    std::lock_guard lock(mutex_);
    auto found = sessions_.find(session);
    if (found != sessions_.end()) found->second.is_open = false;
  }
  bool is_open(const SessionId& session) const {
    std::lock_guard lock(mutex_);
    auto found = sessions_.find(session);
    return found != sessions_.end() && found->second.is_open;
  }
  // Returns all sessions that were ever opened, newest first.
  std::vector<SessionRow> list() const {
    std::lock_guard lock(mutex_);
    std::map<std::uint64_t, SessionRow, std::greater<>> by_number;
    for (const auto& [session, known] : sessions_) {
      SessionRow& row = by_number[known.number];
      row.session = session;
      row.started_at = known.started_at;
    }
    std::vector<SessionRow> rows;
    for (auto& [number, row] : by_number) rows.push_back(std::move(row));
    return rows;
  }

 private:
  struct Known {
    Instant started_at{};
    bool is_open = false;
    std::uint64_t number = 0;  // grows
  };
  mutable std::mutex mutex_;
  // Protected by mutex_.
  std::map<SessionId, Known> sessions_;
  std::uint64_t last_number_ = 0;
};

}  // namespace belay::store
