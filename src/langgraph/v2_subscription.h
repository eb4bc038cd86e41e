#pragma once
// langgraph/v2_subscription.h - V2Subscription: which events of a thread a client wants.
//
//   {"channels": ["values", "custom:NAME", ...], "namespaces": [["node"]], "depth": 1, "since": 7}
//
// Threading: a value.

#include "langgraph/v2_events.h"

namespace belay::langgraph {

struct V2Subscription {
  std::set<std::string, std::less<>> channels;
  // Prefixes: an event matches one of them; empty: all. An element without a task, "node", matches
  // all tasks of the node.
  std::vector<V2Space> spaces = {};
  std::optional<std::size_t> depth = std::nullopt;  // of namespaces below the prefix
  std::optional<std::uint64_t> since = std::nullopt;

  bool matches(const V2Event& event) const;
};

// `invalid` for an unknown member or channel.
Result<V2Subscription> v2_subscription_of(const Value& body);

}  // namespace belay::langgraph
