#include "tools/robots_cache.h"

#include <algorithm>

namespace belay::tools {
namespace {

constexpr std::size_t entries_max = 64;
constexpr std::chrono::hours entry_lifetime{1};  // RFC 9309: at most a day
constexpr std::chrono::seconds request_time{10};
constexpr int robots_redirects_max = 5;
// Of the response; only its beginning is used.
constexpr std::size_t response_bytes_max = 4 * robots_bytes_max;

HttpCall robots_call(const net::Target& robots, const std::string& user_agent) {
  HttpCall call;
  call.url = robots.url();
  call.headers = {{"Accept", "text/plain, */*;q=0.5"}, {"User-Agent", user_agent}};
  call.timeout = request_time;
  call.body_bytes_max = response_bytes_max;
  return call;
}

Error unreadable(const net::Target& robots, std::string_view reason) {
  return error(ErrorCode::unavailable, "The robots.txt of " + robots.host +
                                           " cannot be read, so that its pages must not be "
                                           "fetched now: " +
                                           std::string(reason));
}

}  // namespace

Task<Result<bool>> RobotsCache::permits(HttpAccess& http, net::Target page, Instant now) {
  std::string origin = page.origin();
  std::shared_ptr<const RobotsRules> rules = find(origin, now);
  if (!rules) {
    net::Target robots = page;
    robots.path = "/robots.txt";
    BELAY_CO_TRY(RobotsRules requested, co_await request(http, std::move(robots)));
    rules = std::make_shared<const RobotsRules>(std::move(requested));
    keep(origin, rules, now);
  }
  co_return rules->permits(page.path);
}

// Follows redirects that the policy of `http` does not follow, because robots.txt is often at
// another host than the page. Each request is checked by the policy.
Task<Result<RobotsRules>> RobotsCache::request(HttpAccess& http, net::Target robots) {
  for (int followed = 0;; ++followed) {
    HttpCall call = robots_call(robots, user_agent_);
    auto reply = co_await http.send(std::move(call));
    if (!reply.ok()) {
      if (reply.error().code == ErrorCode::forbidden) co_return std::move(reply).error();
      co_return unreadable(robots, reply.error().message);
    }
    if (reply->status >= 200 && reply->status < 300) {
      co_return RobotsRules::from(reply->body, user_agent_);
    }
    if (reply->status >= 400 && reply->status < 500) co_return RobotsRules();
    bool is_redirect = reply->status >= 300 && reply->status < 400;
    std::string location(reply->header("location"));
    if (!is_redirect) {
      co_return unreadable(robots, "status " + std::to_string(reply->status) + ".");
    }
    // "Unavailable", as with status 404.
    if (location.empty() || followed == robots_redirects_max) co_return RobotsRules();
    auto next = net::parse_redirect(robots, location);
    if (!next.ok() || (robots.is_https && !next->is_https)) {
      co_return unreadable(robots, "its redirect cannot be followed.");
    }
    robots = *std::move(next);
  }
}

std::shared_ptr<const RobotsRules> RobotsCache::find(const std::string& origin, Instant now) {
  std::lock_guard lock(mutex_);
  auto found = entries_.find(origin);
  if (found == entries_.end() || found->second.expires <= now) return nullptr;
  return found->second.rules;
}

void RobotsCache::keep(const std::string& origin, std::shared_ptr<const RobotsRules> rules,
                       Instant now) {
  std::lock_guard lock(mutex_);
  if (entries_.size() >= entries_max && !entries_.contains(origin)) {
    entries_.erase(std::min_element(
        entries_.begin(), entries_.end(),
        [](const auto& one, const auto& two) { return one.second.expires < two.second.expires; }));
  }
  entries_[origin] = Entry{std::move(rules), now + entry_lifetime};
}

}  // namespace belay::tools
