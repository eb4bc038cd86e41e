#include "agents/goals/working_memory.h"

#include <algorithm>
#include <utility>

#include "agents/goals/characters.h"
#include "belay/value.h"

namespace belay::goals {
namespace {

// Braces, and the counts of omitted entries.
constexpr std::size_t kFrameBytes = 128;
// Indentation, a comma and a line break, of one entry.
constexpr std::size_t kLineBytes = 8;

// Returns a result that is a JSON object or array unchanged, any other text as a JSON string.
std::string value_json(std::string_view text) {
  bool may_be_json = text.starts_with('{') || text.starts_with('[');
  if (may_be_json) {
    auto value = parse_json(text);
    if (value.ok()) return to_json(*value);
  }
  std::string json;
  write_json_string(text, json);
  return json;
}

std::string entry_json(const MemoryEntry& entry) {
  if (entry.result.empty()) return value_json(entry.text);
  Value::Object reference{{"result", entry.result}, {"characters", entry.characters}};
  if (!entry.text.empty()) reference.emplace("begin", entry.text);
  return to_json(Value(std::move(reference)));
}

void add_line(std::string& json, std::string_view indent, std::string_view key,
              std::string_view value) {
  json += json.ends_with('{') ? "\n" : ",\n";
  json += indent;
  write_json_string(key, json);
  json += ": ";
  json += value;
}

std::string object_json(const std::vector<MemoryEntry>& entries, std::int64_t omitted,
                        std::string_view indent, std::string json) {
  if (omitted > 0) add_line(json, indent, "omitted", std::to_string(omitted));
  for (const MemoryEntry& entry : entries) add_line(json, indent, entry.key, entry_json(entry));
  return json;
}

std::string last_json(const LastRun& last) {
  std::string json = "{";
  add_line(json, "    ", "summary", value_json(last.summary));
  return object_json(last.entries, last.omitted, "    ", std::move(json)) + "\n  }";
}

bool is_empty(const LastRun& last) {
  return last.summary.empty() && last.entries.empty() && last.omitted == 0;
}

std::size_t bytes_of(const MemoryEntry& entry) {
  return entry.key.size() + entry_json(entry).size() + kLineBytes;
}

// The entries with their sizes, while they are made smaller.
class Shrinking {
 public:
  Shrinking(std::vector<MemoryEntry> entries, std::size_t bytes_max)
      : entries_(std::move(entries)), bytes_max_(bytes_max) {
    for (const MemoryEntry& entry : entries_) total_ += sizes_.emplace_back(bytes_of(entry));
  }

  bool fits() const { return total_ + kFrameBytes <= bytes_max_; }
  std::vector<MemoryEntry>& entries() { return entries_; }

  // Replaces the entry unless the other one is as large.
  bool replace(std::size_t index, MemoryEntry other) {
    std::size_t size = bytes_of(other);
    if (size >= sizes_[index]) return false;
    total_ -= sizes_[index] - size;
    sizes_[index] = size;
    entries_[index] = std::move(other);
    return true;
  }

  // Drops the oldest entries; returns their number.
  std::int64_t drop_oldest() {
    std::size_t count = 0;
    while (count < entries_.size() && !fits()) total_ -= sizes_[count++];
    entries_.erase(entries_.begin(), entries_.begin() + static_cast<std::ptrdiff_t>(count));
    return static_cast<std::int64_t>(count);
  }

 private:
  std::vector<MemoryEntry> entries_;
  std::vector<std::size_t> sizes_;
  std::size_t bytes_max_;
  std::size_t total_ = 0;
};

}  // namespace

std::string memory_key(int step, std::string_view tool, std::size_t index) {
  return "step_" + std::to_string(step) + "_" + std::string(tool) + "_" + std::to_string(index);
}

std::string memory_json(const std::vector<MemoryEntry>& entries, std::int64_t omitted,
                        const LastRun& last) {
  std::string json = "{";
  if (!is_empty(last)) add_line(json, "  ", "last_run", last_json(last));
  json = object_json(entries, omitted, "  ", std::move(json));
  return json + (json.size() > 1 ? "\n}" : "}");
}

FittedMemory fit_memory(std::vector<MemoryEntry> entries, std::int64_t omitted,
                        std::size_t bytes_max, const std::string& id_prefix) {
  FittedMemory fitted;
  Shrinking all(std::move(entries), bytes_max);
  for (std::size_t i = 0; i < all.entries().size() && !all.fits(); ++i) {
    MemoryEntry old = all.entries()[i];
    if (!old.result.empty()) continue;
    MemoryEntry reference{old.key, first_characters(old.text, kBeginCharacters),
                          id_prefix + old.key, count_characters(old.text)};
    std::string id = reference.result;
    if (!all.replace(i, std::move(reference))) continue;
    fitted.moved.push_back({std::move(id), std::move(old.text)});
  }
  for (std::size_t i = 0; i < all.entries().size() && !all.fits(); ++i) {
    MemoryEntry bare = all.entries()[i];
    if (bare.result.empty()) continue;
    bare.text.clear();
    all.replace(i, std::move(bare));
  }
  fitted.omitted = omitted + all.drop_oldest();
  fitted.entries = std::move(all.entries());
  return fitted;
}

std::size_t bytes_beside(const LastRun& last) {
  std::size_t used = is_empty(last) ? 0 : last_json(last).size() + kFrameBytes;
  return kMemoryBytesMax - std::min(used, kMemoryBytesMax);
}

bool has_reference(const std::vector<MemoryEntry>& entries, std::string_view id) {
  return std::any_of(entries.begin(), entries.end(), [&](const MemoryEntry& entry) {
    return !entry.result.empty() && entry.result == id;
  });
}

}  // namespace belay::goals
