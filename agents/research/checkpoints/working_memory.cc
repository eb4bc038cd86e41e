#include "agents/research/checkpoints/working_memory.h"

#include <iterator>
#include <utility>

#include "belay/ids.h"

namespace belay::research {
namespace {

Error invalid_dump(const std::string& problem) {
  return error(ErrorCode::invalid, "Invalid dump of a working memory: " + problem + ".");
}

// Returns the bytes of the value's JSON text.
Result<std::size_t> stored_bytes(const Value& value) {
  BELAY_TRY(std::string text, encode_json(value));
  BELAY_CHECK(parse_json(text, kMemoryDepthMax));
  return text.size();
}

}  // namespace

Result<Done> WorkingMemory::put(std::string name, Value value) {
  BELAY_CHECK(check_name("name of a working memory's value", name));
  BELAY_TRY(std::size_t bytes, stored_bytes(value));
  bytes += name.size();
  if (bytes > limits_.bytes_max || limits_.entries_max == 0) {
    return error(ErrorCode::invalid, "The value \"" + name + "\" has " + std::to_string(bytes) +
                                         " bytes; the working memory has at most " +
                                         std::to_string(limits_.bytes_max) +
                                         ". Store the value as a record.");
  }
  erase(name);
  entries_.push_back({name, std::move(value), bytes});
  index_.emplace(std::move(name), std::prev(entries_.end()));
  bytes_ += bytes;
  while (bytes_ > limits_.bytes_max || entries_.size() > limits_.entries_max) {
    remove(entries_.begin());
    ++evicted_;
  }
  return Done{};
}

const Value* WorkingMemory::get(std::string_view name) {
  auto found = index_.find(name);
  if (found == index_.end()) return nullptr;
  entries_.splice(entries_.end(), entries_, found->second);
  return &found->second->value;
}

bool WorkingMemory::erase(std::string_view name) {
  auto found = index_.find(name);
  if (found == index_.end()) return false;
  remove(found->second);
  return true;
}

void WorkingMemory::remove(Position position) {
  bytes_ -= position->bytes;
  index_.erase(position->name);
  entries_.erase(position);
}

Value WorkingMemory::dump() const {
  Value::Array entries;
  for (const Entry& entry : entries_) {
    entries.push_back(Value::object({{"name", entry.name}, {"value", entry.value}}));
  }
  return Value::object({{"evicted", evicted_}, {"entries", std::move(entries)}});
}

Result<Done> WorkingMemory::restore(const Value& dump) {
  WorkingMemory other(limits_);
  if (!dump.is_null()) {
    const Value::Array* entries = dump["entries"].as_array();
    auto evicted = dump["evicted"].as_uint();
    if (!entries || !evicted) return invalid_dump("expected \"entries\" and \"evicted\"");
    for (const Value& entry : *entries) {
      const std::string* name = entry["name"].as_string();
      const Value* value = entry.find("value");
      if (!name || !value) return invalid_dump("an entry has no \"name\" or no \"value\"");
      if (other.index_.contains(*name)) return invalid_dump("\"" + *name + "\" occurs twice");
      BELAY_CHECK(other.put(*name, *value));
    }
    other.evicted_ += *evicted;
  }
  entries_.swap(other.entries_);
  index_.swap(other.index_);
  std::swap(bytes_, other.bytes_);
  std::swap(evicted_, other.evicted_);
  return Done{};
}

}  // namespace belay::research
