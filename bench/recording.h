#pragma once
// bench/recording.h - what a store really writes: every statement that changes something, on any
// SQLite connection that this process opens, with the values bound to it.

#include <string>
#include <variant>
#include <vector>

namespace belay::bench {

struct Blob {
  std::string bytes;
};
using Bound = std::variant<std::monostate, long long, double, std::string, Blob>;

struct WrittenStatement {
  std::string sql;  // as it was compiled
  std::vector<Bound> values;
};
using WrittenTransaction = std::vector<WrittenStatement>;

// Between start() and stop(), of connections opened after watch_connections().
class Recording {
 public:
  // Once in a process, before the store is opened.
  static void watch_connections();
  static void start();
  // The transactions since start(), in their order.
  static std::vector<WrittenTransaction> stop();
};

}  // namespace belay::bench
