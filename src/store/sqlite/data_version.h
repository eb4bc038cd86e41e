#pragma once
// store/sqlite/data_version.h - detects changes of the file by this process or another.
//
// Reads SQLite's data_version (https://sqlite.org/pragma.html#pragma_data_version), which reports
// to a connection only the changes by other connections. Therefore it has its own connection, which
// writes nothing; it is opened at the first call.
//
// Threading: any method from any thread.

#include <mutex>

#include "store/sqlite/connection.h"

namespace belay::sqlite {

class DataVersion {
 public:
  // REQUIRES: `path` is a store.
  explicit DataVersion(std::string path) : path_(std::move(path)) {}

  // Returns the current version without waiting; nullopt if the file is locked or cannot be read.
  std::optional<std::uint64_t> look();

 private:
  const std::string path_;
  std::mutex mutex_;
  std::unique_ptr<Connection> connection_;  // protected by mutex_
};

}  // namespace belay::sqlite
