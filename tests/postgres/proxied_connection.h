#pragma once
// tests/postgres/proxied_connection.h - one connection through the fault proxy, with its faults.

#include <poll.h>

#include <chrono>
#include <cstdint>
#include <deque>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "tests/postgres/wire_messages.h"

namespace belay::postgres_tests {

// The point at which a writing transaction is cut. Its end is the COMMIT or, without one, the Sync
// or the simple query.
enum class CutAt {
  nowhere,
  before_end,  // the end is never sent: the server rolls the transaction back
  after_end,   // the connection is cut directly after the end is sent: the outcome is uncertain
  at_reply,    // the server has committed, and its reply is lost
};

struct ProxyFaults {
  CutAt cut_at = CutAt::nowhere;
  // A transaction counts as writing if one of its statements contains this ...
  std::string marker = "INSERT";
  // ... and, unless this is empty, one of its parameters contains this.
  std::string given = {};
  std::uint64_t every = 1;              // only every n-th of these transactions
  std::uint64_t cuts_max = UINT64_MAX;  // at most
  // For each connection, counted from its start.
  std::optional<std::uint64_t> bytes_to_server = std::nullopt;
  std::optional<std::uint64_t> bytes_to_client = std::nullopt;
  // The connection stalls instead of being cut, until the server itself is gone.
  bool holds = false;
  // If not empty, a statement with the marker fails with this SQLSTATE, at most failures_max times.
  std::string sqlstate = {};
  std::uint64_t failures_max = 0;
  std::chrono::milliseconds delay{0};  // of everything that the server sends
  bool swallows = false;  // half open: sent data is lost, and no end of the connection is reported
  bool refuses = false;   // new connections are closed immediately
};

struct ProxyCounts {
  std::uint64_t connections = 0;
  std::uint64_t writes = 0;  // writing transactions that were about to end
  std::uint64_t cuts = 0;    // of every kind
  std::uint64_t held = 0;    // connections that stalled instead
  std::uint64_t cuts_before_end = 0;
  std::uint64_t cuts_after_end = 0;
  std::uint64_t cuts_at_reply = 0;
  std::uint64_t failures = 0;  // statements that were made to fail
};

class ProxiedConnection {
 public:
  ProxiedConnection(int client, int server) : client_(client), server_(server) {}
  ProxiedConnection(const ProxiedConnection&) = delete;
  ProxiedConnection& operator=(const ProxiedConnection&) = delete;
  ~ProxiedConnection() { close_both(false); }

  // Adds the two descriptors to wait for, and lowers the timeout in milliseconds (-1: unlimited).
  void add_to(std::vector<pollfd>& files, int& timeout, const ProxyFaults& faults) const;
  // Forwards the received data. Returns false when the connection has ended.
  bool move(const ProxyFaults& faults, ProxyCounts& counts);
  // Closes the connection, with a reset or in the ordinary way.
  void cut(ProxyCounts& counts);

 private:
  using Clock = std::chrono::steady_clock;
  struct Reply {
    Clock::time_point due;
    std::string bytes;
  };

  bool move_to_server(const ProxyFaults& faults, ProxyCounts& counts);
  bool move_to_client(const ProxyFaults& faults, ProxyCounts& counts);
  // Returns whether this message is the end of a transaction that must be cut.
  bool is_end_to_cut(const WireMessage& message, const ProxyFaults& faults, ProxyCounts& counts);
  void notice(const WireMessage& message, const ProxyFaults& faults);
  // Returns the Parse message of the statement that this message names: a Parse message itself, or
  // a Bind message of a statement that was prepared under a name. Null if it names none.
  const std::string* named_by(const WireMessage& message) const;
  // Returns the message, or a replacement whose statement fails.
  std::string as_told(const WireMessage& message, const ProxyFaults& faults, ProxyCounts& counts);
  // Cuts the connection or makes it stall. Returns whether it still exists.
  bool strike(const ProxyFaults& faults, ProxyCounts& counts);
  bool pass_on(std::string_view bytes, int to, std::uint64_t& passed,
               const std::optional<std::uint64_t>& most);
  void close_both(bool reset);

  int client_ = -1;
  int server_ = -1;
  std::map<std::string, std::string, std::less<>> prepared_;  // Parse messages, by their name
  WireReader from_client_{WireReader::Side::client};
  WireReader from_server_{WireReader::Side::server};
  std::deque<Reply> replies_;  // delayed replies
  std::uint64_t to_server_ = 0;
  std::uint64_t to_client_ = 0;
  bool is_held_ = false;
  bool has_marker_ = false;   // a statement of the current transaction has it
  bool writes_ = false;       // the current transaction counts as writing
  bool drops_reply_ = false;  // its end was forwarded, and its reply is dropped
  std::string held_back_;     // of that reply
};

}  // namespace belay::postgres_tests
