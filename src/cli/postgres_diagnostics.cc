#include "cli/postgres_diagnostics.h"

#include <algorithm>

#include "store/postgres/connection.h"
#include "store/postgres/schema.h"

namespace belay::cli {
namespace {

using postgres::Address;
using postgres::Connection;
using postgres::Parameters;
using postgres::Rows;
using FindingKind = Diagnostic::Kind;

constexpr std::chrono::seconds kAnswerWait{10};
constexpr std::int64_t kClockWarning = 5'000;  // milliseconds
constexpr std::int64_t kClockBad = 5 * 60'000;
constexpr std::int64_t kDeadRowsMany = 100'000;
constexpr std::int64_t kOldTransaction = 3'600;  // seconds
// Of about 2,000 million that exist before the server rejects new transactions.
constexpr std::int64_t kTransactionIdsMany = 1'500'000'000;
// In addition to its pool: the writer, two for sessions, the notifier.
constexpr std::int64_t kOtherConnections = 4;

bool is_upper(char letter) { return letter >= 'A' && letter <= 'Z'; }

// Returns where the last sentence of a message starts, or its last part after a semicolon; npos if
// it has one part only.
std::size_t start_of_advice(std::string_view message) {
  std::size_t part = message.rfind("; ");
  for (std::size_t at = message.size(); (at = message.rfind(". ", at)) != message.npos && at > 0;
       --at) {
    bool is_sentence = at + 2 < message.size() && is_upper(message[at + 2]);
    if (is_sentence) return part == message.npos ? at + 2 : std::max(part, at) + 2;
  }
  return part == message.npos ? part : part + 2;
}

// Splits the message of an error into detail and advice.
Diagnostic refused(std::string name, const Error& error) {
  std::string detail = error.message, advice;
  std::size_t at = start_of_advice(detail);
  if (at != std::string::npos) {
    advice = detail.substr(at);
    detail.resize(at - 2);
    if (advice.ends_with('.')) advice.pop_back();
    // The other diagnostics' advice starts with a small letter.
    if (advice.size() > 1 && is_upper(advice[0]) && !is_upper(advice[1])) advice[0] += 'a' - 'A';
  }
  return {std::move(name), FindingKind::bad, std::move(detail), std::move(advice)};
}

std::string counted(std::int64_t count, const std::string& one, const std::string& many) {
  return std::to_string(count) + " " + (count == 1 ? one : many);
}

Result<std::unique_ptr<Connection>> connect(const Address& address) {
  BELAY_TRY(auto connection, Connection::open(address));
  connection->set_patience(kAnswerWait);
  return connection;
}

Diagnostic schema_finding(const Address& address, const postgres::SchemaState& state) {
  if (!state.exists) {
    return {"schema", FindingKind::good,
            address.schema + " does not exist yet; the first command creates it", ""};
  }
  std::string detail = address.schema + ", version " + std::to_string(state.version) + " of " +
                       std::to_string(state.known);
  if (state.version >= state.known) return {"schema", FindingKind::good, detail, ""};
  return {"schema", FindingKind::warning, detail,
          "none: the next command upgrades it; make a backup first if you might need the older "
          "version"};
}

// A full disk causes errors only in writes that need new pages. Therefore the row has a long name
// that does not compress.
Diagnostic write_finding(Connection& connection, const Address& address, bool exists) {
  connection.send("BEGIN");
  if (exists) {
    connection.send(
        "INSERT INTO belay.sessions (session_id, name, started_at, seen_at, expires_at)"
        " SELECT gen_random_uuid(), 'doctor ' || string_agg(md5(i::text), ''), now(), now(), now()"
        " FROM generate_series(1, 4000) AS i");
  } else {
    connection.send("CREATE SCHEMA \"" + address.schema + "\"");
  }
  auto tried = connection.sync();
  connection.roll_back();
  if (!tried.ok()) return refused("write", tried.error());
  return {"write", FindingKind::good, "it accepts writes", ""};
}

Diagnostic durability_finding(Connection& connection) {
  auto off = postgres::durability_of(connection);
  if (!off.ok()) return refused("durable", off.error());
  if (off->empty()) {
    return {"durable", FindingKind::good, "committed data is on the server's disk", ""};
  }
  std::string names;
  for (const std::string& name : *off) names += (names.empty() ? "" : ", ") + name;
  bool may_corrupt = off->size() > 1 || off->front() != "synchronous_commit";
  std::string detail =
      names + (off->size() == 1 ? " is off" : " are off") +
      (may_corrupt ? ": a power failure might damage all data of the server"
                   : ": a crash of the server might lose the last acknowledged commits");
  return {"durable", may_corrupt ? FindingKind::bad : FindingKind::warning, detail,
          "set " + names + " to on, in postgresql.conf or for the role and database"};
}

Diagnostic connections_finding(Connection& connection, const Address& address) {
  auto row = connection.query(
      "SELECT current_setting('max_connections')::bigint"
      "   - current_setting('superuser_reserved_connections')::bigint,"
      " (SELECT count(*) FROM pg_stat_activity WHERE backend_type = 'client backend')");
  if (!row.ok()) return refused("room", row.error());
  std::int64_t most = row->number(0, 0), used = row->number(0, 1);
  auto needed = static_cast<std::int64_t>(address.pool) + kOtherConnections;
  std::string detail = std::to_string(used) + " of " + counted(most, "connection", "connections") +
                       " in use; a process opens up to " + std::to_string(needed);
  // One of the used connections is this command's own, which ends.
  if (most - used + 1 >= needed) return {"room", FindingKind::good, detail, ""};
  return {"room", FindingKind::warning, detail,
          "raise the server's max_connections, give the store's URL a smaller pool=, or put a "
          "pooler in between"};
}

Diagnostic clock_finding(Connection& connection, Clock& clock) {
  using std::chrono::duration_cast;
  using std::chrono::milliseconds;
  Instant before = clock.now();
  auto row = connection.query("SELECT clock_timestamp()");
  Instant after = clock.now();
  if (!row.ok()) return refused("clock", row.error());
  Instant server = row->instant(0, 0);
  // The server read its clock at some moment between `before` and `after`.
  auto apart = server > after    ? duration_cast<milliseconds>(server - after)
               : server < before ? duration_cast<milliseconds>(before - server)
                                 : milliseconds(0);
  std::string detail =
      "the server's is " + (apart.count() < 1'000 ? std::string("the same")
                                                  : std::to_string(apart.count() / 1'000) + " s " +
                                                        (server > after ? "ahead" : "behind"));
  if (apart.count() < kClockWarning) return {"clock", FindingKind::good, detail, ""};
  return {
      "clock", apart.count() < kClockBad ? FindingKind::warning : FindingKind::bad, detail,
      "synchronize both machines with NTP; no node runs twice because of it, since the clock of "
      "the server decides about leases and expiry, but retries and timers are early or late"};
}

bool has_pooler(Connection& connection) {
  auto row = connection.query("SELECT pg_backend_pid()::bigint");
  return row.ok() && row->number(0, 0) != connection.announced_process();
}

Diagnostic pooler_finding(Connection& connection, const std::string& notify_url) {
  if (!has_pooler(connection)) {
    return {"pooler", FindingKind::good, "none: this is the server itself", ""};
  }
  std::string detail = "connected through a pooler; commits and reads work through any pooler";
  if (!notify_url.empty()) return {"pooler", FindingKind::good, detail, ""};
  return {"pooler", FindingKind::warning, detail,
          "set BELAY_NOTIFY_URL to the server itself, so that workers are notified immediately; "
          "without it they find work at their next poll, unless the pooler pools whole sessions"};
}

// Checks the connection for LISTEN.
Diagnostic notify_finding(const std::string& notify_url) {
  auto address = postgres::address_from(notify_url);
  if (!address.ok()) {
    Diagnostic finding = refused("notify", address.error());
    finding.detail = "BELAY_NOTIFY_URL: " + finding.detail;
    return finding;
  }
  auto connection = connect(*address);
  if (!connection.ok()) {
    Diagnostic finding = refused("notify", connection.error());
    finding.kind = FindingKind::warning;  // workers find runs by polling
    finding.detail = "BELAY_NOTIFY_URL: " + finding.detail;
    return finding;
  }
  if (has_pooler(**connection)) {
    return {"notify", FindingKind::warning, "BELAY_NOTIFY_URL also connects through a pooler",
            "name the server itself, unless the pooler pools whole sessions"};
  }
  return {"notify", FindingKind::good, address->shown + " notifies workers", ""};
}

Diagnostic sessions_finding(Connection& connection) {
  auto row =
      connection.query("SELECT count(*) FROM belay.sessions WHERE expires_at > clock_timestamp()");
  if (!row.ok()) return refused("sessions", row.error());
  return {"sessions", FindingKind::good,
          counted(row->number(0, 0), "live process", "live processes"), ""};
}

Diagnostic late_approvals_finding(Connection& connection) {
  auto row = connection.query(
      "SELECT count(*), count(*) FILTER (WHERE expires_at <= clock_timestamp())"
      " FROM belay.approvals WHERE status = 'open'");
  if (!row.ok()) return refused("approvals", row.error());
  std::string detail = std::to_string(row->number(0, 0)) + " open, " +
                       std::to_string(row->number(0, 1)) + " expired";
  if (row->number(0, 1) == 0) return {"approvals", FindingKind::good, detail, ""};
  return {"approvals", FindingKind::warning, detail,
          "any command processes them: approvals list --all"};
}

void add_held_loops(Connection& connection, std::vector<Diagnostic>& findings) {
  auto rows = connection.query(
      "SELECT key FROM belay.records WHERE collection = 'held_loops' ORDER BY key");
  if (!rows.ok()) return findings.push_back(refused("loop", rows.error()));
  std::vector<std::string> days;
  for (int row = 0; row < rows->count(); ++row) days.push_back(rows->text(row, 0));
  if (auto held = held_loops_finding(days)) findings.push_back(*std::move(held));
}

Diagnostic vacuum_finding(Connection& connection, const Address& address) {
  auto row = connection.query(
      "SELECT coalesce(sum(n_live_tup), 0)::bigint, coalesce(sum(n_dead_tup), 0)::bigint,"
      " (SELECT coalesce(max(extract(epoch FROM clock_timestamp() - xact_start)), 0)::bigint"
      "   FROM pg_stat_activity WHERE datname = current_database()"
      "   AND backend_type = 'client backend'),"
      " (SELECT age(datfrozenxid)::bigint FROM pg_database WHERE datname = current_database())"
      " FROM pg_stat_all_tables WHERE schemaname = $1",
      Parameters().add(std::string_view(address.schema)));
  if (!row.ok()) return refused("vacuum", row.error());
  std::int64_t live = row->number(0, 0), dead = row->number(0, 1), oldest = row->number(0, 2);
  std::string detail = counted(dead, "dead row", "dead rows") + ", " + std::to_string(live) +
                       " live; the oldest transaction started " + std::to_string(oldest) + " s ago";
  if (row->number(0, 3) > kTransactionIdsMany) {
    return {"vacuum", FindingKind::bad, detail + "; the server is near its last transaction id",
            "vacuum the database now: VACUUM FREEZE"};
  }
  if (oldest > kOldTransaction) {
    return {"vacuum", FindingKind::warning, detail,
            "end the session that keeps it open (pg_stat_activity): until then no dead row can be "
            "reclaimed"};
  }
  if (dead > kDeadRowsMany && dead > live) {
    return {"vacuum", FindingKind::warning, detail, "check autovacuum, or run store compact now"};
  }
  return {"vacuum", FindingKind::good, detail, ""};
}

}  // namespace

std::vector<Diagnostic> diagnose_postgres(const std::string& store, const std::string& notify_url,
                                          Clock& clock) {
  auto address = postgres::address_from(store);
  if (!address.ok()) return {refused("store", address.error())};
  auto opened = connect(*address);
  if (!opened.ok()) return {refused("store", opened.error())};
  Connection& connection = **opened;
  int version = connection.server_version();
  std::vector<Diagnostic> findings;
  findings.push_back({"store", FindingKind::good,
                      address->shown + ", version " + std::to_string(version / 10'000) + "." +
                          std::to_string(version % 10'000),
                      ""});
  auto state = postgres::examine_schema(connection, *address);
  if (!state.ok()) {
    findings.push_back(refused("schema", state.error()));
    return findings;
  }
  findings.push_back(schema_finding(*address, *state));
  findings.push_back(write_finding(connection, *address, state->exists));
  findings.push_back(durability_finding(connection));
  findings.push_back(connections_finding(connection, *address));
  findings.push_back(clock_finding(connection, clock));
  findings.push_back(pooler_finding(connection, notify_url));
  if (!notify_url.empty()) findings.push_back(notify_finding(notify_url));
  if (!state->exists) return findings;
  findings.push_back(sessions_finding(connection));
  findings.push_back(late_approvals_finding(connection));
  add_held_loops(connection, findings);
  findings.push_back(vacuum_finding(connection, *address));
  return findings;
}

}  // namespace belay::cli
