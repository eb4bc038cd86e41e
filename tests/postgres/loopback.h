#pragma once
// tests/postgres/loopback.h - sockets of 127.0.0.1.

#include <utility>

namespace belay::postgres_tests {

// A socket that listens, and its port.
std::pair<int, int> listen_on_loopback();
// -1 when nobody listens there.
int connect_to_loopback(int port);

}  // namespace belay::postgres_tests
