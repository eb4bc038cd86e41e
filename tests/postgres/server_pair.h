#pragma once
// tests/postgres/server_pair.h - a primary and its standby, which can exchange their roles.

#include <array>
#include <string>

#include "tests/postgres/postgres_server.h"

namespace belay::postgres_tests {

// Whether a commit waits for the standby. A server that returns alone still waits for one.
enum class Replication { synchronous, asynchronous };

class ServerPair {
 public:
  explicit ServerPair(Replication replication);

  PostgresServer& primary() { return *servers_[primary_]; }
  PostgresServer& standby() { return *servers_[1 - primary_]; }
  // Names both hosts, always in the same order.
  std::string url(const std::string& options) const;

  // Waits until the standby has replayed all writes of the primary.
  bool is_level();
  // Makes the standby the primary; the other server is not informed.
  void promote_standby();
  // Makes the other server, which must be stopped, the standby of the primary.
  void rejoin();

 private:
  PostgresServer first_;
  PostgresServer second_;
  std::array<PostgresServer*, 2> servers_{&first_, &second_};
  std::size_t primary_ = 0;
};

}  // namespace belay::postgres_tests
