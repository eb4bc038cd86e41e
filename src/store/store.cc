#include "belay/store.h"

namespace belay {

void Store::set_shutting_down(bool) {}

Result<StoreStatistics> Store::statistics() {
  return error(ErrorCode::invalid, "This store does not count what it holds.");
}

Result<Done> Store::compact() {
  return error(ErrorCode::invalid, "This store does not support compaction.");
}

}  // namespace belay
