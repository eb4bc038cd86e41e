#include "net/http_access.h"

#include <algorithm>

#include "base/trimmed.h"
#include "net/ascii.h"
#include "net/egress_client.h"

namespace belay {
namespace net {
namespace {

using std::chrono::milliseconds;
using Time = std::chrono::steady_clock::time_point;

// The client sets these itself. Another Host would address a server that was not checked.
constexpr std::string_view kTransferHeaders[] = {
    "host", "connection", "content-length", "transfer-encoding", "expect", "keep-alive",
    "te",   "trailer",    "upgrade"};
// Kept when a redirect leads to another origin. Any other header can contain a secret.
constexpr std::string_view kHarmlessHeaders[] = {"accept", "accept-language", "user-agent"};
constexpr std::string_view kMethods[] = {"GET",   "HEAD",   "POST",   "PUT",
                                         "PATCH", "DELETE", "OPTIONS"};

Result<Done> check_call(const HttpCall& call) {
  if (!has(kMethods, call.method)) {
    return error(ErrorCode::invalid,
                 "The method of an HTTP request must be GET, HEAD, POST, PUT, PATCH, DELETE or "
                 "OPTIONS. Correct it.");
  }
  for (const HttpHeader& header : call.headers) {
    std::string name = lower_case(header.name);
    if (!has(kTransferHeaders, name) && !name.starts_with("proxy-")) continue;
    return error(ErrorCode::invalid, "The header " + name +
                                         " of an HTTP request is set automatically. Remove it "
                                         "from the call.");
  }
  return Done{};
}

HttpRequest request_of(const HttpCall& call, const EgressPolicy& policy, milliseconds left) {
  HttpRequest request;
  request.method = call.method;
  request.headers = call.headers;
  request.body = call.body;
  request.timeouts.first_byte = request.timeouts.idle = request.timeouts.total = left;
  request.limits.body_bytes =
      std::min(policy.body_bytes_max, call.body_bytes_max.value_or(policy.body_bytes_max));
  return request;
}

bool is_redirect(const HttpAnswer& answer) {
  int status = answer.status();
  bool redirects = (status >= 301 && status <= 303) || status == 307 || status == 308;
  return redirects && !answer.header("location").empty();
}

void make_get(HttpCall& call) {
  if (call.method != "HEAD") call.method = "GET";
  call.body.clear();
  std::erase_if(call.headers, [](const HttpHeader& header) {
    return lower_case(header.name).starts_with("content-");
  });
}

// Changes the call to that of the next request.
void follow(HttpCall& call, int status, const Target& from, const Target& to) {
  bool becomes_get = status == 303 || (status < 303 && call.method == "POST");
  bool leaves = from.origin() != to.origin();
  if (becomes_get || leaves) make_get(call);
  if (!leaves) return;
  std::erase_if(call.headers, [](const HttpHeader& header) {
    return !has(kHarmlessHeaders, lower_case(header.name));
  });
}

// Returns the target of a redirect, if the policy permits to follow it.
Result<Target> next_target(const EgressPolicy& policy, const HttpAnswer& answer, const Target& from,
                           int followed) {
  if (followed == policy.redirects_max) {
    return error(ErrorCode::exhausted,
                 "A request was redirected more than " + std::to_string(policy.redirects_max) +
                     " times, the last time by " + from.host +
                     ". Use the final URL, or increase EgressPolicy::redirects_max.");
  }
  auto to = parse_redirect(from, answer.header("location"));
  if (!to.ok()) {
    return error(ErrorCode::invalid,
                 from.host + " redirects to a URL that is not valid. Use another URL.");
  }
  if (from.is_https && !to->is_https) return refusal(to->host);
  return to;
}

bool is_permitted_type(const std::vector<std::string>& permitted, std::string_view header) {
  if (permitted.empty()) return true;
  std::string type = lower_case(trimmed(header.substr(0, header.find(';'))));
  return std::any_of(permitted.begin(), permitted.end(), [&](const std::string& entry) {
    std::string pattern = lower_case(entry);
    if (!pattern.ends_with("/*")) return type == pattern;
    pattern.pop_back();
    return type.starts_with(pattern);
  });
}

using OnPiece = std::function<Result<Done>(const HttpReply&, std::string_view)>;

Task<Result<HttpReply>> reply_of(HttpAnswer answer, Target target,
                                 std::vector<std::string> permitted_types, OnPiece on_piece) {
  HttpReply reply;
  reply.status = answer.status();
  reply.headers = answer.headers();
  reply.url = target.url();
  bool has_permitted_type = is_permitted_type(permitted_types, answer.header("content-type"));
  if (on_piece && has_permitted_type) BELAY_CO_CHECK(on_piece(reply, ""));
  while (true) {
    auto piece = co_await answer.read();
    if (!piece.ok()) co_return std::move(piece).error();
    if (piece->empty()) co_return std::move(reply);
    if (!has_permitted_type) {
      co_return error(ErrorCode::invalid,
                      "The response of " + target.host +
                          " has a content type that is not permitted. Request another one, or "
                          "extend EgressPolicy::content_types.");
    }
    if (on_piece) {
      BELAY_CO_CHECK(on_piece(reply, *piece));
    } else {
      reply.body += *piece;
    }
  }
}

Result<Done> check_target(const EgressClient& client, const std::vector<HostList>& lists,
                          const Target& target) {
  BELAY_CHECK(client.check(target));
  bool is_covered = std::all_of(lists.begin(), lists.end(),
                                [&](const HostList& list) { return list.covers(target.host); });
  if (!is_covered) return refusal(target.host);
  return Done{};
}

Task<Result<HttpReply>> perform(std::shared_ptr<EgressClient> client, std::vector<HostList> lists,
                                HttpCall call) {
  BELAY_CO_CHECK(check_call(call));
  BELAY_CO_TRY(Target target, parse_target(call.url));
  const EgressPolicy& policy = client->policy();
  milliseconds timeout = std::min(policy.timeout, call.timeout.value_or(policy.timeout));
  Time end = std::chrono::steady_clock::now() + timeout;
  for (int followed = 0;; ++followed) {
    BELAY_CO_CHECK(check_target(*client, lists, target));
    auto left = std::chrono::ceil<milliseconds>(end - std::chrono::steady_clock::now());
    if (left.count() <= 0) {
      co_return error(ErrorCode::unavailable, "The request to " + target.host +
                                                  " did not end within " +
                                                  std::to_string(timeout.count()) +
                                                  " ms. Try again, or increase the timeout.");
    }
    HttpRequest request = request_of(call, policy, left);
    BELAY_CO_TRY(HttpAnswer answer, co_await begin(client, target, std::move(request)));
    if (policy.redirects_max == 0 || !is_redirect(answer)) {
      co_return co_await reply_of(std::move(answer), target, policy.content_types,
                                  std::move(call.on_piece));
    }
    BELAY_CO_TRY(Target next, next_target(policy, answer, target, followed));
    follow(call, answer.status(), target, next);
    std::move(answer).leave();
    target = std::move(next);
  }
}

class PolicyHttp final : public HttpAccess {
 public:
  PolicyHttp(std::shared_ptr<EgressClient> client, std::vector<HostList> lists)
      : client_(std::move(client)), lists_(std::move(lists)) {}

  Task<Result<HttpReply>> send(HttpCall call) override {
    return perform(client_, lists_, std::move(call));
  }

  Result<std::shared_ptr<HttpAccess>> narrowed(std::vector<std::string> hosts) override {
    BELAY_TRY(HostList list, HostList::from(hosts));
    std::vector<HostList> lists = lists_;
    lists.push_back(std::move(list));
    return std::shared_ptr<HttpAccess>(std::make_shared<PolicyHttp>(client_, std::move(lists)));
  }

 private:
  const std::shared_ptr<EgressClient> client_;
  const std::vector<HostList> lists_;  // all must cover a host
};

}  // namespace

Result<std::shared_ptr<HttpAccess>> make_http_access(
    EgressPolicy policy, std::function<std::string(const std::string& host)> resolve) {
  BELAY_TRY(auto client, EgressClient::open(std::move(policy), std::move(resolve)));
  auto access = std::make_shared<PolicyHttp>(std::move(client), std::vector<HostList>());
  return std::shared_ptr<HttpAccess>(std::move(access));
}

}  // namespace net

std::string_view HttpReply::header(std::string_view name) const {
  for (const HttpHeader& each : headers) {
    if (net::lower_case(each.name) == net::lower_case(name)) return each.value;
  }
  return {};
}

Result<std::shared_ptr<HttpAccess>> open_http(EgressPolicy policy) {
  return net::make_http_access(std::move(policy), nullptr);
}

}  // namespace belay
