#pragma once
// langgraph/cron_runs.h - CronRuns: gives the runs of crons their endings (run_endings.h): requests
// to a webhook, and the deletion of their threads.
//
// Any worker starts the runs of schedules. Servers find them in the ticks of the schedule; each run
// has one ending, whatever the number of servers.
//
// Threading: the executor's thread.

#include "langgraph/run_endings.h"

namespace belay::langgraph {

// A cron whose runs have endings.
struct CronWatch {
  static constexpr std::string_view collection = "langgraph_cron_watches";
  static constexpr bool is_of_tenant = true;  // the servers read those of all users

  std::string id{};                // of the cron
  std::string user{}, schedule{};  // its name
  std::string webhook{};           // an address; empty: none
  bool deletes_threads = false;

  // The state of the work.
  std::string seen{};  // the last run that has its ending
  Instant decided{};   // the latest decision on a tick that was read
  bool ended = false;
  Instant wake{};  // no server reads the record before this time
  std::string claim{};
  std::int64_t failures = 0;  // in a row
  std::string last_error{};

  std::string key() const { return id; }
  static auto indexed() { return std::tuple(); }
  static auto ordered() {
    return std::tuple{ordered_index("due", &CronWatch::ended, &CronWatch::wake)};
  }
  friend bool operator==(const CronWatch&, const CronWatch&) = default;
};

class CronRuns final : public server::DueDeliveries<CronWatch, std::string> {
 public:
  // `endings` must outlive it.
  CronRuns(server::ApiContext& world, RunEndings& endings)
      : DueDeliveries(world), endings_(endings) {}

  // Saves the watch of a cron, before its schedule. One that exists remains unchanged, unless the
  // cron is `changed`; it is erased if it watches nothing.
  Task<Result<Done>> watch(CronWatch watch, bool changed);

 private:
  // The work is the id of the last run.
  Task<Result<std::optional<std::string>>> work_on(const CronWatch& watch) override;
  UserId user_of(const CronWatch& watch, const std::string&) const override {
    return UserId(watch.user);
  }
  Task<Result<Done>> perform(Versioned<CronWatch>& watch, std::string& last_run) override;
  Task<Result<Done>> add_ending(const CronWatch& watch, const ScheduleTick& tick);

  RunEndings& endings_;
};

}  // namespace belay::langgraph
