#include "net/egress.h"

#include <ifaddrs.h>

#include <algorithm>
#include <charconv>
#include <memory>

#include "base/in_quotes.h"
#include "net/ascii.h"

namespace belay::net {
namespace {

constexpr int kRedirectsMax = 5;
constexpr int kPortMax = 65'535;

// Names that only an internal network resolves, or that it resolves differently.
constexpr std::string_view kInternalSuffixes[] = {
    ".localhost", ".local", ".internal", ".localdomain", ".lan",
    ".intranet",  ".corp",  ".home",     ".private",     ".home.arpa"};
// The metadata services of clouds.
constexpr std::string_view kMetadataLabel = "metadata.";

bool is_internal(std::string_view host) {
  if (host.find('.') == host.npos || host.starts_with(kMetadataLabel)) return true;
  return std::any_of(std::begin(kInternalSuffixes), std::end(kInternalSuffixes),
                     [&](std::string_view suffix) { return host.ends_with(suffix); });
}

Error malformed_entry(std::string_view member, std::string_view entry, std::string_view expected) {
  return error(ErrorCode::invalid, "The entry " + in_quotes(entry) +
                                       " of EgressPolicy::" + std::string(member) +
                                       " is not valid: expected " + std::string(expected) + ".");
}

}  // namespace

Result<HostList> HostList::from(const std::vector<std::string>& entries) {
  HostList list;
  for (const std::string& entry : entries) {
    if (entry == "*") {
      list.has_all_ = true;
      continue;
    }
    bool is_suffix = entry.starts_with("*.");
    std::string_view name = std::string_view(entry).substr(is_suffix ? 2 : 0);
    bool is_v6 = name.find(':') != name.npos;
    std::string url = "http://" + (is_v6 ? "[" + std::string(name) + "]" : std::string(name)) + "/";
    auto target = parse_target(url);
    // The comparison refuses a port, a path and other spellings of a name or an address.
    bool is_host = target.ok() && target->host == name && !(is_suffix && target->address);
    if (!is_host) {
      return malformed_entry("allowed_hosts", entry,
                             "a lower-case name in ASCII, an address, \"*.SUFFIX\" or \"*\"");
    }
    if (is_suffix) {
      list.suffixes_.push_back("." + target->host);
    } else {
      list.exact_.push_back(target->host);
    }
  }
  return list;
}

bool HostList::names(std::string_view host) const { return has(exact_, host); }

bool HostList::covers(std::string_view host) const {
  return has_all_ || names(host) ||
         std::any_of(suffixes_.begin(), suffixes_.end(),
                     [&](const std::string& suffix) { return host.ends_with(suffix); });
}

Result<Egress> Egress::from(EgressPolicy policy) {
  Egress egress;
  if (policy.redirects_max < 0 || policy.redirects_max > kRedirectsMax) {
    return error(ErrorCode::invalid,
                 "EgressPolicy::redirects_max must be between 0 and 5. Correct it.");
  }
  for (int port : policy.allowed_ports) {
    if (port >= 1 && port <= kPortMax) continue;
    return malformed_entry("allowed_ports", std::to_string(port), "a port from 1 to 65535");
  }
  if (policy.timeout.count() <= 0 || policy.connect_timeout.count() <= 0) {
    return error(ErrorCode::invalid,
                 "The timeouts of an EgressPolicy must be more than 0 ms. Correct them.");
  }
  for (const std::string& type : policy.content_types) {
    std::size_t slash = type.find('/');
    bool is_type = slash != 0 && slash != type.npos && slash + 1 < type.size() &&
                   type.find_first_of(" ;,") == type.npos && type.find('/', slash + 1) == type.npos;
    if (is_type) continue;
    return malformed_entry("content_types", type, "a media type such as text/plain or text/*");
  }
  BELAY_TRY(egress.hosts_, HostList::from(policy.allowed_hosts));
  if (policy.allowed_hosts.empty()) {
    BELAY_TRY(egress.hosts_, HostList::from({"*"}));
  }
  for (const std::string& entry : policy.allowed_networks) {
    auto network = parse_network(entry);
    if (!network) {
      return malformed_entry("allowed_networks", entry,
                             "an address or a network such as 10.1.0.0/16, without bits beyond "
                             "its length");
    }
    egress.networks_.push_back(*network);
  }
  egress.policy_ = std::move(policy);
  return egress;
}

Result<Done> Egress::check(const Target& target) const {
  bool has_port = policy_.allowed_ports.empty() || has(policy_.allowed_ports, target.port);
  bool is_closed = !target.address && is_internal(target.host) && !hosts_.names(target.host);
  if ((policy_.https_only && !target.is_https) || !has_port || is_closed ||
      !hosts_.covers(target.host)) {
    return refusal(target.host);
  }
  if (target.address && !permits(*target.address, {})) return refusal(target.host);
  return Done{};
}

bool Egress::permits(const IpAddress& address, const std::vector<IpAddress>& own) const {
  bool is_allowed = std::any_of(networks_.begin(), networks_.end(), [&](const IpNetwork& network) {
    return network.contains(address);
  });
  return is_allowed || (is_public(address) && !has(own, address));
}

Error refusal(std::string_view host) {
  return error(ErrorCode::forbidden,
               "The egress policy does not permit a request to " + in_quotes(host) +
                   ". Use a public address, or extend the allowed hosts, networks or ports of the "
                   "EgressPolicy.");
}

std::vector<IpAddress> own_addresses() {
  struct Free {
    void operator()(ifaddrs* list) const { freeifaddrs(list); }
  };
  ifaddrs* first = nullptr;
  if (getifaddrs(&first) != 0) return {};
  std::unique_ptr<ifaddrs, Free> list(first);
  std::vector<IpAddress> found;
  for (const ifaddrs* each = list.get(); each; each = each->ifa_next) {
    if (auto address = address_of(each->ifa_addr)) found.push_back(*address);
  }
  return found;
}

}  // namespace belay::net
