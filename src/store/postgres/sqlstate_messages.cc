#include "store/postgres/sqlstate_messages.h"

#include <algorithm>
#include <array>

#include "store/postgres/connection.h"

namespace belay::postgres {
namespace {

struct Meaning {
  // Of an SQLSTATE: https://www.postgresql.org/docs/15/errcodes-appendix.html
  std::string_view prefix;
  ErrorCode code;
  std::string_view remedy;
};

// An object exists that a migration is about to create.
constexpr std::string_view of_others =
    "the schema contains unexpected objects: restore it from a backup, or choose another with "
    "schema= in the store's URL";

// None of several hosts accepts writes.
constexpr std::string_view where_writes_are_taken =
    "promote one of the hosts in the store's URL, or name the primary there; "
    "target_session_attrs=read-write selects it";

// An object is missing that an earlier migration created.
constexpr std::string_view of_none =
    "the schema lacks objects of Belay: restore it from a backup, or choose another with schema= "
    "in the store's URL";

// The first matching prefix applies.
constexpr std::array<Meaning, 28> meanings{{
    {"53100", ErrorCode::unavailable, "make room on the server's disk"},
    {"53300", ErrorCode::unavailable,
     "raise the server's max_connections, or set a smaller pool= in the store's URL"},
    {"53", ErrorCode::unavailable, "give the server more resources"},
    {"57P03", ErrorCode::unavailable, "wait until the server has started"},
    {"57P", ErrorCode::unavailable, "wait until the server has restarted"},
    {"57014", ErrorCode::unavailable, "check statement_timeout, and try again"},
    {"55P03", ErrorCode::unavailable, "find the owner of the lock, and try again"},
    {"55000", ErrorCode::unavailable, "check the server's log, and try again"},
    {"08", ErrorCode::unavailable, "check the server and the network"},
    {"40", ErrorCode::unavailable, "try again"},
    {state_of_read_only, ErrorCode::unavailable,
     "it is a standby, or set to read only: name the primary in the store's URL, or all of its "
     "hosts and target_session_attrs=read-write"},
    {"28", ErrorCode::unavailable, "check the user and password in the store's URL"},
    {"3D", ErrorCode::unavailable, "create the database, or correct its name in the store's URL"},
    {"42501", ErrorCode::unavailable,
     "as the owner of the tables, GRANT SELECT, INSERT, UPDATE, DELETE ON ALL TABLES IN SCHEMA to "
     "the user of the store's URL; see belay doctor"},
    {"42P07", ErrorCode::corrupt, of_others},
    {"42710", ErrorCode::corrupt, of_others},
    {"42723", ErrorCode::corrupt, of_others},
    {"42704", ErrorCode::corrupt, of_none},
    {"42P01", ErrorCode::unavailable, "check the schema: a table is missing"},
    {"42703", ErrorCode::unavailable, "check the schema: a column is missing"},
    {"3F", ErrorCode::unavailable, "check the schema: it is missing"},
    {"54000", ErrorCode::invalid, "use shorter names and keys"},
    {"22", ErrorCode::invalid, "correct the value; a text must not contain U+0000"},
    {"23", ErrorCode::conflict, "reload the row, and decide again"},
    {"58", ErrorCode::unavailable, "check the server's disk and log"},
    {"XX001", ErrorCode::corrupt, "restore it from a backup"},
    {"XX002", ErrorCode::corrupt, "reindex it, or restore it from a backup"},
    {"XX", ErrorCode::unavailable, "check the server's log"},
}};

const Meaning* meaning_of(std::string_view state) {
  auto found = std::find_if(meanings.begin(), meanings.end(), [&](const Meaning& meaning) {
    return state.starts_with(meaning.prefix);
  });
  return found == meanings.end() ? nullptr : &*found;
}

}  // namespace

ErrorCode code_of_state(std::string_view state) {
  const Meaning* meaning = meaning_of(state);
  return meaning ? meaning->code : ErrorCode::invalid;
}

std::string_view remedy_for_state(std::string_view state) {
  const Meaning* meaning = meaning_of(state);
  return meaning ? meaning->remedy : "check the server's log";
}

std::string_view remedy_for_no_connection(std::string_view text) {
  struct Sign {
    std::string_view words;
    std::string_view remedy;
  };
  static constexpr std::array<Sign, 13> signs{{
      {"session is read-only", where_writes_are_taken},
      {"hot standby mode", where_writes_are_taken},
      {"password", "check the user and password in the store's URL"},
      {"authentication failed", "check the user and password in the store's URL"},
      {"not permitted to log in", "as its owner, run ALTER ROLE ... LOGIN, or use another user"},
      {"pg_hba.conf", "add the user, database and this machine to the server's pg_hba.conf"},
      {"not currently accepting", "as its owner, run ALTER DATABASE ... ALLOW_CONNECTIONS true"},
      {"translate host name", "check the host in the store's URL"},
      {"does not exist", "create the database and user, or correct their names in the store's URL"},
      {"connections for role",
       "raise the user's CONNECTION LIMIT, or set a smaller pool= in the URL"},
      {"too many", "raise the server's max_connections, or set a smaller pool= in the URL"},
      {"slots are reserved",
       "raise the server's max_connections, or set a smaller pool= in the URL"},
      {"starting up", "wait until the server has started"},
  }};
  for (const Sign& sign : signs) {
    if (text.find(sign.words) != std::string_view::npos) return sign.remedy;
  }
  return "check that it runs, and the host and port in the store's URL";
}

Error no_writes_at(const Address& address, bool is_standby) {
  return error(ErrorCode::unavailable,
               "The store, " + address.shown + ", accepts no writes: " +
                   (is_standby ? "it is a standby" : "it is set to read only") +
                   "; name the primary in the store's URL, or all of its hosts and "
                   "target_session_attrs=read-write.");
}

}  // namespace belay::postgres
