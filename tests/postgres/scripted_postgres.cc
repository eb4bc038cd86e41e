#include "tests/postgres/scripted_postgres.h"

#include <sys/socket.h>
#include <unistd.h>

#include <array>
#include <utility>

#include "tests/postgres/loopback.h"
#include "tests/postgres/wire_messages.h"

namespace belay::postgres_tests {
namespace {

const std::string kNul(1, '\0');

std::string status_message(const std::string& name, const std::string& value) {
  return wire_message('S', name + kNul + value + kNul);
}

std::string ready_message() { return wire_message('Z', "I"); }

void say(int socket, const std::string& bytes) {
  [[maybe_unused]] auto sent = ::send(socket, bytes.data(), bytes.size(), MSG_NOSIGNAL);
}

}  // namespace

ScriptedPostgres::ScriptedPostgres(PostgresScript script) : script_(std::move(script)) {
  std::tie(listener_, port_) = listen_on_loopback();
  accepting_ = std::thread([this] { accept_all(); });
}

ScriptedPostgres::~ScriptedPostgres() {
  ::shutdown(listener_, SHUT_RDWR);
  accepting_.join();
  {
    std::lock_guard lock(mutex_);
    for (int socket : sockets_) ::shutdown(socket, SHUT_RDWR);
  }
  for (std::thread& each : serving_) each.join();
  for (int socket : sockets_) ::close(socket);
  ::close(listener_);
}

std::string ScriptedPostgres::url(const std::string& options) const {
  return "postgresql://belay@127.0.0.1:" + std::to_string(port_) + "/scripted" +
         (options.empty() ? "" : "?" + options);
}

void ScriptedPostgres::accept_all() {
  while (true) {
    int socket = ::accept4(listener_, nullptr, nullptr, SOCK_CLOEXEC);
    if (socket < 0) return;
    std::lock_guard lock(mutex_);
    sockets_.push_back(socket);
    serving_.emplace_back([this, socket] { serve(socket); });
  }
}

std::string ScriptedPostgres::greeting() const {
  std::string authenticated = wire_message('R', wire_bytes(0));
  std::string key = wire_message('K', wire_bytes(1) + wire_bytes(2));
  std::string recovery = script_.in_recovery ? "on" : "off";
  return authenticated + status_message("server_version", script_.version) +
         status_message("server_encoding", "UTF8") + status_message("client_encoding", "UTF8") +
         status_message("standard_conforming_strings", "on") +
         status_message("integer_datetimes", "on") + status_message("in_hot_standby", recovery) +
         status_message("default_transaction_read_only", recovery) + key + ready_message();
}

std::string ScriptedPostgres::refusal() const {
  return wire_message('E', "SERROR" + kNul + "VERROR" + kNul + "C" + script_.sqlstate + kNul + "M" +
                               script_.message + kNul + kNul);
}

std::string ScriptedPostgres::answer_to(char type, bool& has_failed) {
  if (type == 'S') {
    has_failed = false;
    return ready_message();
  }
  if (has_failed) return {};
  bool is_statement = type == 'Q' || type == 'E';
  if (is_statement) ++statements_;
  if (is_statement && !script_.sqlstate.empty()) {
    has_failed = type == 'E';
    return refusal() + (type == 'Q' ? ready_message() : "");
  }
  switch (type) {
    case 'P':
      return wire_message('1', "");
    case 'B':
      return wire_message('2', "");
    case 'D':
      return wire_message('n', "");
    case 'C':
      return wire_message('3', "");
    case 'E':
      return wire_message('C', "SELECT 0" + kNul);
    case 'Q':
      return wire_message('C', "SELECT 0" + kNul) + ready_message();
    default:
      return {};
  }
}

void ScriptedPostgres::serve(int socket) {
  WireReader reader(WireReader::Side::client);
  bool has_failed = false;
  std::array<char, 8192> part;
  while (true) {
    ssize_t count = ::recv(socket, part.data(), part.size(), 0);
    if (count <= 0) return;
    reader.add({part.data(), static_cast<std::size_t>(count)});
    while (auto message = reader.next()) {
      if (message->type == 'X') {
        ::shutdown(socket, SHUT_RDWR);
        return;
      }
      if (message->type != 0) {
        say(socket, answer_to(message->type, has_failed));
        continue;
      }
      std::uint32_t code = wire_number(message->body());
      if (code == kWireTls || code == kWireGss) {
        say(socket, "N");
      } else if (script_.refuses_connections || code != kWireProtocol) {
        say(socket, refusal());
        ::shutdown(socket, SHUT_RDWR);
        return;
      } else {
        say(socket, greeting());
      }
    }
  }
}

}  // namespace belay::postgres_tests
