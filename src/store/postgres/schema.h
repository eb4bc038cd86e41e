#pragma once
// store/postgres/schema.h - creates, checks and migrates Belay's schema in a database.
//
// Two versions of Belay can use a schema at the same time, while workers are replaced one after the
// other: a migration states with a line "-- compatible from: N" that a Belay that knows version N
// or later can use the schema that it creates. Without this line, older versions are rejected.

#include <chrono>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "store/postgres/connection.h"

namespace belay::postgres {

// The names of all tables, without the schema's name.
std::span<const std::string_view> table_names();

// The time for which a migration waits for a lock, and how often it tries to get all of its locks.
// While it waits for a table, other processes that write to the table wait behind it.
struct MigrationLocks {
  std::chrono::milliseconds patience{2'000};
  int tries = 15;
};
// Checks the server and creates or migrates the schema. Writes nothing and takes no lock if the
// schema is current. Fails, and changes nothing, if it belongs to another program or is too new.
Result<Done> prepare_schema(Connection& connection, const Address& address,
                            const MigrationLocks& locks = {});

struct SchemaState {
  bool exists = false;
  std::size_t version = 0;
  std::size_t known = 0;  // the version to which this Belay migrates
};
// Reads the state of the schema and writes nothing. Fails as prepare_schema() would, also if the
// user lacks privileges.
Result<SchemaState> examine_schema(Connection& connection, const Address& address);

// Returns the settings that are off although commits can be lost without them: "fsync",
// "full_page_writes", "synchronous_commit".
Result<std::vector<std::string>> durability_of(Connection& connection);

}  // namespace belay::postgres
