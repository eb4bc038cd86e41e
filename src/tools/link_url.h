#pragma once
// tools/link_url.h - the absolute URLs of links in pages and in search results.

#include <optional>
#include <string>
#include <string_view>

#include "net/egress.h"

namespace belay::tools {

inline constexpr std::size_t link_bytes_max = 2'048;

// Returns the URL without white space around it, and with other characters percent-encoded if URLs
// must not contain them, as browsers do.
std::string encoded_url(std::string_view url);

// Resolves the text of a link. nullopt for a link within the page, one that is not of http or
// https, and one that is longer than link_bytes_max.
std::optional<net::Target> link_target(const net::Target& base, std::string_view link);

}  // namespace belay::tools
