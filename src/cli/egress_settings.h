#pragma once
// cli/egress_settings.h - the settings of the EgressPolicy for nodes and tools.

#include <string>

#include "belay/http.h"
#include "cli/settings.h"

namespace belay::cli {

// Reads BELAY_EGRESS_HOSTS, BELAY_EGRESS_NETWORKS and BELAY_EGRESS_PORTS. Fails with `invalid`,
// with the origin of the setting, for a policy that cannot be used.
Result<EgressPolicy> egress_from(const Environment& environment);

// The hosts of the policy as the setting has them.
std::string egress_hosts_text(const EgressPolicy& policy);
std::string egress_networks_text(const EgressPolicy& policy);
std::string egress_ports_text(const EgressPolicy& policy);

}  // namespace belay::cli
