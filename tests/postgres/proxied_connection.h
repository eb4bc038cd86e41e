#pragma once
// tests/postgres/proxied_connection.h - one connection through the fault proxy, and what it may
// have done to it.

#include <poll.h>

#include <chrono>
#include <cstdint>
#include <deque>
#include <optional>
#include <string>
#include <vector>

#include "tests/postgres/wire_messages.h"

namespace belay::postgres_tests {

// Where a transaction that writes is cut. Its end is the COMMIT that carries it out, or, without
// one, the Sync or simple query.
enum class CutAt {
  nowhere,
  before_end,  // the end is never sent: the server undoes it
  after_end,   // the end is sent, and the connection cut at once: either may have happened
  at_reply,    // the server has carried it out, and its reply is lost
};

struct ProxyFaults {
  CutAt cut_at = CutAt::nowhere;
  // A transaction writes if one of its statements contains this ...
  std::string marker = "INSERT";
  // ... and, unless this is empty, what one of them is given contains this.
  std::string given = {};
  std::uint64_t every = 1;              // only each so many-th of them
  std::uint64_t cuts_max = UINT64_MAX;  // and then no more
  // Of each connection, counted from its beginning.
  std::optional<std::uint64_t> bytes_to_server = std::nullopt;
  std::optional<std::uint64_t> bytes_to_client = std::nullopt;
  // In place of a cut the connection stands still there, until the server itself is gone.
  bool holds = false;
  // Not empty: a statement with the marker comes to this error of the server's, so many times.
  std::string sqlstate = {};
  std::uint64_t failures_max = 0;
  std::chrono::milliseconds delay{0};  // of whatever the server says
  bool swallows = false;  // half open: what is sent arrives nowhere, and no end is told
  bool refuses = false;   // new connections are closed at once
};

struct ProxyCounts {
  std::uint64_t connections = 0;
  std::uint64_t writes = 0;  // transactions that write, as they were about to end
  std::uint64_t cuts = 0;    // of whatever kind
  std::uint64_t held = 0;    // connections that stood still in place of that
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

  // What to wait for, two entries; and for how long at most, in milliseconds, -1 for ever.
  void add_to(std::vector<pollfd>& files, int& timeout, const ProxyFaults& faults) const;
  // Moves what came. False once it is at its end.
  bool move(const ProxyFaults& faults, ProxyCounts& counts);
  // With a reset, or by the ordinary end.
  void cut(ProxyCounts& counts);

 private:
  using Clock = std::chrono::steady_clock;
  struct Reply {
    Clock::time_point due;
    std::string bytes;
  };

  bool move_to_server(const ProxyFaults& faults, ProxyCounts& counts);
  bool move_to_client(const ProxyFaults& faults, ProxyCounts& counts);
  // Whether this message is the end of a transaction that is to be cut.
  bool is_end_to_cut(const WireMessage& message, const ProxyFaults& faults, ProxyCounts& counts);
  void notice(const WireMessage& message, const ProxyFaults& faults);
  // The message, or one in its place whose statement fails.
  std::string as_told(const WireMessage& message, const ProxyFaults& faults, ProxyCounts& counts);
  // Cuts the connection, or has it stand still. Whether it is there still.
  bool strike(const ProxyFaults& faults, ProxyCounts& counts);
  bool pass_on(std::string_view bytes, int to, std::uint64_t& passed,
               const std::optional<std::uint64_t>& most);
  void close_both(bool reset);

  int client_ = -1;
  int server_ = -1;
  WireReader from_client_{WireReader::Side::client};
  WireReader from_server_{WireReader::Side::server};
  std::deque<Reply> replies_;  // those that are delayed
  std::uint64_t to_server_ = 0;
  std::uint64_t to_client_ = 0;
  bool is_held_ = false;
  bool has_marker_ = false;   // a statement of the transaction under way
  bool writes_ = false;       // the transaction under way does
  bool drops_reply_ = false;  // its end was let through, for its reply to be lost
  std::string held_back_;     // of that reply
};

}  // namespace belay::postgres_tests
