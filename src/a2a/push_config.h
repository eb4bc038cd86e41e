#pragma once
// a2a/push_config.h - A2aPush: the address to which the changes of a task are sent, and how many of
// them have arrived there.
//
// Threading: values; any thread.

#include <string>
#include <tuple>
#include <vector>

#include "a2a/a2a_message.h"
#include "belay/clock.h"
#include "belay/collection.h"
#include "belay/event.h"
#include "belay/http.h"
#include "belay/limits.h"

namespace belay::a2a {

struct A2aPush {
  static constexpr std::string_view collection = "a2a_pushes";
  static constexpr bool is_of_tenant = true;  // the servers read those of all users

  std::string id{};  // of the task and the config
  std::string task{}, config{};
  std::string url{}, token{};
  std::string scheme{}, credentials{};  // of the header Authorization; empty: none
  Instant created_at{};

  // The state of the delivery.
  std::string delivered{};    // the id of the last event that has arrived; empty: none has
  std::string seen{};         // the state of the run whose events were all delivered
  bool ended = false;         // the task has ended and its events were delivered, or none can be
  Instant wake{};             // no server reads the config before this time
  std::string claim{};        // of the last delivery
  std::int64_t failures = 0;  // in a row
  std::string last_error{};

  std::string key() const { return id; }
  static auto indexed() { return std::tuple(&A2aPush::task); }
  static auto ordered() {
    return std::tuple{ordered_index("due", &A2aPush::ended, &A2aPush::wake)};
  }
  Instant expires_at() const { return ended ? wake + limits::steering_kept : Instant(); }
  friend bool operator==(const A2aPush&, const A2aPush&) = default;
};

// Changes with each config that is added to a task, in the same commit: of two that are added at
// the same time, only one is saved, and the other one counts again.
struct A2aPushCount {
  static constexpr std::string_view collection = "a2a_push_counts";
  static constexpr bool is_of_tenant = true;

  std::string task{};
  std::string change{};  // differs for each config
  Instant changed_at{};

  std::string key() const { return task; }
  static auto indexed() { return std::tuple(); }
  Instant expires_at() const { return changed_at + limits::steering_kept; }
};

// The key of a config of a task.
std::string push_key(std::string_view task, std::string_view config);
// Reads a config of params; returns the reason if it is not acceptable. A config without an id has
// one of its content, so that a repeated request has one config.
std::optional<Failure> read_push(const Value& params, A2aPush& push);
// The config as its owner reads it: without the credentials.
Value config_of(const A2aPush& push);
// The request that sends a response to the address.
HttpCall call_of(const A2aPush& push, EventId event, const Value& result);

}  // namespace belay::a2a
