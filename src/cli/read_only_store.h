#pragma once
// cli/read_only_store.h - opens a store without changing it: no migration, no session, no commit.

#include <memory>
#include <string>

#include "belay/store.h"
#include "store/sqlite/connection.h"

namespace belay::cli {

// A Store over a connection that only reads.
class ReadOnlyStore final : public Store {
 public:
  explicit ReadOnlyStore(std::unique_ptr<sqlite::Connection> connection);
  ~ReadOnlyStore() override;

  Task<Result<CommitOutcome>> commit(Commit) override;
  Task<Result<Done>> read(Reader reader) override;
  Result<SessionId> open_session() override;
  void close_session(const SessionId&) override {}
  Result<bool> is_alive(const SessionId&) override;

 private:
  std::unique_ptr<sqlite::Connection> connection_;
};

// Opens the store of this name, which must exist with the schema of this program: another one would
// have to be migrated first. `invalid` otherwise. A store on PostgreSQL must only be read.
Result<std::unique_ptr<Store>> open_unchanged(const std::string& store, Clock& clock,
                                              Random& random);

}  // namespace belay::cli
