#pragma once
// http/server_state.h - what the connections of one server share.

#include <chrono>
#include <functional>
#include <list>
#include <memory>
#include <string>
#include <vector>

#include "http/server.h"
#include "http/transport.h"

namespace belay::http {

class Connection;

struct Serving {
  AsioLoop& loop;
  Clock& clock;
  const ServerOptions options;
  Handler handler;
  std::shared_ptr<TlsContext> tls;  // null: plain

  std::list<std::shared_ptr<Connection>> connections{};
  std::uint64_t accepted = 0;
  std::uint64_t requests = 0;
  std::uint64_t refused = 0;
  std::size_t request_bytes = 0;  // held for requests, by all connections: see Connection::count()
  bool draining = false;
  std::function<void()> connection_ended{};  // after one has left `connections`

  // What one connection reads at a time: whatever is to be kept leaves it before another reads.
  std::vector<char> scratch = std::vector<char>(64 * 1024);

  // The second that an answer's Date tells, made once.
  std::chrono::sys_seconds date_second{};
  std::string date{};
};

}  // namespace belay::http
