#pragma once
// langgraph/store_items.h - items of the protocol's store: JSON objects of a user, each with a
// namespace, which is a list of labels, and a key.
//
// Threading: pure, except where a Service is passed.

#include "belay/collection.h"
#include "langgraph/agent_server.h"

namespace belay::langgraph {

struct StoreItemRecord {
  static constexpr std::string_view collection = "langgraph_store_items";

  std::vector<std::string> labels{};  // the namespace
  std::string item_key{};
  std::string place{};  // place_of(labels)
  Value value = Value::Object();
  Instant created_at{}, updated_at{};
  std::optional<Instant> expires{};

  std::string key() const;  // derived from the namespace and the key
  static auto indexed() { return std::tuple(); }
  static auto ordered() { return std::tuple{ordered_index("place", &StoreItemRecord::place)}; }
  Instant expires_at() const { return expires.value_or(Instant{}); }
};

// "a.b." for the namespace ["a", "b"]: a namespace begins with another if its place does.
std::string place_of(const std::vector<std::string>& labels);

// `invalid` for a namespace that has more than 20 labels or 500 bytes, or a label that is empty or
// contains a dot.
Result<Done> check_labels(const std::vector<std::string>& labels);

// True if each member of the filter has this value in `value`, or fulfils the conditions of an
// object {"$eq", "$ne", "$gt", "$gte", "$lt", "$lte"}. `invalid` for another condition.
Result<bool> matches_item_filter(const Value& value, const Value& filter);

// A label "*" of `part` matches any label.
bool begins_with_labels(const std::vector<std::string>& labels,
                        const std::vector<std::string>& part);
bool ends_with_labels(const std::vector<std::string>& labels, const std::vector<std::string>& part);

// The document `Item` of the protocol.
Value item_document(const StoreItemRecord& item);

}  // namespace belay::langgraph
