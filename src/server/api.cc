// Long on purpose: all processing steps of a request, in their order.

#include "server/api.h"

#include <algorithm>

#include "server/body.h"
#include "server/client_address.h"
#include "server/cors.h"
#include "server/login_limit.h"
#include "server/openapi.h"
#include "server/problem.h"
#include "server/response_cache.h"
#include "server/routes.h"
#include "server/target.h"
#include "telemetry/families.h"

namespace belay::server {
namespace {

// The caller without a key. If there are keys, only open routes accept it.
Principal principal_without_key(const ApiOptions& options) {
  Principal who;
  who.user = options.user;
  who.permission = options.keys.empty() ? Permission::administer : Permission::open;
  return who;
}

Principal principal_of(const ApiKey& key, const ApiOptions& options) {
  Principal who;
  who.user = UserId(key.name);
  who.permission = key.permission;
  who.roles = key.roles;
  who.key = key.name;
  who.may_skip_approvals =
      options.no_approval_takes && key.permission >= *options.no_approval_takes;
  return who;
}

constexpr std::string_view kHttpCode = "http";
constexpr std::string_view kAtRoot =
    " GET /openapi.json describes all addresses of this server, and GET /readyz its state.";

// The entries about denied requests of the last second. Anybody can send requests that are denied,
// and must not be able to fill a disk with the log.
class DeniedEntries {
 public:
  // Returns the number of entries omitted before this one; nullopt if this one must be omitted.
  std::optional<std::uint64_t> admit(Instant now) {
    bool is_next_second = now >= began_ + std::chrono::seconds(1) || now < began_;
    if (is_next_second) {
      began_ = now;
      entries_ = 0;
    }
    if (entries_ >= kPerSecond) {
      ++omitted_;
      return std::nullopt;
    }
    ++entries_;
    return std::exchange(omitted_, 0);
  }

 private:
  static constexpr int kPerSecond = 10;
  Instant began_{};
  int entries_ = 0;
  std::uint64_t omitted_ = 0;
};

std::string lower(std::string_view text) {
  std::string made(text);
  for (char& c : made) c = c >= 'A' && c <= 'Z' ? static_cast<char>(c - 'A' + 'a') : c;
  return made;
}

// The host in "localhost:8123" or "[::1]:8123".
std::string_view host_name(std::string_view host) {
  if (host.starts_with('[')) return host.substr(0, host.find(']') + 1);
  return host.substr(0, host.find(':'));
}

bool is_this_host(std::string_view host) {
  std::string name = lower(host_name(host));
  return name == "localhost" || name == "127.0.0.1" || name == "[::1]" || name.empty();
}

// Returns the token of "Bearer TOKEN"; nullopt for another scheme (case-insensitive, RFC 9110).
std::optional<std::string_view> bearer_token(std::string_view said) {
  constexpr std::string_view kScheme = "bearer ";
  if (said.size() <= kScheme.size() || lower(said.substr(0, kScheme.size())) != kScheme) {
    return std::nullopt;
  }
  said.remove_prefix(std::min(said.find_first_not_of(' ', kScheme.size()), said.size()));
  return said;
}

// Browsers send the origin of the page that makes a request; other clients send none.
bool is_of_this_server(const http::Request& request) {
  std::string_view origin = request.header("Origin");
  std::size_t scheme = origin.find("://");
  return origin.empty() ||
         (scheme != origin.npos && origin.substr(scheme + 3) == request.header("Host"));
}

// Returns the API key of a request: that of the Authorization header, otherwise of X-Api-Key, which
// clients of other protocols send.
std::optional<std::string_view> token_of(const http::Request& head) {
  std::string_view other = head.header("X-Api-Key");
  auto token = bearer_token(head.header("Authorization"));
  return token || other.empty() ? token : std::optional(other);
}

// True if the head announces a body.
bool has_body(const http::Request& head) {
  std::string_view length = head.header("Content-Length");
  bool is_empty = length.find_first_not_of('0') == length.npos;
  return !is_empty || !head.header("Transfer-Encoding").empty();
}

http::Response response_of(Reply reply) {
  http::Response response;
  response.status = reply.status;
  response.headers = std::move(reply.headers);
  response.headers.push_back({"X-Content-Type-Options", "nosniff"});
  if (reply.stream) {
    response.stream = std::move(reply.stream);
    return response;
  }
  auto has = [&response](std::string_view name) {
    return http::find_header(response.headers, name) != nullptr;
  };
  // Caches between client and server must not store a response that might contain personal data.
  if (!has("Cache-Control")) response.headers.push_back({"Cache-Control", "no-store"});
  if (response.status == 204 || response.status == 304) return response;
  if (reply.text && reply.text->empty()) return response;
  if (!has("Content-Type")) response.headers.push_back({"Content-Type", "application/json"});
  response.body = reply.text ? *std::move(reply.text) : to_json(reply.document);
  return response;
}

// Key of a cached response: the address, and all by which callers might get different responses.
std::string kept_key(const Principal& who, const http::Request& request) {
  std::string sees = who.tenant.text + "\n" + who.key + "\n" + std::string(name_of(who.permission));
  return sees + "\n" + request.raw_path + "?" + request.query;
}

// Checks the text of a declared parameter against its schema.
Result<Done> check_parameter(const Parameter& parameter, const std::string& text) {
  const std::string* type = parameter.schema["type"].as_string();
  if (const Value::Array* choices = parameter.schema["enum"].as_array()) {
    std::string all;
    for (const Value& each : *choices) {
      if (*each.as_string() == text) return Done{};
      all += (all.empty() ? "" : ", ") + *each.as_string();
    }
    return error(ErrorCode::invalid, "\"" + parameter.name + "\" must be one of " + all + ".");
  }
  if (type && *type == "boolean" && text != "true" && text != "false") {
    return error(ErrorCode::invalid, "\"" + parameter.name + "\" must be true or false.");
  }
  return Done{};
}

}  // namespace

class Api::Body {
 public:
  Body(ApiParts parts, ApiOptions options, const OwnRoutes& own)
      : world_{parts, std::move(options), Waiting(parts.executor)},
        without_key_(principal_without_key(world_.options)),
        starts_(std::make_shared<StartLimits>(parts.clock, world_.options.starts)),
        logins_(parts.clock, world_.options.wrong_keys_per_minute),
        cross_origin_(world_.options.cors_origins) {
    for (const ApiKey& key : world_.options.keys) {
      principals_.push_back(principal_of(key, world_.options));
    }
    // The program's own routes come first: their paths might match those of the generic routes.
    if (own) routes_ = own(world_);
    for (auto* make : {health_routes, metrics_routes, run_routes, thread_routes, steering_routes,
                       event_routes, approval_routes, outbox_routes, queue_routes, schedule_routes,
                       store_routes, analytics_routes, mcp_routes}) {
      for (Route& route : make(world_)) routes_.push_back(std::move(route));
    }
    routes_.push_back(description_route());
  }

  void end_waits() { world_.waiting.end(); }
  const std::vector<Route>& routes() const { return routes_; }
  // Made when it is first read: it takes 5 MB, and few servers are asked for it.
  const Value& description() const {
    if (!description_) description_ = describe(routes_, world_.options);
    return *description_;
  }
  // That of a server with keys has no types of its program: the route is open.
  const Value& open_description() const {
    if (world_.options.keys.empty()) return description();
    if (!open_description_) {
      ApiOptions options = world_.options;
      options.types = {};
      open_description_ = describe(routes_, options);
    }
    return *open_description_;
  }

  std::optional<http::Response> admit(http::Request& head) {
    if (auto allowed = cross_origin_.preflight(head)) return allowed;
    auto admitted = std::make_shared<Admitted>();
    if (auto refused = check_head(head, *admitted)) {
      cross_origin_.add_headers(head.header("Origin"), *refused);
      report_request(*admitted, refused->status, std::chrono::microseconds(0));
      return refused;
    }
    head.admission = std::move(admitted);
    return std::nullopt;
  }

  Task<http::Response> answer(http::Request request) {
    if (!request.admission) {
      if (auto refused = admit(request)) co_return *std::move(refused);
    }
    auto admitted = std::static_pointer_cast<Admitted>(std::move(request.admission));
    Instant began = world_.parts.clock.now();
    std::string origin(request.header("Origin"));
    http::Response response = co_await answer_admitted(std::move(request), admitted);
    cross_origin_.add_headers(origin, response);
    report_request(*admitted, response.status, world_.parts.clock.now() - began);
    co_return std::move(response);
  }

 private:
  using Found = std::variant<const Route*, http::Response>;

  // The result of checking a request's head.
  struct Admitted {
    const Route* route = nullptr;
    StringMap path;
    StringMap query;
    Principal who;
    std::string address;  // for rate limits
    std::shared_ptr<StartCount> start;
  };

  std::optional<http::Response> check_head(const http::Request& head, Admitted& admitted) {
    auto target = parse_target(head);
    if (!target.ok()) return problem(400, std::string(kHttpCode), target.error().message);
    auto found = find(head.method, target->segments, admitted.path);
    if (auto* refused = std::get_if<http::Response>(&found)) return std::move(*refused);
    admitted.route = std::get<const Route*>(found);
    if (!target->repeated.empty() && !admitted.route->accepts_any_query) {
      return problem(400, std::string(kHttpCode),
                     "The query contains \"" + target->repeated + "\" twice.");
    }
    admitted.query = std::move(target->query);
    if (auto refused = admit_caller(*admitted.route, head, admitted)) return refused;
    if (admitted.route->open_web_socket) {
      if (auto refused = check_web_socket(head)) return refused;
    }
    // Some of these routes need no key: if a route expects no body, none is read.
    if (admitted.route->body.is_null() && has_body(head)) {
      return problem(422, "invalid", "This request accepts no body.");
    }
    return std::nullopt;
  }

  Task<http::Response> answer_admitted(http::Request request, std::shared_ptr<Admitted> admitted) {
    const Route& route = *admitted->route;
    const Principal& who = admitted->who;
    Call call{
        {world_.parts.service, who, std::move(admitted->path), std::move(admitted->query), Value()},
        std::move(request),
        std::move(admitted->start)};
    if (auto refused = check_query(route, call)) co_return *std::move(refused);
    if (auto refused = read_body_for(route, call)) co_return *std::move(refused);
    if (route.open_web_socket || route.counts_starts) {
      call.count_start = [this, user = who.user.text, address = admitted->address] {
        return count_later_start(user, address);
      };
    }
    if (route.open_web_socket) co_return co_await open_web_socket(route, std::move(call));
    auto crowded = co_await count_read_start(route, *admitted, call);
    if (crowded) co_return *std::move(crowded);
    std::shared_ptr<StartCount> start = call.start;
    // The change token must be from before the read: a commit during the read must invalidate the
    // response.
    auto version = route.is_of_store ? call.service.store_version() : std::nullopt;
    std::string address = version ? kept_key(who, call.request) : std::string();
    const http::Response* kept = version ? kept_.find(*version, address) : nullptr;
    if (kept) co_return copy_of(*kept);
    auto reply = co_await route.handle(std::move(call));
    if (start && start->is_returned()) {
      co_await not_begun_elsewhere(who.user.text, admitted->address);
    }
    if (!reply.ok()) co_return problem(reply.error());
    bool is_kept = reply->is_kept;
    http::Response response = response_of(*std::move(reply));
    if (version && is_kept) kept_.keep(*version, std::move(address), response);
    co_return std::move(response);
  }

  // Counts a request that may start a run, unless it names a run that exists.
  Task<std::optional<http::Response>> count_read_start(const Route& route, Admitted& admitted,
                                                       Call& call) {
    std::optional<http::Response> refused;
    const std::string& user = admitted.who.user.text;
    const std::string& address = admitted.address;
    bool counts_now = counts_read(route, call.request) && may_begin_run(route, call);
    bool can_be_known = counts_now && route.finds_run && world_.options.starts.per_minute > 0;
    bool is_known = false;
    if (can_be_known) is_known = co_await route.finds_run(call);
    if (is_known) {
      call.start = starts_->begin_again(user, address);
      co_return std::move(refused);
    }
    if (counts_now) refused = count_start(admitted);
    if (refused) co_return std::move(refused);
    if (counts_now) call.start = std::move(admitted.start);
    if (call.start) refused = co_await starts_elsewhere(user, address);
    co_return std::move(refused);
  }

  // True if a request is only counted after its body has been read.
  static bool counts_read(const Route& route, const http::Request& head) {
    bool has_key = route.finds_run && !head.header("Idempotency-Key").empty();
    return route.begins_run_by || (route.begins_run && has_key);
  }

  static bool may_begin_run(const Route& route, const Call& call) {
    return !route.begins_run_by || route.begins_run_by(call);
  }

  // A browser sends the handshake of a page of any origin: the check is the server's.
  std::optional<http::Response> check_web_socket(const http::Request& head) {
    if (auto refused = check_handshake(head)) return refused;
    bool is_known = is_of_this_server(head) || cross_origin_.allows(head.header("Origin"));
    if (is_known) return std::nullopt;
    return problem(403, std::string(kHttpCode),
                   "Pages of this origin cannot open a WebSocket. Permit it by --cors-origin.");
  }

  Task<Result<std::shared_ptr<StartCount>>> count_later_start(std::string user,
                                                              std::string address) {
    BELAY_CO_TRY(std::shared_ptr<StartCount> start, starts_->begin(user, address));
    auto crowded = co_await starts_elsewhere(std::move(user), std::move(address));
    if (!crowded) co_return std::move(start);
    co_return error(ErrorCode::unavailable, "Too many runs were started in the last minute.");
  }

  Task<http::Response> open_web_socket(const Route& route, Call call) {
    http::Request handshake;
    handshake.headers = call.request.headers;
    auto session = co_await route.open_web_socket(std::move(call));
    if (!session.ok()) co_return problem(session.error());
    co_return http::web_socket_response(handshake, world_.options.web_sockets, *std::move(session));
  }

  // Counts a request, and logs one that was denied. The addresses of unknown routes are not
  // counted: anybody can invent them.
  void report_request(const Admitted& admitted, int status, std::chrono::microseconds time) {
    const Telemetry& telemetry = world_.parts.telemetry;
    if (!telemetry.is_on()) return;
    std::string code = std::to_string(status);
    std::string_view operation = admitted.route ? std::string_view(admitted.route->id) : "unknown";
    if (telemetry.metrics) {
      telemetry.metrics->observe(telemetry::kRequestSeconds,
                                 {{"operation", operation}, {"status", code}},
                                 std::chrono::duration<double>(time).count());
    }
    bool is_denied = status == 401 || status == 403 || status == 429;
    if (!is_denied || !telemetry.log || !telemetry.log->wants(LogLevel::warning)) return;
    std::optional<std::uint64_t> omitted = denied_.admit(world_.parts.clock.now());
    if (!omitted) return;
    LogEntry entry;
    entry.level = LogLevel::warning;
    entry.event = "http.denied";
    entry.fields = {{"operation", std::string(operation)},
                    {"status", std::move(code)},
                    {"address", admitted.address}};
    if (*omitted > 0) entry.fields.emplace_back("omitted", std::to_string(*omitted));
    telemetry.log->write(std::move(entry));
  }

  Found find(const std::string& method, const std::vector<std::string>& segments, StringMap& path) {
    std::string_view wanted = method == "HEAD" ? std::string_view("GET") : method;
    std::string allowed;
    for (const Route& route : routes_) {
      auto fits = match_path(route.path, segments);
      if (!fits) continue;
      if (route.method == wanted) {
        path = *std::move(fits);
        return &route;
      }
      allowed += (allowed.empty() ? "" : ", ") + route.method;
      if (route.method == "GET") allowed += ", HEAD";
    }
    if (allowed.empty()) {
      bool is_root = segments == std::vector<std::string>{""};
      std::string_view hint = is_root ? kAtRoot : "";
      return problem(404, std::string(kHttpCode), "Unknown address." + std::string(hint));
    }
    auto refused = problem(405, std::string(kHttpCode),
                           "This address does not accept " + method.substr(0, 20) + ".");
    refused.headers.push_back({"Allow", allowed});
    return refused;
  }

  // Identifies the caller and checks its permission.
  std::optional<http::Response> admit_caller(const Route& route, const http::Request& head,
                                             Admitted& admitted) {
    const ApiOptions& options = world_.options;
    admitted.who = without_key_;
    admitted.address = client_address(head, options.trusted_proxies);
    if (route.permission == Permission::open) return std::nullopt;
    if (options.keys.empty()) {
      // Without keys, a page in a browser is the danger: by DNS rebinding, its own host name can
      // point to this server, and it can send requests that need no body from any origin.
      bool is_known = is_of_this_server(head) || cross_origin_.allows(head.header("Origin"));
      bool is_local = is_this_host(head.header("Host")) && is_known;
      if (is_local) return count_start_of(route, head, admitted);
      return problem(
          403, std::string(kHttpCode),
          "This server accepts requests for localhost only. Set --api-keys to serve others.");
    }
    auto token = token_of(head);
    Digest digest = sha256(token.value_or(""));
    auto key = std::find_if(options.keys.begin(), options.keys.end(),
                            [&](const ApiKey& each) { return each.token == digest; });
    bool is_right = token && key != options.keys.end();
    auto wait = token ? logins_.look(admitted.address, digest, is_right) : std::nullopt;
    if (wait) return too_many_keys(admitted.address, *wait);
    if (!is_right) {
      auto refused = problem(401, std::string(kHttpCode),
                             "An API key is required: Authorization: Bearer TOKEN.");
      refused.headers.push_back({"WWW-Authenticate", "Bearer"});
      return refused;
    }
    if (key->permission < route.permission) {
      return problem(error(ErrorCode::forbidden, "This API key lacks the permission " +
                                                     std::string(name_of(route.permission)) + "."));
    }
    admitted.who = principals_[static_cast<std::size_t>(key - options.keys.begin())];
    return count_start_of(route, head, admitted);
  }

  std::optional<http::Response> count_start_of(const Route& route, const http::Request& head,
                                               Admitted& admitted) {
    bool counts_now = route.begins_run && !counts_read(route, head);
    return counts_now ? count_start(admitted) : std::nullopt;
  }

  std::optional<http::Response> count_start(Admitted& admitted) {
    auto start = starts_->begin(admitted.who.user.text, admitted.address);
    if (!start.ok()) return problem(start.error());
    admitted.start = *std::move(start);
    return std::nullopt;
  }

  static http::Response too_many_keys(const std::string& address, std::chrono::milliseconds wait) {
    Error refused =
        error(ErrorCode::unavailable, "Too many invalid API keys from the address \"" + address +
                                          "\". Try again later with a valid key.");
    refused.retry_after = wait;
    return problem(refused);
  }

  // The names by which all servers of a Redis count starts.
  static std::string counted_for(const std::string& user) { return "starts:" + user; }
  static std::string counted_from(const std::string& address) { return "starts-from:" + address; }

  // Other servers might have admitted starts that this one does not count. If the shared count is
  // unavailable, only this server's limit applies.
  Task<std::optional<http::Response>> starts_elsewhere(std::string user, std::string address) {
    std::optional<http::Response> refused;
    SharedRateLimit* shared = world_.parts.starts;
    std::size_t limit = world_.options.starts.per_minute;
    if (!shared || limit == 0) co_return std::move(refused);
    auto wait = co_await shared->acquire(counted_for(user), limit);
    bool is_over = wait && wait->count() > 0;
    if (is_over) refused = problem(StartLimits::too_many_a_minute(limit, "user", user, *wait));
    if (is_over) co_return std::move(refused);
    wait = co_await shared->acquire(counted_from(address), limit);
    is_over = wait && wait->count() > 0;
    if (is_over) {
      co_await shared->give_back(counted_for(user), limit);
      refused = problem(StartLimits::too_many_a_minute(limit, "address", address, *wait));
    }
    co_return std::move(refused);
  }

  // Removes a request that has started no run from the counts of all servers.
  Task<Done> not_begun_elsewhere(std::string user, std::string address) {
    SharedRateLimit* shared = world_.parts.starts;
    std::size_t limit = world_.options.starts.per_minute;
    if (!shared || limit == 0) co_return Done{};
    co_await shared->give_back(counted_for(user), limit);
    co_await shared->give_back(counted_from(address), limit);
    co_return Done{};
  }

  static std::optional<http::Response> check_query(const Route& route, const Call& call) {
    for (const auto& [name, text] : call.query) {
      auto known = std::find_if(route.parameters.begin(), route.parameters.end(),
                                [&wanted = name](const Parameter& each) {
                                  return each.in == Parameter::In::query && each.name == wanted;
                                });
      if (known == route.parameters.end()) {
        if (route.accepts_any_query) continue;
        return problem(422, "invalid", "Unknown parameter \"" + name + "\".");
      }
      auto fits = check_parameter(*known, text);
      if (!fits.ok()) return problem(fits.error());
    }
    for (const Parameter& each : route.parameters) {
      bool is_missing =
          each.is_required && each.in == Parameter::In::query && !call.query.contains(each.name);
      if (is_missing) return problem(422, "invalid", "Missing parameter \"" + each.name + "\".");
    }
    for (const auto& [name, text] : call.path) {
      auto fits = check_name(name, text);
      if (!fits.ok()) return problem(fits.error());
    }
    return std::nullopt;
  }

  static std::optional<http::Response> read_body_for(const Route& route, Call& call) {
    if (!route.read) return read_json(route, call);
    auto refused = route.read(call);
    if (!refused) return std::nullopt;
    return response_of(*std::move(refused));
  }

  static std::optional<http::Response> read_json(const Route& route, Call& call) {
    if (route.body.is_null()) {
      if (call.request.body.empty()) return std::nullopt;
      return problem(422, "invalid", "This request accepts no body.");
    }
    call.body = Value(Value::Object{});
    if (call.request.body.empty()) return check_form(route, call);
    if (!is_json_type(call.request.header("Content-Type"))) {
      return problem(415, std::string(kHttpCode), "The body must be application/json.");
    }
    auto json = parse_json(call.request.body);
    if (!json.ok()) return problem(400, "invalid", json.error().message);
    call.body = *std::move(json);
    std::string().swap(call.request.body);  // frees its memory while the run is awaited
    return check_form(route, call);
  }

  static std::optional<http::Response> check_form(const Route& route, const Call& call) {
    auto fits = check_body(call.body, route.body);
    if (!fits.ok()) return problem(fits.error());
    return std::nullopt;
  }

  static Task<Result<Reply>> describe_whole(const Value& description) {
    co_return reply_with(description);
  }

  Route description_route() {
    Route route =
        route_of("GET", "/openapi.json", "describeApi", "OpenAPI description of this API");
    route.permission = Permission::open;
    route.answers = {{200, "OpenAPI 3.1", "", "application/json"}};
    route.handle = [this](Call) { return describe_whole(open_description()); };
    return route;
  }

  ApiContext world_;
  const Principal without_key_;
  std::vector<Principal> principals_;  // one per key, in the order of the keys
  const std::shared_ptr<StartLimits> starts_;
  LoginLimit logins_;
  const CrossOrigin cross_origin_;
  DeniedEntries denied_;
  ResponseCache kept_;
  std::vector<Route> routes_;
  mutable std::optional<Value> description_, open_description_;
};

Api::Api(ApiParts parts, ApiOptions options, const OwnRoutes& own)
    : body_(std::make_unique<Body>(parts, std::move(options), own)) {}

Api::~Api() = default;

std::optional<http::Response> Api::admit(http::Request& head) { return body_->admit(head); }

Task<http::Response> Api::answer(http::Request request) {
  return body_->answer(std::move(request));
}

void Api::end_waits() { body_->end_waits(); }

const std::vector<Route>& Api::routes() const { return body_->routes(); }

const Value& Api::description() const { return body_->description(); }

}  // namespace belay::server
