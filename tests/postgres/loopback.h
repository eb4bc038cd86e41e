#pragma once
// tests/postgres/loopback.h - creates sockets on 127.0.0.1.

#include <utility>

namespace belay::postgres_tests {

// Returns a listening socket and its port.
std::pair<int, int> listen_on_loopback();
// Returns -1 if no process listens there.
int connect_to_loopback(int port);

}  // namespace belay::postgres_tests
