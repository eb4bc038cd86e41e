#include "server/client_address.h"

#include <arpa/inet.h>

#include <algorithm>
#include <array>

#include "base/trimmed.h"

namespace belay::server {
namespace {

constexpr std::size_t kNetworkBytes = 8;

bool is_one_of(const std::vector<std::string>& addresses, const std::string& address) {
  return std::find(addresses.begin(), addresses.end(), address) != addresses.end();
}

// Returns the network "2001:db8::/64" for "2001:db8::1"; any other address unchanged.
std::string limited_as(const std::string& address) {
  in6_addr v6{};
  if (inet_pton(AF_INET6, address.c_str(), &v6) != 1) return address;
  std::fill(std::begin(v6.s6_addr) + kNetworkBytes, std::end(v6.s6_addr), 0);
  std::array<char, INET6_ADDRSTRLEN> text{};
  return std::string(inet_ntop(AF_INET6, &v6, text.data(), text.size())) + "/64";
}

}  // namespace

std::string address_from(std::string_view text) {
  std::string one(trimmed(text));
  if (one.starts_with('[') && one.ends_with(']')) one = one.substr(1, one.size() - 2);
  in_addr v4{};
  if (inet_pton(AF_INET, one.c_str(), &v4) == 1) {
    std::array<char, INET_ADDRSTRLEN> made{};
    return inet_ntop(AF_INET, &v4, made.data(), made.size());
  }
  in6_addr v6{};
  if (inet_pton(AF_INET6, one.c_str(), &v6) != 1) return {};
  if (IN6_IS_ADDR_V4MAPPED(&v6)) {
    std::array<char, INET_ADDRSTRLEN> made{};
    return inet_ntop(AF_INET, v6.s6_addr + 12, made.data(), made.size());
  }
  std::array<char, INET6_ADDRSTRLEN> made{};
  return inet_ntop(AF_INET6, &v6, made.data(), made.size());
}

std::string client_address(const http::Request& request, const std::vector<std::string>& proxies) {
  std::string address = request.peer;
  if (!is_one_of(proxies, address)) return limited_as(address);
  // Several headers with this name form one list, in their order.
  std::string list;
  for (const http::Header& header : request.headers) {
    if (http::find_header({header}, "X-Forwarded-For")) list += "," + header.value;
  }
  std::string_view rest = list;
  while (is_one_of(proxies, address) && !rest.empty()) {
    std::size_t comma = rest.rfind(',');
    std::string before = address_from(rest.substr(comma + 1));
    // An invalid address ends the list: it and all addresses before it are ignored.
    if (before.empty()) break;
    address = std::move(before);
    rest = rest.substr(0, comma);
  }
  return limited_as(address);
}

}  // namespace belay::server
