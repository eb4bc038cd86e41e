#pragma once
// store/sqlite/store_path.h - the one path of a store, whatever name it is opened by.
//
// SQLite keeps its log and its shared memory beside the file, by the file's path. Two paths to one
// file must therefore lead to one folder and one name in it: symbolic links are resolved, and a
// bind mount of the folder shows the same files. A second hard link and a bind mount of the file
// alone put another log beside the same pages; both are refused.

#include <sys/types.h>

#include <optional>
#include <string>

#include "belay/result.h"

namespace belay::sqlite {

// `invalid` for what names no file: nothing, a special name of SQLite, a URI.
Result<Done> check_store_name(const std::string& given);

// The absolute path without symbolic links, for SQLite and for everything beside it. The file
// itself need not exist; its folder must. `invalid` for a path that can't name a store.
Result<std::string> store_path(const std::string& given);

// Which file it is, by whatever path.
struct FileId {
  dev_t device = 0;
  ino_t inode = 0;
  friend bool operator==(const FileId&, const FileId&) = default;
};

// Nothing where there is no such file.
Result<std::optional<FileId>> file_id(const std::string& path);

// `invalid` where another path leads to the same file but not to the same log.
Result<Done> check_only_name(const std::string& path);

}  // namespace belay::sqlite
