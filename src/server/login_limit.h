#pragma once
// server/login_limit.h - limits the number of wrong keys that an address can try.
//
// If an address has tried the maximum in a minute, its requests that carry a key are rejected,
// whether the key is right or wrong, until the rate allows the next try. A key is still accepted if
// it was right before from the same address: guessing gains nothing, and a program with a stale key
// cannot lock out other clients behind the same proxy.
//
// Threading: the loop's thread.

#include <list>
#include <map>

#include "belay/ids.h"
#include "server/rate_limit.h"

namespace belay::server {

class LoginLimit {
 public:
  // `per_minute` 0: unlimited.
  LoginLimit(Clock& clock, std::size_t per_minute) : wrong_(clock, per_minute) {}

  // Takes the digest of a key and whether the key is right. Returns the time to wait, or nullopt if
  // `is_right` may be used.
  std::optional<std::chrono::milliseconds> look(const std::string& address, const Digest& key,
                                                bool is_right);

 private:
  static constexpr std::size_t kKnownMax = 10'000;
  using Known = std::pair<std::string, Digest>;

  bool is_known(const Known& known);
  void remember(Known known);

  RateLimit wrong_;
  std::list<Known> known_;  // right keys with their addresses, the latest last
  std::map<Known, std::list<Known>::iterator> places_;
};

}  // namespace belay::server
