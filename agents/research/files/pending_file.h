#pragma once
// agents/research/files/pending_file.h - PendingFile: a file that replaces another one when it is
// complete.
//
// Blocks. Used by one thread at a time.

#include <sys/types.h>

#include <cstdint>
#include <memory>
#include <string>
#include <string_view>

#include "belay/result.h"

namespace belay::research {

// Readers of the path see the former file or the new one, also after a crash, which can leave the
// temporary file ".NAME.XXXXXX" in the same folder. Errors are `unavailable`, with path and cause.
class PendingFile {
 public:
  // Creates the temporary file; its folder must exist.
  static Result<std::unique_ptr<PendingFile>> create(std::string path, mode_t mode = 0644);
  // For create(), which checks that the file exists.
  PendingFile(std::string path, mode_t mode);
  PendingFile(const PendingFile&) = delete;
  PendingFile& operator=(const PendingFile&) = delete;
  // Deletes the temporary file unless it replaced the other one.
  ~PendingFile();

  Result<Done> add(std::string_view bytes);
  // Removes all bytes that were added.
  Result<Done> restart();
  // Makes the file durable, and renames it to its path.
  Result<Done> replace();
  std::uint64_t bytes() const { return bytes_; }

 private:
  const std::string path_;
  const mode_t mode_;
  std::string temporary_;
  int file_ = -1;
  std::uint64_t bytes_ = 0;
  bool is_renamed_ = false;
};

}  // namespace belay::research
