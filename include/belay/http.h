#pragma once
// belay/http.h - HttpAccess: HTTP requests of nodes and tools, under an EgressPolicy.
//
//     auto fetch = [&]() -> Task<Result<std::string>> {
//       HttpCall call{.url = "https://api.example.com/rates"};
//       BELAY_CO_TRY(HttpReply reply, co_await context.http().send(std::move(call)));
//       co_return std::move(reply.body);
//     };
//     std::string rates = co_await context.keyed_effect("rates", fetch);
//
// A policy decides on the scheme, the host name and the port of a URL, and on each address to which
// a connection is opened, after the name was resolved. Without entries in `allowed_networks`, only
// addresses of the public Internet are permitted: no loopback, private, link-local, shared,
// reserved or multicast address, no address of this machine, and no IPv6 address that embeds an
// IPv4 address, except ::ffff:0:0/96, which is treated as that IPv4 address. Names of internal
// networks are refused before they are resolved: names without a dot, "metadata.*", and the
// suffixes .localhost, .local, .internal, .localdomain, .lan, .intranet, .corp, .home, .private,
// .home.arpa. docs/egress.md lists all of them.
//
// Proxies of the environment are not used.
//
// Context::http() is the access of a node (RuntimeParts::http, OpenOptions::http). A replay
// performs no requests: it returns the recorded results of effects, and a request outside of an
// effect fails there with `not_found`.
//
// Threading: any thread and any executor; the awaiting one resumes. Destroying the Task closes its
// connection. A Task can outlive the HttpAccess.
//
// Errors of send():
//   invalid      the call is malformed, or the response has a content type that is not permitted
//   forbidden    the policy does not permit the URL, a redirect's URL, or an address of its host.
//                One text for all reasons, which does not reveal how a name was resolved
//   exhausted    the response exceeds a limit, or there were more redirects than permitted
//   unavailable  no connection, a timeout, a response that is cut off
// Messages name the host, never a path, a query, a header or a body.

#include <chrono>
#include <cstddef>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "belay/task.h"

namespace belay {

struct HttpHeader {
  std::string name;
  std::string value;
};

// The permitted destinations, and the limits of each call. Plain data: see open_http().
struct EgressPolicy {
  bool https_only = false;                  // true: refuses http://
  std::vector<int> allowed_ports{80, 443};  // empty: every port
  // Exact names ("api.example.com"), IP addresses, or "*.example.com" for all names below
  // example.com; "*": every host that is permitted without a list. Empty: "*". An exact entry also
  // permits the name of an internal network, such as "wiki.internal".
  std::vector<std::string> allowed_hosts{};
  // Networks that are permitted although they are not public: "10.1.0.0/16", "127.0.0.1/32",
  // "fd00::/8". An address without a length is one address.
  std::vector<std::string> allowed_networks{};
  // Maximum number of redirects that are followed, 0 to 5. 0: a redirect is a reply like any other.
  // Each one is checked like the first URL; https never continues with http. Across origins only
  // the headers Accept, Accept-Language and User-Agent are kept, and the request becomes a GET
  // without a body.
  int redirects_max = 0;
  std::chrono::milliseconds connect_timeout{10'000};  // with the resolution of the name, and TLS
  std::chrono::milliseconds timeout{30'000};          // of the whole call, with its redirects
  std::size_t body_bytes_max = 5u << 20;              // of a response, after decompression
  // Media types of responses with a body: "application/json", "text/*". Empty: every type.
  std::vector<std::string> content_types{};
  // A PEM file of certificates to trust instead of the system's; empty: the system's.
  std::string trusted_certificates{};
};

struct HttpReply;

struct HttpCall {
  std::string method = "GET";  // GET, HEAD, POST, PUT, PATCH, DELETE or OPTIONS
  std::string url;             // http or https, without user and password, in ASCII
  // Without Host, Connection, Content-Length and others that describe the transfer.
  std::vector<HttpHeader> headers{};
  std::string body{};
  // Lower limits than those of the policy; a higher value has no effect.
  std::optional<std::chrono::milliseconds> timeout{};
  std::optional<std::size_t> body_bytes_max{};
  // Receives an empty piece with the head, then the body as it arrives, instead of HttpReply::body.
  // An Error that it returns ends the call. An own HttpAccess can return the whole body instead.
  std::function<Result<Done>(const HttpReply& head, std::string_view piece)> on_piece = nullptr;
};

// A response with any status.
struct HttpReply {
  int status = 0;
  std::vector<HttpHeader> headers{};
  std::string body{};  // decompressed
  std::string url{};   // of this response, after redirects

  // Returns the first header with the name, ignoring case; otherwise "".
  std::string_view header(std::string_view name) const;
};

// Performs calls. Tests can pass their own implementation as RuntimeParts::http.
class HttpAccess {
 public:
  virtual ~HttpAccess() = default;

  // Sends the request, and waits for the whole response. Sends once: retries belong to the caller.
  virtual Task<Result<HttpReply>> send(HttpCall call) = 0;

  // Returns an access that permits only those of `hosts` (as EgressPolicy::allowed_hosts; here,
  // empty permits none) that this one permits too. Shares its connections. Fails with `invalid` if
  // an entry is malformed.
  virtual Result<std::shared_ptr<HttpAccess>> narrowed(std::vector<std::string> hosts) = 0;
};

// Opens nothing before the first call. Fails with `invalid` if the policy is malformed.
Result<std::shared_ptr<HttpAccess>> open_http(EgressPolicy policy = {});

}  // namespace belay
