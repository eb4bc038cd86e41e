#pragma once
// server/start_limits.h - limits the runs that requests start: per minute, and running at a time.
//
// Threading: the loop's thread.

#include <map>
#include <memory>
#include <string>

#include "belay/result.h"
#include "server/rate_limit.h"

namespace belay::server {

// 0: unlimited.
struct StartLimitOptions {
  std::size_t per_minute = 0;           // starts of a user, and of an address
  std::size_t at_work_per_address = 0;  // running, started by requests of one address; the store
                                        // limits those of a user: ConcurrencyLimits
  std::size_t at_work = 0;              // running, started by requests, of all users
};

class StartLimits;

// Counts one request that may start a run: while it is handled, then as long as its run is running.
class StartCount {
 public:
  // `is_counted`: it has taken the tokens of the user and of the address.
  StartCount(std::shared_ptr<StartLimits> limits, std::string user, std::string address,
             Instant now, bool is_counted)
      : asked_at(now),
        limits_(std::move(limits)),
        user_(std::move(user)),
        address_(std::move(address)),
        is_counted_(is_counted) {}
  StartCount(const StartCount&) = delete;
  StartCount& operator=(const StartCount&) = delete;
  ~StartCount();

  // Reserves a slot for a run that will be running. If none is free, fails with `unavailable`, with
  // the retry delay and the name of the limit.
  Result<Done> enter();
  // Keeps the count, because a run was started. If it is not called, the destructor returns the
  // tokens.
  void keep() { is_kept_ = true; }
  // True if the tokens must be returned.
  bool is_returned() const { return is_counted_ && !is_kept_; }

  const Instant asked_at;

 private:
  const std::shared_ptr<StartLimits> limits_;
  const std::string user_;
  const std::string address_;
  const bool is_counted_;
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

  // Fails with `unavailable`, with the retry delay and the name of the limit, if the limit per
  // minute is reached.
  Result<std::shared_ptr<StartCount>> begin(const std::string& user, const std::string& address);
  // The same for a repeated request, whose run exists: it takes no tokens.
  std::shared_ptr<StartCount> begin_again(const std::string& user, const std::string& address);

  // Returns the error of that rejection.
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
  std::map<std::string, std::size_t> by_address_;  // running runs
};

}  // namespace belay::server
