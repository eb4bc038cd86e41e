#pragma once
// server/client_address.h - the address that a request is limited by.

#include <string>
#include <vector>

#include "http/message.h"

namespace belay::server {

// Where a request comes from: the peer of its connection, or, where that is one of `proxies`, the
// last address of X-Forwarded-For that is none of them, since each proxy adds the one before it.
// Of an IPv6 address the first 64 bits: the rest is the client's to choose.
std::string client_address(const http::Request& request, const std::vector<std::string>& proxies);

// The address in the form that peers have; empty for a text that is none.
std::string address_from(std::string_view text);

}  // namespace belay::server
