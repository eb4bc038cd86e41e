#pragma once
// store/sqlite/sessions.h - detects live sessions: a session is a lock on the store's folder.
//
// A session is a row in the table `sessions` and, while its process is alive, a lock on one byte of
// the folder that contains the store; the session's id and the file's inode determine the byte. The
// kernel releases the lock when the process ends for any reason, so that its runs can be claimed
// immediately. The folder is the same for every path by which the store was opened, and it cannot
// be removed while it contains the store: there is no lock file. The locks belong to the open
// folder (OFD locks), not to the process: two stores in one process see each other as strangers.
//
// Threading: any method, from any thread.

#include <memory>
#include <mutex>
#include <set>
#include <string>

#include "belay/store.h"
#include "store/sqlite/connection.h"
#include "store/sqlite/store_path.h"

namespace belay::sqlite {

class Sessions {
 public:
  // An OFD lock never conflicts with its own open file: testing a lock needs a second descriptor.
  struct Descriptors {
    int held = -1;
    int probe = -1;
  };

  // `path` is the store's path from store_path(). Its file exists.
  static Result<std::unique_ptr<Sessions>> open(const std::string& path);
  // Owns both descriptors; for open().
  Sessions(std::string folder, const Uuid& boot, const FileId& file, Descriptors locks)
      : folder_(std::move(folder)), boot_(boot), file_(file), locks_(locks) {}
  Sessions(const Sessions&) = delete;
  Sessions& operator=(const Sessions&) = delete;
  ~Sessions();

  // REQUIRES: a transaction on `writer`. The row is visible to others only after COMMIT, when the
  // lock is held: otherwise the session would seem dead.
  Result<Done> insert(Connection& writer, const SessionId& session, Instant now);
  // Releases the lock: after close_session(), or if the transaction of insert() failed.
  void release(const SessionId& session);
  Result<bool> is_alive(const SessionId& session);

  // Deletes the dead sessions that no run or checkpoint refers to.
  Result<Done> prune(Connection& writer);

 private:
  std::int64_t place_of(const SessionId& session) const;
  Result<bool> is_locked(const SessionId& session) const;

  // Constant after construction.
  const std::string folder_;
  const Uuid boot_;  // the machine's boot id
  const FileId file_;
  const Descriptors locks_;

  std::mutex mutex_;
  // Protected by mutex_.
  std::unique_ptr<Connection> reader_;
  std::set<SessionId> open_;
};

}  // namespace belay::sqlite
