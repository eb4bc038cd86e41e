#include "store/sqlite/data_version.h"

namespace belay::sqlite {

std::optional<std::uint64_t> DataVersion::look() {
  std::lock_guard lock(mutex_);
  if (!connection_) {
    auto opened = Connection::open(path_, Connection::Mode::read_write);
    if (!opened.ok()) return std::nullopt;
    (*opened)->wait_for_others(std::chrono::milliseconds(0));
    if (!(*opened)->execute("PRAGMA query_only = ON; PRAGMA trusted_schema = OFF").ok()) {
      return std::nullopt;
    }
    connection_ = *std::move(opened);
  }
  auto query = connection_->prepare("PRAGMA data_version");
  if (!query.ok() || query->step() != Statement::Step::row) return std::nullopt;
  return query->natural(0);
}

}  // namespace belay::sqlite
