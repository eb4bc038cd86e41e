#include "redis/address.h"

#include <charconv>
#include <optional>

namespace belay::redis {
namespace {

constexpr int port_max = 65'535;
constexpr int database_max = 9'999;

Error wrong(std::string_view what) {
  return error(ErrorCode::invalid,
               "Invalid Redis address: it " + std::string(what) +
                   ". Write redis://[USER:PASSWORD@]HOST[:PORT][/DB], or rediss:// for TLS.");
}

std::optional<int> number_from(std::string_view text, int most) {
  int number = 0;
  auto [end, failed] = std::from_chars(text.data(), text.data() + text.size(), number);
  if (failed != std::errc() || end != text.data() + text.size() || number < 0 || number > most) {
    return std::nullopt;
  }
  return number;
}

std::optional<int> hex_digit(char letter) {
  if (letter >= '0' && letter <= '9') return letter - '0';
  if (letter >= 'a' && letter <= 'f') return letter - 'a' + 10;
  if (letter >= 'A' && letter <= 'F') return letter - 'A' + 10;
  return std::nullopt;
}

// Replaces %XX by its byte; returns nullopt for an incomplete or invalid one.
std::optional<std::string> percent_decoded(std::string_view text) {
  std::string plain;
  for (std::size_t i = 0; i < text.size(); ++i) {
    if (text[i] != '%') {
      plain += text[i];
      continue;
    }
    if (text.size() - i < 3) return std::nullopt;
    auto high = hex_digit(text[i + 1]);
    auto low = hex_digit(text[i + 2]);
    if (!high || !low) return std::nullopt;
    plain += static_cast<char>(*high * 16 + *low);
    i += 2;
  }
  return plain;
}

Result<Done> read_login(std::string_view login, Address& address) {
  std::size_t colon = login.find(':');
  std::string_view user = colon == login.npos ? "" : login.substr(0, colon);
  std::string_view password = colon == login.npos ? login : login.substr(colon + 1);
  auto plain_user = percent_decoded(user);
  auto plain_password = percent_decoded(password);
  if (!plain_user || !plain_password) return wrong("has an invalid % escape in its login");
  address.user = *std::move(plain_user);
  address.password = *std::move(plain_password);
  return Done{};
}

Result<Done> read_host(std::string_view text, Address& address) {
  std::size_t past_host = text.find(':');
  if (text.starts_with('[')) {
    std::size_t closed = text.find(']');
    if (closed == text.npos) return wrong("has a [ without a ]");
    address.host = text.substr(1, closed - 1);
    past_host = closed + 1;
  } else {
    address.host = text.substr(0, past_host);
  }
  if (address.host.empty()) return wrong("has no host");
  if (past_host >= text.size()) return Done{};
  auto port = number_from(text.substr(past_host + 1), port_max);
  if (text[past_host] != ':' || !port || *port == 0) return wrong("has no port from 1 to 65535");
  address.port = *port;
  return Done{};
}

}  // namespace

std::string Address::shown() const {
  std::string name = host.find(':') == host.npos ? host : "[" + host + "]";
  return (is_tls ? "rediss://" : "redis://") + name + ":" + std::to_string(port) + "/" +
         std::to_string(database);
}

Result<Address> address_from(std::string_view url) {
  constexpr std::string_view plain = "redis://";
  constexpr std::string_view tls = "rediss://";
  Address address;
  address.is_tls = url.starts_with(tls);
  if (!address.is_tls && !url.starts_with(plain)) return wrong("does not begin with redis://");
  url.remove_prefix(address.is_tls ? tls.size() : plain.size());
  if (url.find_first_of("?#") != url.npos) return wrong("contains a ? or #");
  if (std::size_t at = url.rfind('@'); at != url.npos) {
    BELAY_CHECK(read_login(url.substr(0, at), address));
    url.remove_prefix(at + 1);
  }
  std::size_t slash = url.find('/');
  if (slash != url.npos && slash + 1 < url.size()) {
    auto database = number_from(url.substr(slash + 1), database_max);
    if (!database) return wrong("has no database number after its /");
    address.database = *database;
  }
  BELAY_CHECK(read_host(url.substr(0, slash), address));
  return address;
}

}  // namespace belay::redis
