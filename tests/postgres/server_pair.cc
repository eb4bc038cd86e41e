#include "tests/postgres/server_pair.h"

namespace belay::postgres_tests {
namespace {

constexpr std::chrono::seconds kLevelWithin{60};

// The standby is named: otherwise a base backup that streams the WAL would count as a standby, too.
std::string settings_of(Replication replication) {
  return replication == Replication::synchronous ? "synchronous_standby_names = 'walreceiver'" : "";
}

}  // namespace

ServerPair::ServerPair(Replication replication)
    : first_({.settings = settings_of(replication)}),
      second_({.primary = &first_, .settings = settings_of(replication)}) {}

std::string ServerPair::url(const std::string& options) const {
  return "postgresql://belay@127.0.0.1:" + std::to_string(first_.port()) +
         ",127.0.0.1:" + std::to_string(second_.port()) + "/postgres?" + options;
}

bool ServerPair::is_level() {
  std::string end = primary().value("SELECT pg_current_wal_insert_lsn()");
  return wait_until(kLevelWithin, [&] {
    return standby().value("SELECT pg_last_wal_replay_lsn() >= '" + end + "'") == "t";
  });
}

void ServerPair::promote_standby() {
  standby().promote();
  primary_ = 1 - primary_;
}

void ServerPair::rejoin() { standby().follow(primary()); }

}  // namespace belay::postgres_tests
