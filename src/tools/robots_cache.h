#pragma once
// tools/robots_cache.h - RobotsCache: requests the robots.txt of hosts, and keeps their rules.
//
// Threading: any thread. Simultaneous calls for a host that is not kept each send a request.

#include <map>
#include <memory>
#include <mutex>
#include <string>

#include "belay/clock.h"
#include "belay/http.h"
#include "net/egress.h"
#include "tools/robots_rules.h"

namespace belay::tools {

class RobotsCache {
 public:
  explicit RobotsCache(std::string user_agent) : user_agent_(std::move(user_agent)) {}

  // Returns whether the host permits the page. `http` decides which requests are permitted, in each
  // case; its refusal is returned and not kept. Fails with `unavailable` if the host has a
  // robots.txt that cannot be read now. `http` and the cache must live until the task has ended.
  Task<Result<bool>> permits(HttpAccess& http, net::Target page, Instant now);

 private:
  struct Entry {
    std::shared_ptr<const RobotsRules> rules;
    Instant expires;
  };
  Task<Result<RobotsRules>> request(HttpAccess& http, net::Target robots);
  std::shared_ptr<const RobotsRules> find(const std::string& origin, Instant now);
  void keep(const std::string& origin, std::shared_ptr<const RobotsRules> rules, Instant now);

  const std::string user_agent_;
  std::mutex mutex_;
  std::map<std::string, Entry> entries_;  // by origin
};

}  // namespace belay::tools
