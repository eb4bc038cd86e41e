#pragma once
// server/client_address.h - determines the client address for rate limits.

#include <string>
#include <vector>

#include "http/message.h"

namespace belay::server {

// Returns the address of a request: the peer of its connection, or, if that is one of `proxies`,
// the last address in X-Forwarded-For that is not a proxy, because each proxy appends its peer.
// Only the first 64 bits of an IPv6 address count: the client can choose the rest.
std::string client_address(const http::Request& request, const std::vector<std::string>& proxies);

// Returns the address in the form of peer addresses; empty if the text is not an address.
std::string address_from(std::string_view text);

}  // namespace belay::server
