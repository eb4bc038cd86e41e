#pragma once
// base/write_all.h - writes a text to a file descriptor, in as many calls as that needs.

#include <unistd.h>

#include <cerrno>
#include <string_view>

namespace belay {

// Returns 0, or the errno of the failed write.
inline int write_all(int file, std::string_view text) {
  while (!text.empty()) {
    ssize_t written = ::write(file, text.data(), text.size());
    if (written < 0 && errno == EINTR) continue;
    if (written < 0) return errno;
    text.remove_prefix(static_cast<std::size_t>(written));
  }
  return 0;
}

}  // namespace belay
