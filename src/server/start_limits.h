#pragma once
// server/start_limits.h - how many runs requests may begin: in a minute, and at the same time.
//
// Threading: the loop's thread.

#include <map>
#include <memory>
#include <string>

#include "server/rate_limit.h"

namespace belay::server {

// 0: any number.
struct StartLimitOptions {
  std::size_t per_minute = 0;           // of a user, and of an address
  std::size_t at_work_per_address = 0;  // that requests of one address have begun; those of a user
                                        // are counted by the store: PlaceLimits
  std::size_t at_work = 0;              // that requests have begun, of all users together
};

class StartLimits;

// One request that may begin a run: while it is answered, and then as long as its run is at work.
class StartCount {
 public:
  StartCount(std::shared_ptr<StartLimits> limits, std::string user, std::string address,
             Instant now)
      : asked_at(now),
        limits_(std::move(limits)),
        user_(std::move(user)),
        address_(std::move(address)) {}
  StartCount(const StartCount&) = delete;
  StartCount& operator=(const StartCount&) = delete;
  ~StartCount();

  // Takes a place for a run that is to be at work. `unavailable`, with when to come again, and
  // naming the limit, where there is none.
  Result<Done> enter();
  // It has begun a run, and counts. Otherwise what it took of the minute is given back.
  void keep() { is_kept_ = true; }
  bool is_kept() const { return is_kept_; }

  const Instant asked_at;

 private:
  const std::shared_ptr<StartLimits> limits_;
  const std::string user_;
  const std::string address_;
  bool is_kept_ = false;
  bool is_at_work_ = false;
};

class StartLimits : public std::enable_shared_from_this<StartLimits> {
 public:
  StartLimits(Clock& clock, StartLimitOptions options)
      : clock_(clock),
        options_(options),
        users_(clock, options.per_minute),
        addresses_(clock, options.per_minute) {}

  // `unavailable`, with when to come again, and naming the limit, for one too many in a minute.
  Result<std::shared_ptr<StartCount>> begin(const std::string& user, const std::string& address);

  // The sentence of that refusal.
  static Error too_many_a_minute(std::size_t limit, std::string_view of, const std::string& name,
                                 std::chrono::milliseconds wait);

 private:
  friend class StartCount;
  Result<Done> enter(const std::string& address);
  void leave(const std::string& address);
  void give_back(const std::string& user, const std::string& address);

  Clock& clock_;
  const StartLimitOptions options_;
  RateLimit users_;
  RateLimit addresses_;
  std::size_t at_work_ = 0;
  std::map<std::string, std::size_t> by_address_;  // of those at work
};

}  // namespace belay::server
