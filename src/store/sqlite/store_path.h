#pragma once
// store/sqlite/store_path.h - computes the canonical path of a store.
//
// SQLite stores its log and its shared memory next to the file, at the file's path. Two paths to
// one file must therefore lead to one folder and one name in it: symbolic links are resolved, and a
// bind mount of the folder shows the same files. A second hard link, or a bind mount of the file
// alone, would create another log for the same pages; both are rejected.

#include <sys/types.h>

#include <optional>
#include <string>

#include "belay/result.h"

namespace belay::sqlite {

// Fails with `invalid` if the name is not that of a file: an empty name, a special name of SQLite,
// a URI.
Result<Done> check_store_name(const std::string& given);

// Returns the absolute path without symbolic links, for SQLite and for all files next to it. The
// file itself need not exist; its folder must. Fails with `invalid` if the path cannot name a
// store.
Result<std::string> store_path(const std::string& given);

// Identifies a file, whatever the path.
struct FileId {
  dev_t device = 0;
  ino_t inode = 0;
  friend bool operator==(const FileId&, const FileId&) = default;
};

// Returns nothing if the file does not exist.
Result<std::optional<FileId>> file_id(const std::string& path);

// `invalid` if another path leads to the same file but not to the same log.
Result<Done> check_only_name(const std::string& path);

}  // namespace belay::sqlite
