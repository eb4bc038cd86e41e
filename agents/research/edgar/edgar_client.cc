#include "agents/research/edgar/edgar_client.h"

#include <algorithm>
#include <charconv>
#include <optional>
#include <utility>
#include <variant>

namespace belay::research {
namespace {

constexpr int kStatusOk = 200;
constexpr int kNotModified = 304;
constexpr std::size_t kKeptBytesMax = 64 << 10;
constexpr std::size_t kUserAgentBytesMax = 200;
constexpr std::chrono::minutes kRequestTimeout{5};
constexpr std::size_t kResponseBytesMax = 64 << 20;

// The parts of "https://HOST:PORT".
struct Origin {
  bool is_https = false;
  std::string host;
  int port = 0;
};

std::optional<Origin> origin_of(std::string_view url) {
  Origin origin;
  origin.is_https = url.starts_with("https://");
  if (!origin.is_https && !url.starts_with("http://")) return std::nullopt;
  url.remove_prefix(url.find("//") + 2);
  std::size_t colon = std::min(url.find(':'), url.size());
  origin.host = url.substr(0, colon);
  origin.port = origin.is_https ? 443 : 80;
  if (colon < url.size()) {
    std::string_view port = url.substr(colon + 1);
    auto [end, fault] = std::from_chars(port.data(), port.data() + port.size(), origin.port);
    if (fault != std::errc() || end != port.data() + port.size()) return std::nullopt;
  }
  bool has_name =
      !origin.host.empty() && std::all_of(origin.host.begin(), origin.host.end(), [](char c) {
        return (c >= 'a' && c <= 'z') || (c >= '0' && c <= '9') || c == '.' || c == '-';
      });
  if (!has_name || origin.port < 1 || origin.port > 65535) return std::nullopt;
  return origin;
}

// The destination of one response: the body if it is the object, else a page.
struct Arrival {
  EdgarBody& body;
  bool expects_data;
  bool has_content = false;  // a byte that is not white space arrived
  bool is_page = false;
  std::string page{};  // its beginning
  std::optional<Error> failure{};

  void keep(std::string_view piece) {
    page += piece.substr(0, kKeptBytesMax - std::min(page.size(), kKeptBytesMax));
  }

  Result<Done> take(const HttpReply& head, std::string_view piece) {
    if (head.status != kStatusOk || is_page) {
      keep(piece);
      return Done{};
    }
    std::size_t first = has_content ? 0 : piece.find_first_not_of(" \t\r\n");
    if (expects_data && !has_content && first != piece.npos && piece[first] == '<') {
      is_page = true;
      keep(piece);
      return Done{};
    }
    has_content = has_content || first != piece.npos;
    Result<Done> added = body.add(piece);
    if (!added.ok()) failure = added.error();
    return added;
  }
};

HttpCall call_of(const EdgarRequest& request, const std::string& user_agent) {
  HttpCall call;
  call.url = request.url;
  call.body_bytes_max = request.bytes_max;
  call.headers = {{"User-Agent", user_agent}};
  if (!request.etag.empty()) call.headers.push_back({"If-None-Match", request.etag});
  if (!request.last_modified.empty()) {
    call.headers.push_back({"If-Modified-Since", request.last_modified});
  }
  return call;
}

ResponseFault sending_fault(const Error& why, const EdgarRequest& request) {
  if (why.code == ErrorCode::exhausted) {
    return {error(ErrorCode::exhausted, "The response to the request for " + request.what +
                                            " has more than " + std::to_string(request.bytes_max) +
                                            " bytes, which is the limit.")};
  }
  ResponseFault fault{why, why.code == ErrorCode::unavailable};
  fault.error.message = "The request for " + request.what + " failed: " + why.message;
  return fault;
}

using Outcome = std::variant<EdgarReply, ResponseFault>;

Task<Outcome> sent_once(HttpAccess& http, EdgarRequest request, std::string user_agent,
                        EdgarBody& body, Clock& clock) {
  auto begun = body.begin();
  if (!begun.ok()) co_return Outcome(ResponseFault{begun.error()});
  Arrival arrival{body, request.is_data};
  HttpCall call = call_of(request, user_agent);
  call.on_piece = [&arrival](const HttpReply& head, std::string_view piece) {
    return arrival.take(head, piece);
  };
  Result<HttpReply> reply = co_await http.send(std::move(call));
  if (arrival.failure) co_return Outcome(ResponseFault{*arrival.failure});
  if (!reply.ok()) co_return Outcome(sending_fault(reply.error(), request));
  // An HttpAccess can return the body as a whole.
  if (!reply->body.empty()) arrival.take(*reply, reply->body).ok();
  if (arrival.failure) co_return Outcome(ResponseFault{*arrival.failure});
  bool has_copy = !request.etag.empty() || !request.last_modified.empty();
  EdgarReply result{reply->status == kNotModified, std::string(reply->header("ETag")),
                    std::string(reply->header("Last-Modified"))};
  if (reply->status == kNotModified && has_copy) co_return Outcome(std::move(result));
  if (reply->status != kStatusOk) {
    co_return Outcome(fault_of(*reply, arrival.page, request.what, clock.now()));
  }
  if (arrival.is_page) co_return Outcome(page_fault(arrival.page, request.what));
  co_return Outcome(std::move(result));
}

}  // namespace

Result<EgressPolicy> edgar_policy(const EdgarPlaces& places) {
  EgressPolicy policy;
  policy.https_only = true;
  policy.allowed_ports.clear();
  policy.timeout = kRequestTimeout;
  policy.body_bytes_max = kResponseBytesMax;
  for (const std::string& place : {places.files, places.data}) {
    std::optional<Origin> origin = origin_of(place);
    bool is_loopback = origin && origin->host == "127.0.0.1";
    if (!origin || (!origin->is_https && !is_loopback)) {
      return error(ErrorCode::invalid,
                   "The address of EDGAR must be https://HOST without a path; http:// only for "
                   "127.0.0.1.");
    }
    if (!origin->is_https) policy.https_only = false;
    policy.allowed_hosts.push_back(origin->host);
    policy.allowed_ports.push_back(origin->port);
    if (is_loopback) policy.allowed_networks.push_back(origin->host);
  }
  return policy;
}

Result<Done> check_user_agent(std::string_view text) {
  std::size_t at = text.find('@');
  std::size_t word = at == text.npos ? text.npos : text.rfind(' ', at);
  std::string_view address = text.substr(word == text.npos ? 0 : word + 1);
  address = address.substr(0, address.find(' '));
  std::size_t sign = address.find('@');
  bool has_address = sign != address.npos && sign > 0 && address.rfind('.') != address.npos &&
                     address.rfind('.') > sign + 1 && !address.ends_with('.');
  bool has_name = has_address && text.size() > address.size() + 1;
  bool is_readable =
      std::all_of(text.begin(), text.end(), [](char c) { return c >= ' ' && c <= '~'; });
  if (has_name && is_readable && text.size() <= kUserAgentBytesMax) return Done{};
  return error(
      ErrorCode::invalid,
      std::string(text.empty() ? "No User-Agent is declared."
                               : "The declared User-Agent has no name and mail address.") +
          " The SEC requires both, such as \"Sample Company admin@sample.org\", in at most "
          "200 characters of ASCII. Set BELAY_RESEARCH_EDGAR_USER_AGENT, or use "
          "--user-agent.");
}

Task<Done> EdgarClient::wait_for_turn() {
  if (requests_ > 0) co_await sleep_for(options_.interval);
  ++requests_;
  co_return Done{};
}

Task<Result<EdgarReply>> EdgarClient::get(EdgarRequest request, EdgarBody& body) {
  BELAY_CO_CHECK(check_user_agent(options_.user_agent));
  for (int failures = 1;; ++failures) {
    co_await wait_for_turn();
    Outcome outcome = co_await sent_once(*http_, request, options_.user_agent, body, clock_);
    if (auto* reply = std::get_if<EdgarReply>(&outcome)) co_return std::move(*reply);
    ResponseFault fault = std::get<ResponseFault>(std::move(outcome));
    std::optional<std::chrono::milliseconds> delay;
    if (fault.is_temporary) {
      delay = delay_before_attempt(options_.retry, failures, fault.error, random_.bits());
    }
    if (!delay) co_return std::move(fault.error);
    co_await sleep_for(*delay);
  }
}

}  // namespace belay::research
