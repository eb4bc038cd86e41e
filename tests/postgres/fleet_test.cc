// Worker processes on one PostgreSQL, killed, stopped beyond their lease and woken up again, while
// the server itself is restarted; the receivers count what happened.

#include "tests/crash/fleet.h"

#include <gtest/gtest.h>

#include <iostream>

#include "tests/crash/campaign.h"
#include "tests/crash/store_files.h"
#include "tests/postgres/postgres_server.h"

namespace belay::postgres_tests {
namespace {

using crash::kSanitized;

// Long enough for a busy machine to renew it three times, short enough to wait for it fifty times.
constexpr int kLeaseMs = 1'000;
constexpr std::chrono::seconds kLeaseEndsWithin{60};

class FleetServer {
 public:
  crash::FleetSite site(const std::string& schema) {
    schema_ = schema;
    crash::FleetSite site;
    site.store = server_.url(
        "postgres", "schema=" + schema + "&pool=4&session_expiry=" + std::to_string(kLeaseMs));
    site.end_lease = [this](pid_t process) { return end_lease(process); };
    site.disturb = [this] { server_.restart_immediately(); };
    return site;
  }
  std::string version() const { return server_.value("SHOW server_version"); }

 private:
  // A lease ends by itself: all that it takes is time.
  bool end_lease(pid_t process) const {
    std::string living = "SELECT count(*) FROM " + schema_ +
                         ".sessions WHERE name LIKE '%:" + std::to_string(process) +
                         "' AND expires_at > clock_timestamp()";
    if (server_.value(living) == "0") return false;
    return wait_until(kLeaseEndsWithin, [&] { return server_.value(living) == "0"; });
  }

  PostgresServer server_;
  std::string schema_;
};

// With BELAY_CHAOS_MINUTES for as long, one store after the other.
TEST(PostgresFleet, NoKillLosesACommitOrRepeatsAnEffectBeyondItsClass) {
  using SteadyClock = std::chrono::steady_clock;
  auto minutes = std::chrono::minutes(crash::number_from("BELAY_CHAOS_MINUTES", 0));
  SteadyClock::time_point end = SteadyClock::now() + minutes;
  std::uint64_t seed = crash::chosen_seed();
  FleetServer server;
  crash::FleetReport all;
  crash::FleetPlan plan;
  plan.workers = 4;
  plan.runs = 10;
  plan.kills = kSanitized ? 20 : 100;
  plan.zombies = kSanitized ? 6 : 50;
  plan.zombies_at_once = 3;
  plan.zombie_every = 4;
  std::size_t stores = 0;
  do {
    plan.seed = seed + stores;
    plan.site = server.site("fleet_" + std::to_string(++stores));
    std::string parent = crash::new_folder();
    crash::FleetReport report = run_fleet(plan, parent + "/fleet");
    for (const std::string& fault : report.faults) {
      ADD_FAILURE() << "BELAY_CRASH_SEED=" << plan.seed << ", receivers in " << parent << ": "
                    << fault;
    }
    if (report.faults.empty()) crash::remove_folder(parent);
    all.add(report);
  } while (all.faults.empty() && SteadyClock::now() < end);
  std::cout << all.evidence("fleet of four workers on PostgreSQL " + server.version(), seed)
            << std::endl;
  EXPECT_GE(all.kills, plan.kills * stores);
  EXPECT_GE(all.zombies, plan.zombies * stores);
  EXPECT_GT(all.takeovers, 0u);
  EXPECT_GT(all.disturbances, 0u);
}

}  // namespace
}  // namespace belay::postgres_tests
