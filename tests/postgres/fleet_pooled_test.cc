// A fleet whose workers connect to PostgreSQL through a fault proxy and PgBouncer in transaction
// mode, and receive notifications over separate connections to the server.

#include <array>
#include <map>

#include "tests/postgres/fleet_server.h"
#include "tests/postgres/pgbouncer.h"

namespace belay::postgres_tests {
namespace {

using namespace std::chrono_literals;
using crash::kSanitized;

constexpr std::chrono::seconds kIsCutWithin{3};

// Injects the connection faults in turn.
class BadNetwork {
 public:
  BadNetwork(FleetServer& fleet, PgBouncer& pooler, FaultProxy& proxy)
      : fleet_(fleet), server_(fleet.server()), pooler_(pooler), proxy_(proxy) {}

  // Returns whether anything was cut.
  bool strike() {
    struct Blow {
      const char* name;
      bool (BadNetwork::*strike)();
    };
    static constexpr std::array blows = {
        Blow{"a commit's connection cut before COMMIT", &BadNetwork::cut_before_end},
        Blow{"a commit's connection cut just after it", &BadNetwork::cut_after_end},
        Blow{"a commit's connection cut between it and its reply", &BadNetwork::cut_at_reply},
        Blow{"all connections cut", &BadNetwork::cut_all},
        Blow{"the server's side of the pooler ended", &BadNetwork::end_backends},
        Blow{"the pooler killed", &BadNetwork::kill_pooler},
        Blow{"the server crashed behind the pooler", &BadNetwork::crash_server},
    };
    most_notifiers_ =
        std::max(most_notifiers_,
                 fleet_.number("SELECT count(*) FROM pg_stat_activity WHERE application_name ="
                               " 'belay notifier'"));
    const Blow& blow = blows[strikes_++ % blows.size()];
    bool has_struck = (this->*blow.strike)();
    if (has_struck) ++counts_[blow.name];
    return has_struck;
  }

  const std::map<std::string, std::size_t>& counts() const { return counts_; }
  // The highest number of processes that received notifications over their own connections at the
  // same time.
  std::size_t most_notifiers() const { return most_notifiers_; }
  static constexpr std::size_t kinds = 7;

 private:
  bool cut_before_end() { return cut(CutAt::before_end); }
  bool cut_after_end() { return cut(CutAt::after_end); }
  bool cut_at_reply() { return cut(CutAt::at_reply); }

  bool cut(CutAt place) {
    ProxyCounts before = proxy_.counts();
    proxy_.set({.cut_at = place, .marker = ".checkpoints ("});
    bool is_cut = wait_until(kIsCutWithin, [&] { return proxy_.counts().cuts > before.cuts; });
    proxy_.heal();
    return is_cut;
  }
  bool cut_all() {
    ProxyCounts before = proxy_.counts();
    proxy_.cut_all();
    return wait_until(kIsCutWithin, [&] { return proxy_.counts().cuts > before.cuts; });
  }
  bool end_backends() {
    return server_.value(
               "SELECT count(pg_terminate_backend(pid)) FROM pg_stat_activity"
               " WHERE backend_type = 'client backend' AND pid <> pg_backend_pid()") != "0";
  }
  bool kill_pooler() {
    pooler_.stop();
    nap(200ms);
    pooler_.start();
    return true;
  }
  bool crash_server() {
    server_.restart_immediately();
    return true;
  }

  FleetServer& fleet_;
  PostgresServer& server_;
  PgBouncer& pooler_;
  FaultProxy& proxy_;
  std::size_t strikes_ = 0;
  std::size_t most_notifiers_ = 0;
  std::map<std::string, std::size_t> counts_;
};

TEST(PostgresPooledFleet, CutConnectionsAndAPoolerThatDiesLoseAndRepeatNothing) {
  std::uint64_t seed = crash::chosen_seed();
  FleetServer server;
  PgBouncer pooler(server.server(), 10);
  FaultProxy proxy(pooler.port());
  BadNetwork network(server, pooler, proxy);
  crash::FleetPlan plan;
  plan.seed = seed;
  plan.workers = 4;
  plan.runs = 10;
  plan.kills = crash::number_from("BELAY_CHAOS_KILLS", kSanitized ? 3 : 15);
  plan.zombies = crash::number_from("BELAY_CHAOS_ZOMBIES", kSanitized ? 1 : 4);
  plan.zombies_at_once = 2;
  plan.zombie_every = 6;
  plan.site = server.site(&proxy);
  plan.site.environment = {{"BELAY_NOTIFY_URL", server.server().url()}, {"FLEET_PACE", "10"}};
  plan.disturbances = crash::number_from("BELAY_CHAOS_NETWORK", kSanitized ? 7 : 21);
  plan.site.disturb_every = 1;
  plan.site.disturb = [&network] { return network.strike(); };
  crash::FleetReport report = play_fleet(plan);
  std::cout << report.evidence("fleet on PostgreSQL through PgBouncer and a network that cuts",
                               seed)
            << std::endl;
  for (const auto& [name, count] : network.counts()) {
    std::cout << "evidence: through PgBouncer: " << count << " times " << name << std::endl;
  }
  EXPECT_GE(report.disturbances, plan.disturbances);
  EXPECT_GE(report.kills, plan.kills);
  EXPECT_GT(network.most_notifiers(), 1u);
  // On a busy machine, one of a few faults may not find its moment: `make chaos` requires each.
  bool is_short = plan.disturbances < 10 * BadNetwork::kinds;
  if (is_short) return;
  EXPECT_EQ(network.counts().size(), BadNetwork::kinds);
  EXPECT_GT(report.takeovers, 0u);
}

}  // namespace
}  // namespace belay::postgres_tests
