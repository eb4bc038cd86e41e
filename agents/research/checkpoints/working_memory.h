#pragma once
// agents/research/checkpoints/working_memory.h - WorkingMemory: the L1 cache of an agent: values by
// name, bounded, with a dump for checkpoints.
//
// Above a bound, the least recently used values are evicted: the memory is a cache, and an agent
// must be able to compute each value again. A dump contains the order of use; therefore a restored
// memory behaves as the dumped one.
//
// Threading: none.

#include <cstdint>
#include <list>
#include <map>
#include <string>
#include <string_view>

#include "belay/value.h"

namespace belay::research {

inline constexpr std::size_t kMemoryDepthMax = 48;  // nested arrays and objects of a value

struct WorkingMemoryLimits {
  std::size_t entries_max = 256;
  std::size_t bytes_max = 256u << 10;  // of all names and the JSON texts of their values
};

class WorkingMemory {
 public:
  explicit WorkingMemory(WorkingMemoryLimits limits = {}) : limits_(limits) {}
  WorkingMemory(const WorkingMemory&) = delete;
  WorkingMemory& operator=(const WorkingMemory&) = delete;

  // Adds or replaces a value, which is then the most recently used one. Fails with `invalid`, and
  // changes nothing, for an invalid name (check_name()), a value that JSON cannot represent or that
  // is nested deeper than kMemoryDepthMax, and an entry that exceeds a bound alone.
  Result<Done> put(std::string name, Value value);
  // Returns null if there is no such value. The value is then the most recently used one. The
  // pointer is valid until the next put(), erase() or restore().
  const Value* get(std::string_view name);
  // Returns false if there was no such value.
  bool erase(std::string_view name);

  std::size_t size() const { return index_.size(); }
  std::size_t bytes() const { return bytes_; }
  // The number of values that were evicted, over all restores.
  std::uint64_t evicted() const { return evicted_; }

  // Returns {"evicted": n, "entries": [{"name": ..., "value": ...}, ...]}, the least recently used
  // entry first.
  Value dump() const;
  // Replaces all contents by those of a dump; null: by none. Entries above the bounds of this
  // memory are evicted. Fails with `invalid`, and changes nothing, for anything else than a dump.
  Result<Done> restore(const Value& dump);

 private:
  struct Entry {
    std::string name;
    Value value;
    std::size_t bytes = 0;
  };
  using Position = std::list<Entry>::iterator;

  void remove(Position position);

  WorkingMemoryLimits limits_;
  std::list<Entry> entries_;  // the least recently used first
  std::map<std::string, Position, std::less<>> index_;
  std::size_t bytes_ = 0;
  std::uint64_t evicted_ = 0;
};

}  // namespace belay::research
