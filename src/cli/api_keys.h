#pragma once
// cli/api_keys.h - parses the keys of a server's callers and their permissions, one key a line:
// "NAME PERMISSION TOKEN [ROLES]".

#include <optional>

#include "server/api.h"

namespace belay::cli {

// Empty lines, and those that begin with '#', do not count. PERMISSION is read, run, decide or
// administer, and each has those before it. A token has 16 to 200 letters, digits, '.', '_', '-',
// '~', '+', '/' or '=' (RFC 6750); only its hash is kept. ROLES, comma-separated, are the caller's
// roles for deciding approvals. `invalid` names the line and never shows a token.
Result<std::vector<server::ApiKey>> api_keys_in(std::string_view text);

// The keys of the file with that name, none where none is named. `invalid` besides for an address
// that others can reach, without keys.
Result<std::vector<server::ApiKey>> api_keys_for(const std::optional<std::string>& file,
                                                 const std::string& address);

}  // namespace belay::cli
