#pragma once
// langgraph/cron_runs.h - CronRuns: gives the runs of crons their endings (run_endings.h): requests
// to a webhook, and the deletion of their threads.
//
// Any worker starts the runs of schedules. Servers find them in the ticks of the schedule; each run
// has one ending, whatever the number of servers.
//
// Threading: the executor's thread.

#include "belay/schedule.h"
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

class CronRuns final : public server::DueDeliveries<CronWatch, Schedule> {
 public:
  // `endings` must outlive it.
  CronRuns(server::ApiContext& world, RunEndings& endings)
      : DueDeliveries(world), endings_(endings) {}

  // Saves the watch of a cron whose schedule exists; it concerns the runs of later ticks. One that
  // exists remains unchanged, unless the cron is `changed`; it is erased if it watches nothing.
  Task<Result<Done>> watch(CronWatch watch, bool changed);
  // Gives the runs of a cron their endings now: before the deletion of its schedule, which deletes
  // the ticks as well.
  Task<Result<Done>> finish(std::string id);

 private:
  Task<Result<std::optional<Schedule>>> work_on(const CronWatch& watch) override;
  UserId user_of(const CronWatch& watch, const Schedule&) const override {
    return UserId(watch.user);
  }
  Task<Result<Done>> perform(Versioned<CronWatch>& watch, Schedule& schedule) override;
  Task<Result<Done>> add_ending(const CronWatch& watch, const Schedule& schedule,
                                const ScheduleTick& tick,
                                std::chrono::minutes unseen = std::chrono::minutes(0));
  Task<Result<Done>> add_ending_of_start(const CronWatch& watch, const Schedule& schedule);

  RunEndings& endings_;
};

}  // namespace belay::langgraph
