#pragma once
// goals/working_memory.h - the results that a planner has collected, and their bound in a prompt.
//
// An entry has the key step_{n}_{tool}_{i}: the step, the tool, and the index of the call in the
// step. Its value is the result, or a reference: {"result": id, "characters": n, "begin": text}.
// The tool read_result reads the result of a reference.

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace belay::goals {

inline constexpr std::int64_t kLargeResult = 4'000;         // characters; longer: a reference
inline constexpr std::int64_t kBeginCharacters = 500;       // of a reference
inline constexpr std::size_t kMemoryBytesMax = 64 * 1024;   // in a prompt
inline constexpr std::size_t kCarriedBytesMax = 16 * 1024;  // part of it, of the last run
inline constexpr std::int64_t kCarriedSummaryMax = 4'000;   // characters

inline constexpr std::string_view kSummaryKey = "summary";  // of the entry that a run adds last

struct MemoryEntry {
  std::string key{};
  std::string text{};           // the value; of a reference, the beginning of the result
  std::string result{};         // of a reference: the id of the result
  std::int64_t characters = 0;  // of the result
};

// The memory that the last run of a goal has left.
struct LastRun {
  std::string summary{};
  std::vector<MemoryEntry> entries{};
  std::int64_t omitted = 0;
};

std::string memory_key(int step, std::string_view tool, std::size_t index);

// Returns the working memory as a JSON object with one entry per line, oldest first. `omitted`:
// the number of older entries that were dropped.
std::string memory_json(const std::vector<MemoryEntry>& entries, std::int64_t omitted,
                        const LastRun& last);

// The id of the result of a reference, and its value.
struct MovedResult {
  std::string id;
  std::string text;
};
struct FittedMemory {
  std::vector<MemoryEntry> entries;
  std::int64_t omitted = 0;
  std::vector<MovedResult> moved;  // values that are now references: save them
};

// Bounds the entries: within `bytes_max`, the oldest values become references with the id
// `id_prefix` + key; then the oldest references lose their beginnings; then the oldest entries are
// omitted.
FittedMemory fit_memory(std::vector<MemoryEntry> entries, std::int64_t omitted,
                        std::size_t bytes_max, const std::string& id_prefix);

// Returns the bytes that remain for the entries of a run.
std::size_t bytes_beside(const LastRun& last);

// Returns whether the memory has a reference with this id.
bool has_reference(const std::vector<MemoryEntry>& entries, std::string_view id);

}  // namespace belay::goals
