#pragma once
// tests/postgres/fleet_server.h - a PostgreSQL server for fleets of workers, with a schema for each
//
// Also sums the reports of a campaign of several fleets.

#include <gtest/gtest.h>

#include <algorithm>
#include <charconv>
#include <chrono>
#include <iostream>
#include <set>
#include <string>

#include "tests/crash/campaign.h"
#include "tests/crash/play_fleet.h"
#include "tests/postgres/fault_proxy.h"
#include "tests/postgres/postgres_server.h"

namespace belay::postgres_tests {

// Long enough for a busy machine to renew the lease three times, short enough to wait for its end
// fifty times.
inline constexpr int kFleetLeaseMs = 1'000;
inline constexpr std::chrono::seconds kFleetLeaseEndsWithin{60};

class FleetServer {
 public:
  PostgresServer& server() { return server_; }

  // Returns a site with a store in a new schema, accessed directly or through a proxy.
  crash::FleetSite site(const FaultProxy* proxy = nullptr) {
    schema_ = "fleet_" + std::to_string(++stores_);
    std::string options =
        "schema=" + schema_ + "&pool=4&session_expiry=" + std::to_string(kFleetLeaseMs);
    crash::FleetSite site;
    site.store = server_.url_at(proxy ? proxy->port() : server_.port(), "postgres", options);
    site.end_lease = [this](pid_t process) { return end_lease(process); };
    site.is_at_work = [this] { return running() > 1; };
    site.sight.all = [this] { return runs(""); };
    site.sight.held = [this](pid_t process) {
      return runs(" JOIN " + sessions_of(process) + " AND r.status = 'running'");
    };
    site.sight.claims = [this](pid_t process) {
      return number("SELECT count(*) FROM " + schema_ + ".checkpoints r JOIN " +
                    sessions_of(process) + " AND r.kind = 'claim'");
    };
    site.sight.lives = [this](pid_t process) { return number(living(process)) > 0; };
    return site;
  }
  std::size_t running() const {
    return number("SELECT count(*) FROM " + schema_ + ".runs WHERE status = 'running'");
  }
  const std::string& schema() const { return schema_; }
  std::string version() const { return server_.value("SHOW server_version"); }
  // Returns the number of processes with this name that satisfy the condition, whether alive or
  // dead.
  std::size_t count_named(const std::string& name, const std::string& condition) const {
    return number("SELECT count(DISTINCT session_id) FROM " + schema_ + ".sessions WHERE name = '" +
                  name + "' AND " + condition);
  }
  // Returns the number that a statement selects.
  std::size_t number(const std::string& statement) const {
    std::string digits = server_.value(statement);
    std::size_t number = 0;
    std::from_chars(digits.data(), digits.data() + digits.size(), number);
    return number;
  }

 private:
  std::set<std::string> runs(const std::string& which) const {
    auto rows = server_.sql("SELECT replace(r.run_id::text, '-', '') || ' ' || r.epoch FROM " +
                            schema_ + ".runs r" + which);
    EXPECT_TRUE(rows.ok()) << rows.error().message;
    std::set<std::string> found;
    if (!rows.ok()) return found;
    for (const SqlRow& row : *rows) found.insert(row.front());
    return found;
  }
  std::string sessions_of(pid_t process) const {
    return schema_ + ".sessions s ON s.session_id = r.session_id AND s.name LIKE '%:" +
           std::to_string(process) + "'";
  }
  std::string living(pid_t process) const {
    return "SELECT count(*) FROM " + schema_ +
           ".sessions WHERE name LIKE '%:" + std::to_string(process) +
           "' AND expires_at > clock_timestamp()";
  }
  // A lease ends automatically; this only waits.
  bool end_lease(pid_t process) const {
    return wait_until(kFleetLeaseEndsWithin, [&] { return number(living(process)) == 0; });
  }

  PostgresServer server_;
  std::string schema_;
  int stores_ = 0;
};

}  // namespace belay::postgres_tests
