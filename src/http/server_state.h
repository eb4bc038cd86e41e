#pragma once
// http/server_state.h - Serving: the state that the connections of one server share.

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
  std::shared_ptr<TlsContext> tls;  // null: no TLS

  std::list<std::shared_ptr<Connection>> connections{};
  std::uint64_t accepted = 0;
  std::uint64_t requests = 0;
  std::uint64_t refused = 0;
  std::size_t request_bytes = 0;  // of requests, over all connections: see Connection::count()
  bool draining = false;
  std::function<void()> connection_ended{};  // called after a connection has left `connections`

  // Buffer for one read. A connection copies what it keeps before another connection reads.
  std::vector<char> scratch = std::vector<char>(64 * 1024);

  // The Date header, formatted once per second.
  std::chrono::sys_seconds date_second{};
  std::string date{};
};

}  // namespace belay::http
