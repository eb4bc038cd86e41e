#pragma once
// agents/research/graph/atomic_file.h - writes a whole file or nothing.
//
// Blocks: call it on the blocking pool. Thread-safe.

#include <string>
#include <string_view>

#include "belay/result.h"

namespace belay::research {

// Writes a temporary file in the folder of `path`, makes it durable, and renames it to `path`:
// readers see the former file or the new one, also after a crash, which can leave the temporary
// file
// ".NAME.XXXXXX". Creates the last folder of the path. The file has mode 0600. Fails with
// `unavailable`; the message names the path and the cause.
Result<Done> write_atomically(const std::string& path, std::string_view bytes);

}  // namespace belay::research
