#pragma once
// tests/postgres/scripted_postgres.h - a PostgreSQL protocol server with scripted responses
//
// For states that a real server on this machine cannot be brought into, such as version 12 or a
// full disk.
//
// Threading: one thread per connection; all end with the object.

#include <atomic>
#include <list>
#include <mutex>
#include <string>
#include <thread>

namespace belay::postgres_tests {

struct PostgresScript {
  std::string version = "15.4";
  bool in_recovery = false;  // in_hot_standby, as servers from version 14 on report it
  // If not empty: the error of each statement, or of the connection itself.
  std::string sqlstate = {};
  std::string message = {};
  bool refuses_connections = false;
};

class ScriptedPostgres {
 public:
  explicit ScriptedPostgres(PostgresScript script);
  ScriptedPostgres(const ScriptedPostgres&) = delete;
  ScriptedPostgres& operator=(const ScriptedPostgres&) = delete;
  ~ScriptedPostgres();

  std::string url(const std::string& options = "") const;
  int statements() const { return statements_; }

 private:
  void accept_all();
  void serve(int socket);
  // Returns the response to one message of the client; empty: none.
  std::string answer_to(char type, bool& has_failed);
  std::string greeting() const;
  std::string refusal() const;

  const PostgresScript script_;
  int listener_ = -1;
  int port_ = 0;
  std::atomic<int> statements_ = 0;
  std::mutex mutex_;
  std::list<int> sockets_;          // guarded by mutex_
  std::list<std::thread> serving_;  // used by the accepting thread until it has ended
  std::thread accepting_;
};

}  // namespace belay::postgres_tests
