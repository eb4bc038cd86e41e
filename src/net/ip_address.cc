#include "net/ip_address.h"

#include <arpa/inet.h>
#include <netinet/in.h>
#include <sys/socket.h>

#include <algorithm>
#include <charconv>
#include <cstring>
#include <vector>

#include "net/ascii.h"

namespace belay::net {
namespace {

constexpr int kMappedBits = 96;

bool is_hex_digit(char c) {
  return is_digit(c) || (c >= 'a' && c <= 'f') || (c >= 'A' && c <= 'F');
}

bool has_hex_prefix(std::string_view text) {
  return text.size() >= 2 && text[0] == '0' && (text[1] == 'x' || text[1] == 'X');
}

// Parses one number of an IPv4 address. "0x" is 0, as in the URL standard.
std::optional<std::uint32_t> parse_v4_number(std::string_view text) {
  if (text.empty()) return std::nullopt;
  int base = 10;
  if (has_hex_prefix(text)) {
    text.remove_prefix(2);
    base = 16;
  } else if (text.size() > 1 && text[0] == '0') {
    base = 8;
  }
  if (text.empty()) return 0;
  std::uint32_t number = 0;
  const char* end = text.data() + text.size();
  auto [read_to, fault] = std::from_chars(text.data(), end, number, base);
  if (fault != std::errc() || read_to != end) return std::nullopt;
  return number;
}

struct Range {
  const char* base;
  int bits;
};

// Not public: RFC 6890 and the IANA registries of special-purpose addresses.
constexpr Range kClosedV4[] = {
    {"0.0.0.0", 8},        // this network
    {"10.0.0.0", 8},       // private
    {"100.64.0.0", 10},    // shared by a provider's customers
    {"127.0.0.0", 8},      // loopback
    {"169.254.0.0", 16},   // link-local, with the metadata services of clouds
    {"172.16.0.0", 12},    // private
    {"192.0.0.0", 24},     // protocol assignments
    {"192.0.2.0", 24},     // documentation
    {"192.88.99.0", 24},   // relays of 6to4
    {"192.168.0.0", 16},   // private
    {"198.18.0.0", 15},    // benchmarks
    {"198.51.100.0", 24},  // documentation
    {"203.0.113.0", 24},   // documentation
    {"224.0.0.0", 4},      // multicast
    {"240.0.0.0", 4},      // reserved, with the broadcast address
};

// Outside of 2000::/3 nothing is public: not ::/96 with ::1, 64:ff9b::/96, 64:ff9b:1::/48 (NAT64),
// 100::/64, 5f00::/16, fc00::/7, fe80::/10, fec0::/10 and ff00::/8. Inside it these are not:
constexpr Range kPublicV6 = {"2000::", 3};
constexpr Range kClosedV6[] = {
    {"2001::", 23},      // protocol assignments, with Teredo (2001::/32)
    {"2001:db8::", 32},  // documentation
    {"2002::", 16},      // 6to4: embeds an IPv4 address
    {"3fff::", 20},      // documentation
};

IpNetwork network_of(const Range& range) {
  std::optional<IpAddress> v4 = parse_v4(range.base);
  if (v4) return {*v4, kMappedBits + range.bits};
  return {parse_v6(range.base).value_or(IpAddress()), range.bits};
}

template <typename Ranges>
bool is_in(const Ranges& ranges, const IpAddress& address) {
  return std::any_of(std::begin(ranges), std::end(ranges),
                     [&](const Range& range) { return network_of(range).contains(address); });
}

}  // namespace

bool IpAddress::is_v4() const {
  constexpr std::uint8_t prefix[] = {0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0xff, 0xff};
  return std::equal(std::begin(prefix), std::end(prefix), bytes.begin());
}

std::string IpAddress::text() const {
  char text[INET6_ADDRSTRLEN] = {};
  if (is_v4()) {
    inet_ntop(AF_INET, bytes.data() + 12, text, sizeof(text));
  } else {
    inet_ntop(AF_INET6, bytes.data(), text, sizeof(text));
  }
  return text;
}

bool IpNetwork::contains(const IpAddress& address) const {
  for (int bit = 0; bit < bits; bit += 8) {
    auto at = static_cast<std::size_t>(bit / 8);
    int used = std::min(8, bits - bit);
    auto mask = static_cast<std::uint8_t>(0xff00 >> used);
    if ((base.bytes[at] & mask) != (address.bytes[at] & mask)) return false;
  }
  return true;
}

IpAddress v4_address(std::uint32_t bits) {
  IpAddress address;
  address.bytes[10] = address.bytes[11] = 0xff;
  for (std::size_t i = 0; i < 4; ++i) {
    address.bytes[12 + i] = static_cast<std::uint8_t>(bits >> (24 - 8 * i));
  }
  return address;
}

std::optional<IpAddress> parse_v4(std::string_view text) {
  std::vector<std::uint32_t> numbers;
  while (true) {
    std::size_t dot = text.find('.');
    auto number = parse_v4_number(text.substr(0, dot));
    if (!number || numbers.size() == 4) return std::nullopt;
    numbers.push_back(*number);
    if (dot == text.npos) break;
    text.remove_prefix(dot + 1);
  }
  std::uint64_t bits = numbers.back();
  numbers.pop_back();
  // The last number fills the bytes that the others leave.
  if (bits >> (32 - 8 * numbers.size()) != 0) return std::nullopt;
  for (std::size_t i = 0; i < numbers.size(); ++i) {
    if (numbers[i] > 255) return std::nullopt;
    bits |= std::uint64_t{numbers[i]} << (24 - 8 * i);
  }
  return v4_address(static_cast<std::uint32_t>(bits));
}

std::optional<IpAddress> parse_v6(std::string_view text) {
  if (text.find(':') == text.npos || text.size() >= INET6_ADDRSTRLEN) return std::nullopt;
  IpAddress address;
  if (inet_pton(AF_INET6, std::string(text).c_str(), address.bytes.data()) != 1) {
    return std::nullopt;
  }
  return address;
}

bool ends_in_number(std::string_view host) {
  std::string_view last = host.substr(host.rfind('.') + 1);
  if (has_hex_prefix(last)) {
    return std::all_of(last.begin() + 2, last.end(), is_hex_digit);
  }
  return !last.empty() && std::all_of(last.begin(), last.end(), is_digit);
}

std::optional<IpNetwork> parse_network(std::string_view text) {
  std::size_t slash = text.find('/');
  std::string_view base = text.substr(0, slash);
  bool is_v4 = base.find(':') == base.npos;
  auto address = is_v4 ? parse_v4(base) : parse_v6(base);
  // Octal and shortened forms would permit another network than the one that was meant.
  if (!address || (is_v4 && address->text() != base)) return std::nullopt;
  int bits = is_v4 ? 32 : 128;
  if (slash != text.npos) {
    std::string_view length = text.substr(slash + 1);
    int bits_max = bits;
    const char* end = length.data() + length.size();
    auto [read_to, fault] = std::from_chars(length.data(), end, bits);
    if (fault != std::errc() || read_to != end || bits < 0 || bits > bits_max) return std::nullopt;
  }
  IpNetwork network{*address, is_v4 ? kMappedBits + bits : bits};
  for (int bit = network.bits; bit < 128; ++bit) {
    if (address->bytes[static_cast<std::size_t>(bit / 8)] & (0x80 >> bit % 8)) return std::nullopt;
  }
  return network;
}

std::optional<IpAddress> address_of(const sockaddr* address) {
  if (!address) return std::nullopt;
  if (address->sa_family == AF_INET) {
    sockaddr_in v4{};
    std::memcpy(&v4, address, sizeof(v4));
    return v4_address(ntohl(v4.sin_addr.s_addr));
  }
  if (address->sa_family != AF_INET6) return std::nullopt;
  sockaddr_in6 v6{};
  std::memcpy(&v6, address, sizeof(v6));
  IpAddress found;
  std::memcpy(found.bytes.data(), &v6.sin6_addr, found.bytes.size());
  return found;
}

bool is_public(const IpAddress& address) {
  if (address.is_v4()) return !is_in(kClosedV4, address);
  return network_of(kPublicV6).contains(address) && !is_in(kClosedV6, address);
}

}  // namespace belay::net
