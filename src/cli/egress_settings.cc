#include "cli/egress_settings.h"

#include "base/trimmed.h"
#include "cli/arguments.h"
#include "net/egress.h"

namespace belay::cli {
namespace {

// No host has this name: RFC 6761 reserves its domain.
constexpr std::string_view kNoHost = "none.invalid";
constexpr std::string_view kNone = "none";
constexpr std::string_view kAny = "any";
constexpr std::int64_t kPortMax = 65'535;

// Splits "a, b" into its entries; empty ones are left out.
std::vector<std::string> list_in(std::string_view text) {
  std::vector<std::string> entries;
  while (!text.empty()) {
    std::size_t end = std::min(text.find(','), text.size());
    std::string_view entry = trimmed(text.substr(0, end));
    if (!entry.empty()) entries.emplace_back(entry);
    text.remove_prefix(std::min(end + 1, text.size()));
  }
  return entries;
}

std::string entries_text(const std::vector<std::string>& entries) {
  std::string text;
  for (const std::string& entry : entries) text += (text.empty() ? "" : ", ") + entry;
  return text;
}

// Names the setting of a policy that cannot be used.
Result<Done> check_policy(const EgressPolicy& policy, const std::string& origin) {
  auto egress = net::Egress::from(policy);
  if (egress.ok()) return Done{};
  return error(ErrorCode::invalid, origin + " is invalid: " + egress.error().message);
}

}  // namespace

Result<EgressPolicy> egress_from(const Environment& environment) {
  EgressPolicy policy;
  if (environment.egress_hosts) {
    bool is_none = trimmed(*environment.egress_hosts) == kNone;
    policy.allowed_hosts = list_in(is_none ? kNoHost : *environment.egress_hosts);
    BELAY_CHECK(check_policy(policy, environment.origin("BELAY_EGRESS_HOSTS")));
  }
  if (environment.egress_networks) {
    policy.allowed_networks = list_in(*environment.egress_networks);
    BELAY_CHECK(check_policy(policy, environment.origin("BELAY_EGRESS_NETWORKS")));
  }
  if (environment.egress_ports) {
    policy.allowed_ports.clear();
    bool is_any = trimmed(*environment.egress_ports) == kAny;
    for (const std::string& entry :
         is_any ? std::vector<std::string>() : list_in(*environment.egress_ports)) {
      BELAY_TRY(std::int64_t port,
                whole_number(environment.origin("BELAY_EGRESS_PORTS"), entry, 1, kPortMax));
      policy.allowed_ports.push_back(static_cast<int>(port));
    }
    // An empty list would permit every port.
    if (policy.allowed_ports.empty() && !is_any) {
      return error(ErrorCode::invalid, environment.origin("BELAY_EGRESS_PORTS") +
                                           " is invalid: expected ports, or \"any\".");
    }
  }
  return policy;
}

std::string egress_hosts_text(const EgressPolicy& policy) {
  std::string text = entries_text(policy.allowed_hosts);
  return text == kNoHost ? std::string(kNone) : text;
}

std::string egress_networks_text(const EgressPolicy& policy) {
  return entries_text(policy.allowed_networks);
}

std::string egress_ports_text(const EgressPolicy& policy) {
  if (policy.allowed_ports.empty()) return std::string(kAny);
  std::vector<std::string> ports;
  for (int port : policy.allowed_ports) ports.push_back(std::to_string(port));
  return entries_text(ports);
}

}  // namespace belay::cli
