#pragma once
// tests/postgres/scripted_postgres.h - says in PostgreSQL's protocol what a real server of this
// machine can't be brought to say: that it is of version 12, that its disk is full.
//
// Threading: one thread a connection; all end with the object.

#include <atomic>
#include <list>
#include <mutex>
#include <string>
#include <thread>

namespace belay::postgres_tests {

struct PostgresScript {
  std::string version = "15.4";
  bool in_recovery = false;  // in_hot_standby, as servers from 14 on tell it
  // Not empty: the error that each statement comes to, or already the connection.
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
  // What is said to one message of the client's; empty: nothing.
  std::string answer_to(char type, bool& has_failed);
  std::string greeting() const;
  std::string refusal() const;

  const PostgresScript script_;
  int listener_ = -1;
  int port_ = 0;
  std::atomic<int> statements_ = 0;
  std::mutex mutex_;
  std::list<int> sockets_;          // behind mutex_
  std::list<std::thread> serving_;  // the accepting thread's own, until it has ended
  std::thread accepting_;
};

}  // namespace belay::postgres_tests
