#pragma once
// store/postgres/address.h - which PostgreSQL server, and how a store uses it: what its URL says.
//
//     postgresql://user:password@host:port/database?sslmode=require&schema=belay&pool=8
//
// All that libpq understands
// (https://www.postgresql.org/docs/15/libpq-connect.html#LIBPQ-CONNSTRING) and, of our own in the
// query: `schema` (default belay), `pool` (connections for reads, 1 to 100, default 8),
// `session_expiry` (milliseconds that a process may be silent before others take over its runs,
// default 15,000; a third of it between heartbeats), `patience` (milliseconds for which commits and
// reads wait for a server that is gone, default 30,000). Of several hosts the one is meant that
// takes writes (target_session_attrs=read-write), unless the URL says otherwise.

#include <chrono>
#include <string>
#include <utility>
#include <vector>

#include "belay/result.h"

namespace belay::postgres {

struct Address {
  std::vector<std::pair<std::string, std::string>> parameters;  // libpq's, by keyword
  std::string shown;  // "PostgreSQL at HOST:PORT/DATABASE": for messages, without the password
  std::string schema = "belay";
  std::size_t pool = 8;
  std::chrono::milliseconds session_expiry{15'000};
  std::chrono::milliseconds patience{30'000};
};

bool is_postgres_url(std::string_view text);

// `invalid` for a URL that can't be one, which is repeated in the message without its password.
Result<Address> address_from(const std::string& url);

}  // namespace belay::postgres
