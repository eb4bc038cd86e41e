#pragma once
// store/sqlite/sessions.h - who lives: sessions as locks on a file beside the store.
//
// A session is a row in the table `sessions` and, while its process lives, a lock on the byte of
// the file PATH-sessions that its row's number names. The kernel drops the lock when the process
// ends, however it does, so that its runs can be taken over at once. The locks belong to the open
// file (OFD locks), not to the process: two stores in one process see each other like strangers.
//
// Threading: any method, from any thread.

#include <map>
#include <memory>
#include <mutex>
#include <string>

#include "belay/store.h"
#include "store/sqlite/connection.h"

namespace belay::sqlite {

class Sessions {
 public:
  // `path` is the store's.
  static Result<std::unique_ptr<Sessions>> open(const std::string& path);
  // Owns both descriptors; for open().
  Sessions(std::string lock_path, const Uuid& boot, int held, int probe)
      : lock_path_(std::move(lock_path)), boot_(boot), held_(held), probe_(probe) {}
  Sessions(const Sessions&) = delete;
  Sessions& operator=(const Sessions&) = delete;
  ~Sessions();

  // Within a transaction on `writer`, so that nobody sees the row before its lock is held.
  Result<Done> insert(Connection& writer, const SessionId& session, Instant now);
  // Lets go of the lock: after close_session(), or when insert()'s transaction failed.
  void release(const SessionId& session);
  Result<bool> is_alive(const SessionId& session);

  // Deletes the dead sessions that no run or checkpoint names.
  Result<Done> prune(Connection& writer);

 private:
  Result<bool> is_locked(std::int64_t number) const;

  // Constant after construction. An OFD lock never conflicts with its own open file, so asking
  // takes a second one.
  const std::string lock_path_;
  const Uuid boot_;  // of the machine; no process sees two
  const int held_;
  const int probe_;

  std::mutex mutex_;
  // Protected by mutex_.
  std::unique_ptr<Connection> reader_;
  std::map<SessionId, std::int64_t> open_;
};

}  // namespace belay::sqlite
