#pragma once
// net/egress.h - Egress: the decisions of an EgressPolicy about URLs and addresses.
//
// parse_target() parses a URL; the exchange uses the parsed Target, never the text. Egress::check()
// decides on its scheme, name and port, Egress::permits() on each address of a connection.
//
// Threading: constant after creation; any thread.

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "belay/http.h"
#include "net/ip_address.h"

namespace belay::net {

// A valid URL in one canonical form.
struct Target {
  bool is_https = false;
  std::string host;  // a lower-case name, or the usual spelling of `address`, without brackets
  std::optional<IpAddress> address;  // set if the host is an address
  int port = 0;
  std::string path;  // with its query, without a fragment; begins with "/"

  // "https://example.com:8443", without a default port.
  std::string origin() const;
  std::string url() const { return origin() + path; }
};

// Fails with `invalid`, without repeating the URL. Accepts printable ASCII only: a Unicode host, in
// which full-width digits and dots are equal to those of ASCII, must be written as "xn--...".
Result<Target> parse_target(std::string_view url);

// Resolves the Location of a redirect. Fails as parse_target().
Result<Target> parse_redirect(const Target& from, std::string_view location);

// One entry list of EgressPolicy::allowed_hosts.
class HostList {
 public:
  static Result<HostList> from(const std::vector<std::string>& entries);

  // `names`: an exact entry. `covers`: any entry.
  bool names(std::string_view host) const;
  bool covers(std::string_view host) const;

 private:
  bool has_all_ = false;
  std::vector<std::string> exact_;
  std::vector<std::string> suffixes_;  // with their first dot
};

class Egress {
 public:
  // Fails with `invalid` if the policy is malformed.
  static Result<Egress> from(EgressPolicy policy);

  const EgressPolicy& policy() const { return policy_; }

  // Fails with refusal(). Does not resolve a name: its addresses are checked with permits().
  Result<Done> check(const Target& target) const;
  // `own`: the addresses of this machine.
  bool permits(const IpAddress& address, const std::vector<IpAddress>& own) const;

 private:
  EgressPolicy policy_;
  HostList hosts_;
  std::vector<IpNetwork> networks_;
};

// The error for each URL and address that a policy does not permit.
Error refusal(std::string_view host);

// Returns the addresses of this machine's network interfaces, as they are now.
std::vector<IpAddress> own_addresses();

}  // namespace belay::net
