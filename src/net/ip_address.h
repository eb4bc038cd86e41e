#pragma once
// net/ip_address.h - IpAddress: IPv4 and IPv6 addresses as 16 bytes, their texts and networks.
//
// Threading: pure functions.

#include <array>
#include <compare>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

struct sockaddr;

namespace belay::net {

// An IPv4 address is stored as ::ffff:a.b.c.d: both spellings are equal.
struct IpAddress {
  std::array<std::uint8_t, 16> bytes{};
  friend auto operator<=>(const IpAddress&, const IpAddress&) = default;

  bool is_v4() const;
  // "192.0.2.1", "2001:db8::1".
  std::string text() const;
};

struct IpNetwork {
  IpAddress base;
  int bits = 128;  // of the 16 bytes

  bool contains(const IpAddress& address) const;
};

IpAddress v4_address(std::uint32_t bits);

// Parses an IPv4 address in each form that inet_aton() accepts: one to four numbers, each decimal,
// octal (0177) or hexadecimal (0x7f), of which the last one fills the remaining bytes.
std::optional<IpAddress> parse_v4(std::string_view text);
// Parses an IPv6 address without brackets and zone.
std::optional<IpAddress> parse_v6(std::string_view text);
// Returns whether the last label of a host is a number: such a host is an IPv4 address or invalid.
bool ends_in_number(std::string_view host);

// Parses "10.0.0.0/8", "fd00::/8" or one address, in the usual spelling only. nullopt also if bits
// are set beyond the length.
std::optional<IpNetwork> parse_network(std::string_view text);

// nullopt for other families.
std::optional<IpAddress> address_of(const sockaddr* address);

// Returns whether the address belongs to the public Internet: see docs/egress.md.
bool is_public(const IpAddress& address);

}  // namespace belay::net
