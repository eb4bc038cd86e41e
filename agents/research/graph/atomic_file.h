#pragma once
// agents/research/graph/atomic_file.h - writes a whole file or nothing.
//
// Blocks: call it on the blocking pool. Thread-safe.

#include <string>
#include <string_view>

#include "belay/result.h"

namespace belay::research {

// Writes a file as PendingFile does (files/pending_file.h), with mode 0600. Creates the last folder
// of the path.
Result<Done> write_atomically(const std::string& path, std::string_view bytes);

}  // namespace belay::research
