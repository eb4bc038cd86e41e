#include "server/start_limits.h"

#include "belay/limits.h"

namespace belay::server {
namespace {

Error no_place(std::string sentence) {
  Error full = error(ErrorCode::unavailable,
                     std::move(sentence) + " Try again later, or with \"Prefer: respond-async\".");
  full.retry_after = limits::busy_retry_after;
  return full;
}

}  // namespace

StartCount::~StartCount() {
  if (is_at_work_) limits_->leave(address_);
  if (is_returned()) limits_->give_back(user_, address_);
}

Result<Done> StartCount::enter() {
  if (is_at_work_) return Done{};
  BELAY_CHECK(limits_->enter(address_));
  is_at_work_ = true;
  return Done{};
}

Error StartLimits::too_many_a_minute(std::size_t limit, std::string_view of,
                                     const std::string& name, std::chrono::milliseconds wait) {
  Error refused =
      error(ErrorCode::unavailable, "Too many requests: the limit of " + std::to_string(limit) +
                                        " starts per minute of the " + std::string(of) + " \"" +
                                        name + "\" is reached. Try again later.");
  refused.retry_after = wait;
  return refused;
}

Result<std::shared_ptr<StartCount>> StartLimits::begin(const std::string& user,
                                                       const std::string& address) {
  if (auto wait = users_.take(user)) {
    return too_many_a_minute(options_.per_minute, "user", user, *wait);
  }
  if (auto wait = addresses_.take(address)) {
    users_.give_back(user);
    return too_many_a_minute(options_.per_minute, "address", address, *wait);
  }
  return std::make_shared<StartCount>(shared_from_this(), user, address, clock_.now(), true);
}

std::shared_ptr<StartCount> StartLimits::begin_again(const std::string& user,
                                                     const std::string& address) {
  return std::make_shared<StartCount>(shared_from_this(), user, address, clock_.now(), false);
}

Result<Done> StartLimits::enter(const std::string& address) {
  if (options_.at_work > 0 && at_work_ >= options_.at_work) {
    return no_place("Start limit reached: " + std::to_string(options_.at_work) +
                    " runs started by requests are in progress.");
  }
  std::size_t limit = options_.at_work_per_address;
  auto of_address = by_address_.find(address);
  if (limit > 0 && of_address != by_address_.end() && of_address->second >= limit) {
    return no_place("Start limit reached: " + std::to_string(limit) +
                    " runs started by requests of the address \"" + address +
                    "\" are in progress.");
  }
  ++at_work_;
  ++by_address_[address];
  return Done{};
}

void StartLimits::leave(const std::string& address) {
  --at_work_;
  auto of_address = by_address_.find(address);
  if (--of_address->second == 0) by_address_.erase(of_address);
}

void StartLimits::give_back(const std::string& user, const std::string& address) {
  users_.give_back(user);
  addresses_.give_back(address);
}

}  // namespace belay::server
