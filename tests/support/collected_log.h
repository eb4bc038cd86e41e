#pragma once
// tests/support/collected_log.h - a log that keeps its entries for a test.
//
// Threading: one thread.

#include <algorithm>
#include <string>
#include <vector>

#include "belay/telemetry.h"

namespace belay {

class CollectedLog final : public Log {
 public:
  bool wants(LogLevel) const override { return true; }
  void write(LogEntry entry) override { entries.push_back(std::move(entry)); }

  // The names of the events, in their order.
  std::vector<std::string> events() const {
    std::vector<std::string> names;
    for (const LogEntry& entry : entries) names.push_back(entry.event);
    return names;
  }
  // The value of a field; empty if the entry does not have it.
  static std::string field(const LogEntry& entry, std::string_view name) {
    auto found = std::find_if(entry.fields.begin(), entry.fields.end(),
                              [&](const auto& each) { return each.first == name; });
    return found == entry.fields.end() ? "" : found->second;
  }

  std::vector<LogEntry> entries;
};

}  // namespace belay
