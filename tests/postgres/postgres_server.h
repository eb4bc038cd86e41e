#pragma once
// tests/postgres/postgres_server.h - a real PostgreSQL server for the duration of a test
//
// It listens on a free port of 127.0.0.1 and on a socket in its folder. The superuser "belay" needs
// no password; a role named "guarded" needs the password that it was created with. All servers of a
// process are copies of one cluster: initdb runs once.

#include <memory>
#include <string>
#include <vector>

#include "belay/result.h"
#include "tests/postgres/server_process.h"

namespace belay::postgres_tests {

// The way in which a server is stopped: `fast` closes everything, `immediate` requires crash
// recovery at the next start.
enum class Stop { fast, immediate };

struct ServerOptions {
  // If false, commits do not wait for the disk. A crash of the processes loses nothing either way;
  // only a crash of the machine would.
  bool sync = false;
  bool is_standby = false;  // rejects writes: in recovery from a primary that does not exist
  // Makes this server a standby of `primary`, from a base backup. `primary` must outlive the
  // object.
  const class PostgresServer* primary = nullptr;
  int connections_max = 200;  // three of which are for superusers
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
  // The folder of its socket, which is named ".s.PGSQL.<port>".
  const std::string& socket_folder() const { return folder_.path(); }

  // The URL over TCP, or over another port of 127.0.0.1, such as that of a proxy or a pooler.
  std::string url(const std::string& database = "postgres", const std::string& options = "") const;
  std::string url_at(int port, const std::string& database = "postgres",
                     const std::string& options = "") const;
  // The URL over the socket.
  std::string socket_url(const std::string& database = "postgres",
                         const std::string& options = "") const;

  // Creates an empty database and returns its name.
  std::string create_database();

  // Executes statements over the socket and returns the rows of the last one, with nulls as empty
  // texts.
  Result<std::vector<SqlRow>> sql(const std::string& statements,
                                  const std::string& database = "postgres") const;
  // Returns the first column of the first row; the test fails if there is no row.
  std::string value(const std::string& statement, const std::string& database = "postgres") const;

  // Makes a standby accept writes.
  void promote();
  // Restarts a stopped server on its port as a standby of `primary`.
  void follow(const PostgresServer& primary);
  void stop(Stop how);
  void start();
  // As pg_ctl restart -m immediate: connections break, and the server recovers from its WAL.
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

// Returns one server per test process, for tests that change nothing but their own databases.
PostgresServer& shared_server();

}  // namespace belay::postgres_tests
