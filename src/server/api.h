#pragma once
// server/api.h - everything that is answered over HTTP: the table of routes, and who takes a
// request through it.
//
// Threading: the loop's thread.

#include "belay/clock.h"
#include "server/route.h"
#include "server/start_limits.h"
#include "service/json_encode.h"

namespace belay::server {

// Who may ask for what, by a bearer token.
struct ApiKey {
  std::string name;                     // the owner of its runs and records
  Digest token{};                       // SHA-256 of the token, which is not stored
  Permission permission{};              // includes those below it: read, run, decide, administer
  std::vector<std::string> roles = {};  // for approvals that require one
};

struct ApiOptions {
  std::string version;
  UserId user = UserId("local");  // of whoever needs no token
  // Empty: nobody needs a token, and only the names of this host are taken for a Host.
  std::vector<ApiKey> keys = {};
  // How long a request waits for its run, unless it says so itself; then it is answered with where
  // the run stands.
  std::chrono::milliseconds wait{300'000};
  std::chrono::milliseconds heartbeat{15'000};  // between two signs of life in a stream
  StartLimitOptions starts = {};
  std::size_t wrong_keys_per_minute = 10;    // of one address, then it is refused; 0: any number
  std::vector<std::string> trusted_proxies;  // addresses whose X-Forwarded-For is trusted
  // Permission that a key needs to start a run without approvals; unset: no key may.
  std::optional<Permission> no_approval_takes = Permission::decide;
  TimeZone time_zone = {};  // for dates that requests omit
  ApprovalExtras extras = nullptr;
  // Why it takes no work: it is being shut down, or its store is away. Anybody may ask and is told,
  // so no machine is named.
  std::function<Task<Result<Done>>()> readiness = nullptr;
};

// All of it outlives the API.
struct ApiParts {
  Service& service;
  Executor& executor;
  Clock& clock;
  Random& random;
  SharedRateLimit* starts = nullptr;  // counted with other servers; may be null
};

struct ApiContext;  // routes.h: what handlers need beside the call

class Api {
 public:
  // `own` makes the routes of the program's own, beside those of every program; may be null.
  using OwnRoutes = std::function<std::vector<Route>(ApiContext& world)>;
  Api(ApiParts parts, ApiOptions options, const OwnRoutes& own);
  ~Api();
  Api(const Api&) = delete;
  Api& operator=(const Api&) = delete;

  // Checks a request by its head alone: caller, route, permission and rate limits. Returns the
  // response for a rejected request; otherwise the request is admitted, once. For
  // http::ServerOptions::admit.
  std::optional<http::Response> admit(http::Request& head);
  // Admits the request, if that is not done yet, and handles it.
  Task<http::Response> answer(http::Request request);

  const std::vector<Route>& routes() const;
  // OpenAPI 3.1, made from the routes.
  const Value& description() const;

 private:
  class Body;
  std::unique_ptr<Body> body_;
};

}  // namespace belay::server
