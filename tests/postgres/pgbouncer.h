#pragma once
// tests/postgres/pgbouncer.h - a PgBouncer in front of a server
//
// Each transaction can use another of the server's connections: state of a database session must
// not be relied on.

#include "tests/postgres/postgres_server.h"

namespace belay::postgres_tests {

class PgBouncer {
 public:
  // With the mode "session", a client keeps its server connection.
  explicit PgBouncer(const PostgresServer& server, int server_connections = 4,
                     std::string mode = "transaction");

  int port() const { return port_; }
  void stop();
  void start();
  // Connects it to another server while its clients keep their connections.
  void turn_to(const PostgresServer& server);

 private:
  bool try_to_start();

  const PostgresServer* server_;
  int server_connections_;
  std::string mode_;
  ServerFolder folder_;
  int port_ = 0;
  std::unique_ptr<ServerProcess> process_;
};

}  // namespace belay::postgres_tests
