#pragma once
// store/postgres/schema.h - from a database to one that holds Belay's current schema.
//
// Two versions of Belay may use a schema at the same time, while its workers are replaced one after
// the other: a migration says with a line "-- compatible from: N" that a Belay that knows no more
// than version N may go on using what it made. Without that line, an older one is refused.

#include <chrono>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "store/postgres/connection.h"

namespace belay::postgres {

// All that the schema has, without the schema's name.
std::span<const std::string_view> table_names();

// For how long a migration waits for a lock that others hold, and how often it tries to come by
// all. Whoever wants to write a table that it waits for has to wait behind it.
struct MigrationLocks {
  std::chrono::milliseconds patience{2'000};
  int tries = 15;
};
// Checks the server, creates the schema or brings it up to date. Writes nothing and takes no lock
// where it is current. Refuses what is not ours, or too new for us, and leaves it as it was.
Result<Done> prepare_schema(Connection& connection, const Address& address,
                            const MigrationLocks& locks = {});

struct SchemaState {
  bool exists = false;
  std::size_t version = 0;
  std::size_t known = 0;  // what this Belay brings it to
};
// Looks, and writes nothing. What prepare_schema() would refuse is refused in its words, missing
// rights on what there is too.
Result<SchemaState> examine_schema(Connection& connection, const Address& address);

// Of the server's settings without which a commit may be lost, those that are off: "fsync",
// "full_page_writes", "synchronous_commit".
Result<std::vector<std::string>> durability_of(Connection& connection);

}  // namespace belay::postgres
