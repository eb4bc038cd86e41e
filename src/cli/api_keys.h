#pragma once
// cli/api_keys.h - parses the API keys of a server, one per line: "NAME PERMISSION TOKEN [ROLES]".

#include <optional>

#include "server/api.h"

namespace belay::cli {

// Ignores empty lines and lines that start with '#'. PERMISSION is read, run, decide or administer;
// each one includes those before it. A token has 16 to 200 letters, digits, '.', '_', '-', '~',
// '+', '/' or '=' (RFC 6750); only its hash is kept. ROLES are comma-separated: the roles with
// which the caller decides approvals. Fails with `invalid`; the message names the line and never
// contains a token.
Result<std::vector<server::ApiKey>> api_keys_in(std::string_view text);

// Returns the keys of the file; none if `file` is unset. Also fails with `invalid` if there are no
// keys and `address` is reachable from other machines.
Result<std::vector<server::ApiKey>> api_keys_for(const std::optional<std::string>& file,
                                                 const std::string& address);

}  // namespace belay::cli
