#include "tests/postgres/pgbouncer.h"

#include <signal.h>
#include <unistd.h>

#include "tests/postgres/loopback.h"

namespace belay::postgres_tests {
namespace {

constexpr std::chrono::seconds kBouncerStartMax{30};
constexpr int kBouncerPortsTried = 5;

std::string bouncer_settings(const PostgresServer& server, int connections, const std::string& mode,
                             int port, const ServerFolder& folder) {
  std::string behind = "host=" + server.socket_folder() + " port=" + std::to_string(server.port());
  // A database that is named explicitly is configured again at a reload.
  return "[databases]\npostgres = " + behind + "\n* = " + behind +
         "\n[pgbouncer]\nlisten_addr = 127.0.0.1\nlisten_port = " + std::to_string(port) +
         "\nunix_socket_dir =\nauth_type = trust\nauth_file = " + folder.file("users") +
         "\npool_mode = " + mode +
         "\nmax_client_conn = 1000\ndefault_pool_size = " + std::to_string(connections) +
         "\nserver_login_retry = 1\n"
         // Belay sends these settings of a database session at its start.
         "ignore_startup_parameters = extra_float_digits,options\n";
}

}  // namespace

PgBouncer::PgBouncer(const PostgresServer& server, int server_connections, std::string mode)
    : server_(&server), server_connections_(server_connections), mode_(std::move(mode)) {
  folder_.write("users", "\"belay\" \"\"\n");
  for (int i = 0; i < kBouncerPortsTried && !process_; ++i) {
    port_ = free_port();
    if (!try_to_start()) process_.reset();
  }
  if (!process_) give_up("PgBouncer does not start.", folder_.file("log"));
}

bool PgBouncer::try_to_start() {
  std::string settings = folder_.write(
      "settings.ini", bouncer_settings(*server_, server_connections_, mode_, port_, folder_));
  process_ = std::make_unique<ServerProcess>(std::vector<std::string>{BELAY_PGBOUNCER, settings},
                                             folder_.file("log"), SIGKILL);
  bool is_up = false;
  wait_until(kBouncerStartMax, [&] {
    int socket = connect_to_loopback(port_);
    if (socket >= 0) is_up = ::close(socket) == 0;
    return is_up || process_->has_ended();
  });
  return is_up;
}

void PgBouncer::stop() { process_.reset(); }

void PgBouncer::turn_to(const PostgresServer& server) {
  server_ = &server;
  folder_.write("settings.ini",
                bouncer_settings(*server_, server_connections_, mode_, port_, folder_));
  process_->send(SIGHUP);
}

void PgBouncer::start() {
  if (!try_to_start()) give_up("PgBouncer does not start again.", folder_.file("log"));
}

}  // namespace belay::postgres_tests
