#pragma once
// redis/address.h - where a Redis is: redis://[USER:PASSWORD@]HOST[:PORT][/DB], or rediss:// with
// TLS.

#include <string>
#include <string_view>

#include "belay/result.h"

namespace belay::redis {

struct Address {
  std::string host;
  int port = 6379;
  int database = 0;
  std::string user;      // empty: Redis's default user
  std::string password;  // never shown
  bool is_tls = false;   // rediss://

  // "redis://HOST:PORT/DB", without who we are.
  std::string shown() const;
};

// `invalid` says what is wrong and never shows a password.
Result<Address> address_from(std::string_view url);

}  // namespace belay::redis
