#pragma once
// redis/address.h - the parsed URL of a Redis: redis://[USER:PASSWORD@]HOST[:PORT][/DB], or
// rediss:// with TLS.

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

  // Returns "redis://HOST:PORT/DB", without user and password.
  std::string shown() const;
};

// Fails with `invalid`; the message states the fault and never contains a password.
Result<Address> address_from(std::string_view url);

}  // namespace belay::redis
