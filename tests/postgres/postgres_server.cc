#include "tests/postgres/postgres_server.h"

#include <gtest/gtest.h>
#include <libpq-fe.h>
#include <signal.h>

#include <fstream>

namespace belay::postgres_tests {
namespace {

using std::chrono::seconds;

constexpr seconds kStartMax{60};  // under a sanitizer's load, with a WAL to recover from
constexpr seconds kStopMax{60};
constexpr int kPortsTried = 5;  // another process can take the port between the check and the start

std::string program(const std::string& name) { return BELAY_POSTGRES_BIN "/" + name; }

// A cluster from initdb, which is copied for every server.
class Template {
 public:
  Template() {
    run_to_end({program("initdb"), "--pgdata", path(), "--username", "belay", "--auth", "trust",
                "--encoding", "UTF8", "--locale", "C", "--no-sync", "--no-instructions"},
               folder_.file("log"));
  }
  std::string path() const { return folder_.file("data"); }

 private:
  ServerFolder folder_;
};

const Template& shared_template() {
  static const Template made;
  return made;
}

std::string settings_for(const ServerOptions& options, const std::string& folder, int port) {
  std::string text = "listen_addresses = '127.0.0.1'\nport = " + std::to_string(port) +
                     "\nunix_socket_directories = '" + folder +
                     "'\nmax_connections = " + std::to_string(options.connections_max) +
                     "\nshared_buffers = 64MB\nmax_locks_per_transaction = 256\n"
                     "deadlock_timeout = 200ms\nautovacuum_naptime = 10s\n"
                     "log_line_prefix = '%m [%p] '\n";
  if (!options.sync) text += "fsync = off\nfull_page_writes = off\n";
  return text + options.settings + "\n";
}

std::string parameters_for(const std::string& host, int port, const std::string& database) {
  return "host=" + host + " port=" + std::to_string(port) +
         " user=belay connect_timeout=10 dbname=" + database;
}

std::vector<SqlRow> rows_of(PGresult* result) {
  std::vector<SqlRow> rows;
  for (int row = 0; row < PQntuples(result); ++row) {
    SqlRow& columns = rows.emplace_back();
    for (int column = 0; column < PQnfields(result); ++column) {
      columns.emplace_back(PQgetvalue(result, row, column));
    }
  }
  return rows;
}

}  // namespace

PostgresServer::PostgresServer(ServerOptions options) : options_(std::move(options)) {
  std::string data = folder_.file("data");
  if (options_.primary) {
    copy(*options_.primary);
  } else {
    run_to_end({"/bin/cp", "-R", shared_template().path(), data}, log());
  }
  if (options_.is_standby) folder_.write("data/standby.signal", "");
  for (int i = 0; i < kPortsTried && !process_; ++i) {
    port_ = free_port();
    write_settings();
    if (!try_to_start()) process_.reset();
  }
  if (!process_) give_up("PostgreSQL does not start.", log());
}

PostgresServer::~PostgresServer() {
  if (process_) stop(Stop::immediate);
}

void PostgresServer::copy(const PostgresServer& primary) {
  std::string from = parameters_for(primary.socket_folder(), primary.port(), "replication");
  run_to_end({program("pg_basebackup"), "--pgdata", folder_.file("data"), "--dbname", from,
              "--no-sync", "--checkpoint=fast", "--write-recovery-conf"},
             log());
}

void PostgresServer::write_settings() {
  folder_.write("data/pg_hba.conf",
                "local all all trust\nhost all guarded 127.0.0.1/32 scram-sha-256\n"
                "host all all 127.0.0.1/32 trust\n"
                "local replication all trust\n");
  folder_.write("data/postgresql.conf", settings_for(options_, folder_.path(), port_));
}

bool PostgresServer::try_to_start() {
  process_ = std::make_unique<ServerProcess>(
      std::vector<std::string>{program("postgres"), "-D", folder_.file("data")}, log(), SIGQUIT);
  std::string parameters = parameters_for(folder_.path(), port_, "postgres");
  bool is_up = false;
  wait_until(kStartMax, [&] {
    is_up = PQping(parameters.c_str()) == PQPING_OK;
    return is_up || process_->has_ended();
  });
  return is_up;
}

void PostgresServer::promote() {
  run_to_end({program("pg_ctl"), "promote", "--pgdata", folder_.file("data"), "--wait"}, log());
}

void PostgresServer::follow(const PostgresServer& primary) {
  run_to_end({"/bin/rm", "-rf", folder_.file("data")}, log());
  copy(primary);
  write_settings();
  start();
}

void PostgresServer::start() {
  if (!try_to_start()) give_up("PostgreSQL does not start again.", log());
}

void PostgresServer::stop(Stop how) {
  process_->send(how == Stop::fast ? SIGINT : SIGQUIT);
  if (process_->wait(kStopMax) < 0) give_up("PostgreSQL does not stop.", log());
  process_.reset();
}

void PostgresServer::restart_immediately() {
  stop(Stop::immediate);
  start();
}

std::string PostgresServer::url(const std::string& database, const std::string& options) const {
  return url_at(port_, database, options);
}

std::string PostgresServer::url_at(int port, const std::string& database,
                                   const std::string& options) const {
  return "postgresql://belay@127.0.0.1:" + std::to_string(port) + "/" + database +
         (options.empty() ? "" : "?" + options);
}

std::string PostgresServer::socket_url(const std::string& database,
                                       const std::string& options) const {
  return "postgresql:///" + database + "?user=belay&host=" + folder_.path() +
         "&port=" + std::to_string(port_) + (options.empty() ? "" : "&" + options);
}

std::string PostgresServer::create_database() {
  std::string name = "database_" + std::to_string(++databases_);
  auto made = sql("CREATE DATABASE " + name);
  if (!made.ok()) give_up(made.error().message, log());
  return name;
}

Result<std::vector<SqlRow>> PostgresServer::sql(const std::string& statements,
                                                const std::string& database) const {
  std::unique_ptr<PGconn, void (*)(PGconn*)> connection(
      PQconnectdb(parameters_for(folder_.path(), port_, database).c_str()), PQfinish);
  if (PQstatus(connection.get()) != CONNECTION_OK) {
    return error(ErrorCode::unavailable, PQerrorMessage(connection.get()));
  }
  std::unique_ptr<PGresult, void (*)(PGresult*)> result(
      PQexec(connection.get(), statements.c_str()), PQclear);
  ExecStatusType status = PQresultStatus(result.get());
  if (status != PGRES_TUPLES_OK && status != PGRES_COMMAND_OK) {
    return error(ErrorCode::invalid, PQresultErrorMessage(result.get()));
  }
  return rows_of(result.get());
}

std::string PostgresServer::value(const std::string& statement, const std::string& database) const {
  auto rows = sql(statement, database);
  if (!rows.ok()) {
    ADD_FAILURE() << statement << ": " << rows.error().message;
    return "";
  }
  if (rows->empty() || rows->front().empty()) {
    ADD_FAILURE() << statement << ": no row";
    return "";
  }
  return rows->front().front();
}

PostgresServer& shared_server() {
  static PostgresServer server;
  return server;
}

}  // namespace belay::postgres_tests
