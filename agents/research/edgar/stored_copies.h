#pragma once
// agents/research/edgar/stored_copies.h - StoredCopies: when the files of a data folder were
// fetched, in edgar/fetched.json.
//
// Files without an entry, or with another size than that of their entry, are fetched again. Blocks.

#include <chrono>
#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "belay/clock.h"
#include "belay/result.h"
#include "belay/value.h"

namespace belay::research {

// Read by the JSON codec.
struct StoredCopy {
  std::string url{};
  std::string etag{};          // of the response; empty: it had none
  std::string lastModified{};  // likewise
  Instant checkedAt{};         // when the server last confirmed the copy
  std::uint64_t bytes = 0;     // of the file
};

struct StoredCopiesFile {
  std::map<std::string, StoredCopy> files{};  // by path below edgar/
};

class StoredCopies {
 public:
  // Reads edgar/fetched.json of `folder`, and creates the folders that do not exist. A file that is
  // not such a file is replaced: its contents only save requests.
  static Result<StoredCopies> open(std::string folder);

  // Returns the path of a file below edgar/.
  std::string path_of(const std::string& name) const;
  // Returns the entry of a file that exists with the size of the entry, and is from `url`.
  std::optional<StoredCopy> find(const std::string& name, const std::string& url) const;
  // Adds or replaces an entry, durably.
  Result<Done> note(const std::string& name, StoredCopy copy);

 private:
  explicit StoredCopies(std::string folder) : folder_(std::move(folder)) {}

  std::string folder_;
  StoredCopiesFile copies_;
};

// Returns whether the server confirmed the copy less than `age_max` before `now`. A time in the
// future is not fresh: the clock was set back.
bool is_fresh(const StoredCopy& copy, Instant now, std::chrono::milliseconds age_max);

}  // namespace belay::research
