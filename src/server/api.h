#pragma once
// server/api.h - Api: the table of all routes, and the steps that a request passes through.
//
// Threading: the loop's thread.

#include "belay/clock.h"
#include "belay/telemetry.h"
#include "server/program_types.h"
#include "server/route.h"
#include "server/start_limits.h"
#include "server/web_socket.h"
#include "service/json_encode.h"

namespace belay::server {

// The name and the permissions that belong to a bearer token.
struct ApiKey {
  std::string name;                     // the owner of its runs and records
  Digest token{};                       // SHA-256 of the token, which is not stored
  Permission permission{};              // includes those below it: read, run, decide, administer
  std::vector<std::string> roles = {};  // for approvals that require one
};

struct ApiOptions {
  std::string version;
  UserId user = UserId("local");  // of callers without a token
  // Empty: no caller needs a token, and only the names of this host are accepted as Host.
  std::vector<ApiKey> keys = {};
  // Default time that a request waits for its run. Afterwards, the response contains the current
  // state of the run.
  std::chrono::milliseconds wait{300'000};
  std::chrono::milliseconds heartbeat{15'000};  // interval of comments in a stream without events
  StartLimitOptions starts = {};
  WebSocketLimits web_sockets = {};
  std::size_t wrong_keys_per_minute = 10;    // per address; 0: unlimited
  std::vector<std::string> trusted_proxies;  // addresses whose X-Forwarded-For is trusted
  // Permission that a key needs to start a run without approvals; unset: no key may.
  std::optional<Permission> no_approval_takes = Permission::decide;
  // Origins whose pages can call the API, "*": any. Empty: only pages of this server.
  std::vector<std::string> cors_origins = {};
  TimeZone time_zone = {};  // for dates that requests omit
  ApprovalExtras extras = nullptr;
  std::map<std::string, Value> schemas = {};  // of responses of modules, by name
  ProgramTypes types = {};                    // for the description
  // Fails if the server cannot execute runs: it is shutting down, or its store is unavailable.
  // Callers receive the message even if they have no key; it must not name a machine.
  std::function<Task<Result<Done>>()> readiness = nullptr;
};

// All of it must outlive the API.
struct ApiParts {
  Service& service;
  Executor& executor;
  Clock& clock;
  Random& random;
  SharedRateLimit* starts = nullptr;  // counted with other servers; may be null
  Telemetry telemetry = {};           // for requests; the metrics are those of GET /metrics
};

struct ApiContext;  // routes.h: the objects that handlers use

class Api {
 public:
  // Creates the routes of modules, in addition to those of every program; may be null.
  using OwnRoutes = std::function<std::vector<Route>(ApiContext& world)>;
  Api(ApiParts parts, ApiOptions options, const OwnRoutes& own);
  ~Api();
  Api(const Api&) = delete;
  Api& operator=(const Api&) = delete;

  // Checks a request by its head alone: caller, route, permission and rate limits. Returns the
  // response for a rejected request; otherwise the request is admitted, once. For
  // http::ServerOptions::admit.
  std::optional<http::Response> admit(http::Request& head);
  // Admits the request, unless admit() has, and handles it.
  Task<http::Response> answer(http::Request request);

  // Requests that wait for a run get their responses with its present state, and later ones do not
  // wait. To be called when no run is executed any more.
  void end_waits();

  const std::vector<Route>& routes() const;
  // OpenAPI 3.1, generated from the routes.
  const Value& description() const;

 private:
  class Body;
  std::unique_ptr<Body> body_;
};

}  // namespace belay::server
