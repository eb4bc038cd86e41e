// Worker processes on one PostgreSQL, killed, stopped beyond their lease and continued, while the
// server itself is restarted; the receivers count the calls.

#include "tests/postgres/fleet_server.h"

namespace belay::postgres_tests {
namespace {

using crash::kSanitized;

// Further stores, until a zombie that remained a worker has claimed again: on a busy machine, the
// few of one store can be killed before.
constexpr std::size_t kFleetStoresMax = 6;

// Runs for BELAY_CHAOS_MINUTES if set, with one store after another.
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
  plan.kills = kSanitized ? 20 : 30;
  plan.zombies = kSanitized ? 6 : 15;
  plan.zombies_at_once = 3;
  plan.zombie_every = 2;
  plan.disturbances = 1;  // a short campaign can have fewer strokes than there are between two
  std::size_t stores = 0;
  do {
    plan.seed = seed + stores++;
    plan.site = server.site();
    // so that zombies are stopped while they execute runs
    plan.site.environment = {{"FLEET_PACE", "10"}};
    plan.site.disturb = [&server] {
      server.server().restart_immediately();
      return true;
    };
    all.add(play_fleet(plan));
  } while (all.faults.empty() &&
           (SteadyClock::now() < end || (all.claiming == 0 && stores < kFleetStoresMax)));
  std::cout << all.evidence("fleet of four workers on PostgreSQL " + server.version(), seed)
            << std::endl;
  EXPECT_GE(all.kills, plan.kills * stores);
  EXPECT_GE(all.zombies, plan.zombies * stores);
  // On a busy machine, the few zombies of a short campaign can all wake before another worker has
  // taken their runs: `make chaos` requires the opposite.
  if (minutes.count() > 0) {
    EXPECT_GT(all.robbed, 0u);
    EXPECT_GT(all.fenced, 0u);
  }
  EXPECT_GT(all.claiming, 0u);
  EXPECT_GT(all.takeovers, 0u);
  EXPECT_GT(all.disturbances, 0u);
}

// Sessions distinguish the workers: none keeps alive, ends or drains another one.
TEST(PostgresFleet, WorkersOfOneNameDrainAndClaimBesideOneAnother) {
  std::uint64_t seed = crash::chosen_seed();
  FleetServer server;
  std::size_t most = 0;
  crash::FleetPlan plan;
  plan.seed = seed;
  plan.workers = 3;
  plan.runs = 8;
  plan.worker_name = "twin";
  plan.zombie_every = 0;
  plan.drains = kSanitized ? 5 : 12;
  plan.kills = kSanitized ? 2 : 5;
  plan.site = server.site();
  plan.site.disturb_every = 3;
  plan.site.disturb = [&] {
    most = std::max(most, server.count_named("twin", "expires_at > clock_timestamp()"));
    return false;  // it only reads
  };
  crash::FleetReport report = play_fleet(plan);
  std::cout << report.evidence("fleet of three workers of one name on PostgreSQL", seed)
            << std::endl;
  EXPECT_GE(report.drains, plan.drains);
  EXPECT_GE(report.kills, plan.kills);
  EXPECT_GE(most, 2u) << "that lived at the same time";
  EXPECT_GE(server.count_named("twin", "true"), plan.drains) << "sessions";
}

}  // namespace
}  // namespace belay::postgres_tests
