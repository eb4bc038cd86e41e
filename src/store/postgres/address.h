#pragma once
// store/postgres/address.h - the parsed URL of a PostgreSQL store.
//
//     postgresql://user:password@host:port/database?sslmode=require&schema=belay&pool=8
//
// All options of libpq (https://www.postgresql.org/docs/15/libpq-connect.html#LIBPQ-CONNSTRING)
// and, in the query, five of Belay: `schema` (default belay); `pool` (connections for reads, 1 to
// 100, default 8); `session_expiry` (the lease of a session in milliseconds, default 15,000; a
// heartbeat after each third of it); `patience` (milliseconds for which commits and reads are
// retried while the server is unavailable, default 30,000); `pooler` (yes, no, or detect, the
// default: whether a pooler can assign another session of the server to each transaction). If there
// are several hosts, Belay uses the one that accepts writes (target_session_attrs=read-write),
// unless the URL sets another value.

#include <chrono>
#include <string>
#include <utility>
#include <vector>

#include "belay/result.h"

namespace belay::postgres {

enum class Pooler { detect, yes, no };

struct Address {
  std::vector<std::pair<std::string, std::string>> parameters;  // libpq's, by keyword
  std::string shown;  // for messages, without the password: "PostgreSQL at HOST:PORT/DATABASE"
  std::string schema = "belay";
  std::size_t pool = 8;
  std::chrono::milliseconds session_expiry{15'000};
  std::chrono::milliseconds patience{30'000};
  Pooler pooler = Pooler::detect;
};

bool is_postgres_url(std::string_view text);

// Fails with `invalid` if the URL is not valid. The message does not contain its password.
Result<Address> address_from(const std::string& url);

}  // namespace belay::postgres
