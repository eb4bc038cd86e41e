#pragma once
// store/sqlite/data_version.h - whether anybody, of this process or another, has changed the file.
//
// Asks SQLite's data_version (https://sqlite.org/pragma.html#pragma_data_version), which only says
// of one connection what others have done since it was asked last: so it has one of its own, made
// when it is asked first.
//
// Threading: any method from any thread.

#include <mutex>

#include "store/sqlite/connection.h"

namespace belay::sqlite {

class DataVersion {
 public:
  // `path` holds a store.
  explicit DataVersion(std::string path) : path_(std::move(path)) {}

  // Waits for nobody: nullopt where the file is locked, or can't be read.
  std::optional<std::uint64_t> look();

 private:
  const std::string path_;
  std::mutex mutex_;
  std::unique_ptr<Connection> connection_;  // protected by mutex_
};

}  // namespace belay::sqlite
