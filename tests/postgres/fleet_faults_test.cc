// Fleets on PostgreSQL whose workers all die with their runs, while the server crashes during the
// takeovers, or the Redis next to it fails in every way.

#include <array>
#include <map>
#include <set>

#include "tests/postgres/fleet_server.h"
#include "tests/redis/redis_server.h"

namespace belay::postgres_tests {
namespace {

using namespace std::chrono_literals;
using crash::kSanitized;

// The statement in progress of a worker that takes over when the server crashes.
struct UnderWay {
  const char* name;
  CutAt place;
  const char* statement;
  const char* given;
};
constexpr std::array kUnderWay = {
    UnderWay{"the look for owners that are dead", CutAt::before_end, "FULL JOIN owned", ""},
    UnderWay{"the choice of what is due, its rows locked", CutAt::before_end, "SKIP LOCKED", ""},
    UnderWay{"the offer, before its COMMIT", CutAt::before_end, "offered_to =", ""},
    UnderWay{"the offer, after its COMMIT", CutAt::at_reply, "offered_to =", ""},
    UnderWay{"the take-over, before its COMMIT", CutAt::before_end, "INSERT", "claim"},
    UnderWay{"the take-over, after its COMMIT", CutAt::at_reply, "INSERT", "claim"},
};
constexpr std::chrono::seconds kComesWithin{5};

crash::FleetPlan plan_of_dying_workers(std::uint64_t seed) {
  crash::FleetPlan plan;
  plan.seed = seed;
  plan.workers = 2;
  plan.runs = 11;  // more than the workers execute at the same time
  plan.kills = kSanitized ? 5 : 20;
  plan.zombie_every = 0;
  plan.kills_all = true;
  return plan;
}

// Makes a connection stall at that point, crashes the server meanwhile, and counts these cases;
// does nothing if no such statement arrives.
class CrashUnderWay {
 public:
  CrashUnderWay(PostgresServer& server, FaultProxy& proxy) : server_(server), proxy_(proxy) {}

  bool strike() {
    const UnderWay& next = kUnderWay[strikes_++ % kUnderWay.size()];
    std::uint64_t before = proxy_.counts().held;
    ProxyCounts so_far = proxy_.counts();
    proxy_.set({.cut_at = next.place,
                .marker = next.statement,
                .given = next.given,
                .cuts_max = so_far.cuts_before_end + so_far.cuts_at_reply + 1,
                .holds = true});
    bool has_come = wait_until(kComesWithin, [&] { return proxy_.counts().held > before; });
    if (has_come) {
      server_.restart_immediately();
      ++crashes_[next.name];
    }
    proxy_.heal();
    return has_come;
  }

  const std::map<std::string, std::size_t>& crashes() const { return crashes_; }

 private:
  PostgresServer& server_;
  FaultProxy& proxy_;
  std::size_t strikes_ = 0;
  std::map<std::string, std::size_t> crashes_;
};

TEST(PostgresFleetFaults, AServerThatCrashesUnderATakeOverLosesAndRepeatsNothing) {
  std::uint64_t seed = crash::chosen_seed();
  FleetServer server;
  FaultProxy proxy(server.server().port());
  CrashUnderWay crash(server.server(), proxy);
  crash::FleetPlan plan = plan_of_dying_workers(seed);
  plan.site = server.site(&proxy);
  plan.disturbances = crash::number_from("BELAY_CHAOS_CRASHES", kSanitized ? 6 : 24);
  plan.site.disturb_every = 1;
  plan.site.disturb = [&crash] { return crash.strike(); };
  crash::FleetReport report = play_fleet(plan);
  std::cout << report.evidence("fleet of dying workers on PostgreSQL that crashes under them", seed)
            << std::endl;
  for (const auto& [name, count] : crash.crashes()) {
    std::cout << "evidence: PostgreSQL crashed " << count << " times under " << name << std::endl;
  }
  if (kSanitized) return;
  EXPECT_GE(report.disturbances, plan.disturbances);
  EXPECT_EQ(crash.crashes().size(), kUnderWay.size());
  EXPECT_GT(report.takeovers, 0u);
}

// A Redis next to a fleet, with a client of the test that changes its contents.
class WrongRedis {
 public:
  std::string url() const { return server_.url(); }

  // Kills and restarts it empty, freezes it, deletes entries, restores earlier ones, changes
  // entries, or sends notifications without cause. Returns whether there was anything to do that
  // with.
  bool strike() {
    if (is_frozen_) {
      server_.thaw();
      is_frozen_ = false;
    }
    switch (strikes_++ % 6) {
      case 0:
        return tell_lies();
      case 1:
        return tell_of_earlier();
      case 2:
        return forget();
      case 3:
        return freeze();
      case 4:
        return wake_for_nothing();
      default:
        return die();
    }
  }
  void thaw() {
    if (std::exchange(is_frozen_, false)) server_.thaw();
  }
  std::size_t entries_changed() const { return entries_changed_; }

 private:
  Result<redis::Reply> call(redis::Command command) {
    client_->wait_until_up(5s);
    return client_->call_and_wait(command);
  }
  // Returns the entries that the fleet stores there: those of checkpoints.
  std::map<std::string, std::string> entries() {
    std::map<std::string, std::string> found;
    auto keys = call({"KEYS", "*"});
    if (!keys.ok()) return found;
    for (const redis::Reply& key : keys->items) {
      auto value = call({"GET", key.text});
      if (value.ok()) found[key.text] = value->text;
    }
    return found;
  }
  bool put(const std::map<std::string, std::string>& wanted) {
    for (const auto& [key, value] : wanted) {
      entries_changed_ += call({"SET", key, value}).ok();
    }
    return !wanted.empty();
  }

  // Replaces each entry by one that belongs to another key, or flips a bit of it.
  bool tell_lies() {
    earlier_ = entries();
    auto lies = earlier_;
    std::string of_another;
    for (auto& [key, value] : lies) {
      std::swap(value, of_another);
      if (value.empty()) value = of_another;
      if (!value.empty() && random_->bits() % 2 == 0) {
        value[random_->bits() % value.size()] ^= 0x10;
      }
    }
    return put(lies);
  }
  bool tell_of_earlier() { return put(earlier_); }
  bool forget() { return call({"FLUSHALL"}).ok(); }
  bool freeze() {
    server_.freeze();
    is_frozen_ = true;
    return true;
  }
  bool wake_for_nothing() {
    for (int i = 0; i < 200; ++i) {
      client_->publish("wake:default", i % 2 == 0 ? "" : "no such thing");
    }
    return call({"PING"}).ok();
  }
  bool die() {
    server_.kill();
    nap(200ms);
    server_.start();
    return true;
  }

  tests::RedisServer server_;
  std::unique_ptr<Random> random_ = system_random();
  std::unique_ptr<redis::Client> client_ = tests::connected(server_.url(), *random_);
  std::map<std::string, std::string> earlier_;
  std::size_t strikes_ = 0;
  std::size_t entries_changed_ = 0;
  bool is_frozen_ = false;
};

TEST(PostgresFleetFaults, ARedisThatDiesForgetsStandsStillAndLiesCostsNothingButTime) {
  std::uint64_t seed = crash::chosen_seed();
  FleetServer server;
  WrongRedis redis;
  crash::FleetPlan plan = plan_of_dying_workers(seed);
  plan.kills_all = false;
  plan.site = server.site();
  plan.site.environment = {{"BELAY_REDIS", redis.url()},
                           {"BELAY_REDIS_FOR", "hints,limits,checkpoints"}};
  plan.disturbances = crash::number_from("BELAY_CHAOS_REDIS", kSanitized ? 6 : 18);
  plan.site.disturb_every = 1;
  plan.site.disturb = [&redis] { return redis.strike(); };
  crash::FleetReport report = play_fleet(plan);
  redis.thaw();
  std::cout << report.evidence("fleet on PostgreSQL beside a Redis that does all it should not",
                               seed)
            << std::endl;
  std::cout << "evidence: " << redis.entries_changed() << " entries of Redis swapped, changed or "
            << "of an earlier time" << std::endl;
  EXPECT_GE(report.disturbances, plan.disturbances);
  if (!kSanitized) {
    EXPECT_GT(redis.entries_changed(), 0u);
  }
}

}  // namespace
}  // namespace belay::postgres_tests
