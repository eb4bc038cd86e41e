#include "client/server_address.h"

#include <algorithm>
#include <cstdint>

#include "base/percent_encoding.h"

namespace belay::client {
namespace {

Error unfit(std::string_view why) {
  return error(ErrorCode::invalid,
               "The server's address " + std::string(why) +
                   ". Write http://HOST[:PORT], such as http://localhost:8123.");
}

bool is_loopback(std::string_view host) {
  return host == "localhost" || host == "[::1]" || host.starts_with("127.");
}

}  // namespace

Result<ServerAddress> server_address_from(std::string_view text) {
  std::size_t scheme = text.starts_with("http://") ? 7 : text.starts_with("https://") ? 8 : 0;
  if (scheme == 0) return unfit("does not begin with http:// or https://");
  bool is_visible =
      std::all_of(text.begin(), text.end(), [](char c) { return c > ' ' && c < 127; });
  if (!is_visible) return unfit("contains an invalid character");
  if (text.find_first_of("?#") != text.npos) return unfit("has more than a host and a path");
  std::size_t path = std::min(text.find('/', scheme), text.size());
  std::string_view place = text.substr(scheme, path - scheme);
  if (place.find('@') != place.npos) {
    return unfit("contains a name or a password; use --api-key-file instead");
  }
  std::size_t port = place.starts_with('[') ? place.find(']') : 0;
  if (port == place.npos) return unfit("has an incomplete host");
  port = std::min(place.find(':', port), place.size());
  std::string_view digits = place.substr(std::min(port + 1, place.size()));
  bool has_host = port > 0;
  bool fits = digits.size() <= 5 && digits.find_first_not_of("0123456789") == digits.npos &&
              (port == place.size() || !digits.empty());
  if (!has_host) return unfit("has no host");
  if (!fits) return unfit("has an invalid port");
  ServerAddress address;
  address.base = text;
  while (address.base.ends_with('/')) address.base.pop_back();
  address.is_local = is_loopback(place.substr(0, port));
  return address;
}

Target& Target::segment(std::string_view name) {
  text_ += "/" + percent_encoded(name);
  return *this;
}

Target& Target::query(std::string_view name, std::string_view value) {
  text_ += has_query_ ? '&' : '?';
  has_query_ = true;
  text_ += std::string(name) + "=" + percent_encoded(value);
  return *this;
}

Target& Target::query(std::string_view name, std::uint64_t number) {
  return query(name, std::string_view(std::to_string(number)));
}

}  // namespace belay::client
