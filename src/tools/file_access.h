#pragma once
// tools/file_access.h - reads and writes the files of one run, by paths that a model chooses.
//
// A call holds an open directory, and every path is resolved beneath it: a check of the path's text
// followed by an open of the same text would be a race. Threading: calls block, and can be made
// from any thread; writes to one folder exclude each other, also those of other processes (flock).

#include <cstdint>
#include <string>
#include <string_view>

#include "belay/result.h"
#include "tools/beneath.h"

namespace belay::tools {

struct FileLimits {
  std::uint64_t bytes_max = 0;  // of all files
  std::uint64_t files_max = 0;  // files and folders
  std::uint64_t file_bytes_max = 0;
};

struct FileText {
  std::string text;
  std::uint64_t begin = 0;  // offset of the text
  std::uint64_t size = 0;   // of the file
};

class FileAccess {
 public:
  // `folder` is a component below `root`, or empty: `root` itself.
  FileAccess(std::string root, std::string folder, FileLimits limits,
             Resolution resolution = Resolution::kernel)
      : root_(std::move(root)),
        folder_(std::move(folder)),
        limits_(limits),
        resolution_(resolution) {}

  // Creates or replaces the file, and the folders of its path: after a crash, the file has the old
  // text or the new one.
  Result<Done> write(const std::string& path, std::string_view text) const;

  // Returns at most `length` bytes (or one character, if it is longer) from `offset` on, without
  // incomplete characters at both ends.
  Result<FileText> read(const std::string& path, std::uint64_t offset, std::uint64_t length) const;

 private:
  struct Target {
    std::uint64_t missing = 0;  // entries that a write creates: the file, and folders of its path
    std::uint64_t bytes = 0;    // of the existing file
  };

  Result<Descriptor> open_folder(bool creates) const;
  Result<Target> find_target(int folder, const std::string& path) const;
  Result<Done> check_quota(int folder, const std::string& path, const Target& target,
                           std::uint64_t bytes) const;
  Result<Descriptor> open_parent(int folder, const std::string& path) const;
  Result<Done> replace(int parent, const std::string& path, std::string_view text) const;

  std::string root_;
  std::string folder_;
  FileLimits limits_;
  Resolution resolution_;
};

}  // namespace belay::tools
