#pragma once
// tests/postgres/postgres_server.h - a real PostgreSQL on a free port of 127.0.0.1 and on a socket
// in its folder, for as long as a test lasts.
//
// The superuser is "belay", who needs no password; a role named "guarded" needs the one that it was
// given. All that a process starts are copies of one cluster, so initdb runs once.

#include <memory>
#include <string>
#include <vector>

#include "belay/result.h"
#include "tests/postgres/server_process.h"

namespace belay::postgres_tests {

// By how a server is told to stop: fast closes what is open, immediate leaves a crash to recover
// from.
enum class Stop { fast, immediate };

struct ServerOptions {
  // Without it a commit costs no wait for the disk. A crash of the processes loses nothing either
  // way: what is lost is what the machine had not written.
  bool sync = false;
  bool is_standby = false;  // takes no writes: in recovery, of a primary that there is not
  // A standby of this one, from a base backup of it. It outlives the object.
  const class PostgresServer* primary = nullptr;
  int connections_max = 200;  // of which three are for superusers
  std::string settings = {};  // further lines of postgresql.conf
};

using SqlRow = std::vector<std::string>;

class PostgresServer {
 public:
  explicit PostgresServer(ServerOptions options = {});
  PostgresServer(const PostgresServer&) = delete;
  PostgresServer& operator=(const PostgresServer&) = delete;
  ~PostgresServer();

  int port() const { return port_; }
  pid_t pid() const { return process_->pid(); }
  std::string log() const { return folder_.file("log"); }
  // The folder of its socket, which is ".s.PGSQL.<port>" there.
  const std::string& socket_folder() const { return folder_.path(); }

  // Over TCP, or to another port of 127.0.0.1 behind which it is: a proxy's or a pooler's.
  std::string url(const std::string& database = "postgres", const std::string& options = "") const;
  std::string url_at(int port, const std::string& database = "postgres",
                     const std::string& options = "") const;
  // Over the socket.
  std::string socket_url(const std::string& database = "postgres",
                         const std::string& options = "") const;

  // A new, empty database; its name.
  std::string create_database();

  // Runs statements over the socket; the rows of the last one, nulls as empty texts.
  Result<std::vector<SqlRow>> sql(const std::string& statements,
                                  const std::string& database = "postgres") const;
  // The first column of the first row; the test fails when there is none.
  std::string value(const std::string& statement, const std::string& database = "postgres") const;

  // Of a standby: it takes writes from then on.
  void promote();
  // Of a server that was stopped: begins anew on its port, as a standby of that one.
  void follow(const PostgresServer& primary);
  void stop(Stop how);
  void start();
  // As pg_ctl restart -m immediate: connections break, and it recovers from its log.
  void restart_immediately();

 private:
  bool try_to_start();
  void copy(const PostgresServer& primary);
  void write_settings();

  ServerOptions options_;
  ServerFolder folder_;
  int port_ = 0;
  int databases_ = 0;
  std::unique_ptr<ServerProcess> process_;
};

// One server of this process, for tests that leave it as it is but for databases of their own.
PostgresServer& shared_server();

}  // namespace belay::postgres_tests
