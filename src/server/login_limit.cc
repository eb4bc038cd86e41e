#include "server/login_limit.h"

namespace belay::server {

std::optional<std::chrono::milliseconds> LoginLimit::look(const std::string& address,
                                                          const Digest& key, bool is_right) {
  if (wrong_.per_minute() == 0) return std::nullopt;
  Known known(address, key);
  if (is_right && is_known(known)) return std::nullopt;
  // Before `is_right` is used: while an address is rejected, a right key must not be
  // distinguishable from a wrong one.
  if (auto wait = wrong_.wait(address)) return wait;
  if (is_right) {
    remember(std::move(known));
    return std::nullopt;
  }
  return wrong_.take(address);
}

bool LoginLimit::is_known(const Known& known) {
  auto place = places_.find(known);
  if (place == places_.end()) return false;
  known_.splice(known_.end(), known_, place->second);
  return true;
}

void LoginLimit::remember(Known known) {
  if (known_.size() >= kKnownMax) {
    places_.erase(known_.front());
    known_.pop_front();
  }
  known_.push_back(known);
  places_.emplace(std::move(known), std::prev(known_.end()));
}

}  // namespace belay::server
