#pragma once
// bench/recording.h - records all writing statements of a store, with their bound values, on every
// SQLite connection that this process opens.

#include <string>
#include <variant>
#include <vector>

namespace belay::bench {

struct Blob {
  std::string bytes;
};
using Bound = std::variant<std::monostate, long long, double, std::string, Blob>;

struct WrittenStatement {
  std::string sql;  // as prepared
  std::vector<Bound> values;
};
using WrittenTransaction = std::vector<WrittenStatement>;

// Records between start() and stop(), on connections opened after watch_connections().
class Recording {
 public:
  // Must be called once per process, before the store is opened.
  static void watch_connections();
  static void start();
  // Returns the transactions since start(), in order.
  static std::vector<WrittenTransaction> stop();
};

}  // namespace belay::bench
