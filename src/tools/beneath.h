#pragma once
// tools/beneath.h - opens files beneath a folder, without links and mount points.

#include <string>

#include "tools/descriptor.h"

namespace belay::tools {

// The part of the system that refuses a path which leaves the folder.
enum class Resolution {
  kernel,      // openat2(); `components` if the kernel or a seccomp filter does not permit it
  components,  // one openat() with O_NOFOLLOW for each component
};

struct Opened {
  Descriptor file;
  int fault = 0;  // errno; ELOOP for a link, EXDEV for a path that leaves the folder
};

// Opens `path` beneath the open directory `folder`. Adds O_NOFOLLOW, O_CLOEXEC and, unless `flags`
// contain O_PATH, O_NONBLOCK, so that a FIFO does not block. A new file has mode 0600.
Opened open_beneath(int folder, const std::string& path, int flags, Resolution resolution);

}  // namespace belay::tools
