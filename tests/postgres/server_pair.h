#pragma once
// tests/postgres/server_pair.h - a primary and its standby, which change parts.

#include <array>
#include <string>

#include "tests/postgres/postgres_server.h"

namespace belay::postgres_tests {

// Whether a commit waits for a standby. A server that comes back alone waits for one still.
enum class Replication { synchronous, asynchronous };

class ServerPair {
 public:
  explicit ServerPair(Replication replication);

  PostgresServer& primary() { return *servers_[primary_]; }
  PostgresServer& standby() { return *servers_[1 - primary_]; }
  // Names both hosts, always in the same order.
  std::string url(const std::string& options) const;

  // Until the standby has replayed all that the primary has written.
  bool is_level();
  // The standby is the primary from then on; the other one does not know it.
  void promote_standby();
  // The other one, which has been stopped, is made the standby of the primary.
  void rejoin();

 private:
  PostgresServer first_;
  PostgresServer second_;
  std::array<PostgresServer*, 2> servers_{&first_, &second_};
  std::size_t primary_ = 0;
};

}  // namespace belay::postgres_tests
