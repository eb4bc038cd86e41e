#pragma once
// server/login_limit.h - how many wrong keys an address may try.
//
// After so many in a minute, requests of that address that carry a key are refused without a word
// of whether it is right, until the minute gives the next try. Only a key that has been right from
// there before goes on: so guessing gets nowhere, and neither does a program with a stale key lock
// out the others behind the same proxy.
//
// Threading: the loop's thread.

#include <list>
#include <map>

#include "belay/ids.h"
#include "server/rate_limit.h"

namespace belay::server {

class LoginLimit {
 public:
  // 0: any number.
  LoginLimit(Clock& clock, std::size_t per_minute) : wrong_(clock, per_minute) {}

  // Of a key, by its digest, that is right or not: how long to wait, or nothing where it may be
  // told.
  std::optional<std::chrono::milliseconds> look(const std::string& address, const Digest& key,
                                                bool is_right);

 private:
  static constexpr std::size_t kKnownMax = 10'000;
  using Known = std::pair<std::string, Digest>;

  bool is_known(const Known& known);
  void remember(Known known);

  RateLimit wrong_;
  std::list<Known> known_;  // right keys and where they came from, the latest last
  std::map<Known, std::list<Known>::iterator> places_;
};

}  // namespace belay::server
