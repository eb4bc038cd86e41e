#pragma once
// agents/research/checkpoints/checkpoint_options.h - the options of checkpoints: whether they are
// saved, the cache, how long they are kept, and the bounds of one page of a cleanup.

#include <chrono>
#include <cstddef>

#include "belay/limits.h"

namespace belay::research {

struct CheckpointOptions {
  // False: nothing is saved and nothing is restored; an agent that fails starts again with its
  // first subtask, and its progress states that.
  bool enabled = true;

  std::chrono::milliseconds cache_ttl = std::chrono::hours(24 * 7);
  // A cache that has not replied by then is not used for this restore.
  std::chrono::milliseconds cache_wait{50};
  std::size_t restores_at_once = limits::bounded(16);  // of one restore_all()

  // Since an agent's last checkpoint, or since the failure of its analysis.
  std::chrono::hours kept{24 * 30};
  // After a success, checkpoints are moved to the archive instead of deleted.
  bool archive = false;
  std::size_t heads_per_page = limits::bounded(50, 2);   // read by one page of a sweep
  std::size_t rows_per_commit = limits::bounded(32, 2);  // checkpoints removed by one commit
};

}  // namespace belay::research
