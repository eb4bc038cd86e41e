#include "store/sqlite/sqlite_store.h"

#include "store/commit_check.h"
#include "store/sqlite/data_version.h"
#include "store/sqlite/maintenance.h"
#include "store/sqlite/reader_pool.h"
#include "store/sqlite/schema.h"
#include "store/sqlite/sessions.h"
#include "store/sqlite/store_path.h"
#include "store/sqlite/writer.h"

namespace belay::sqlite {
namespace {

class SqliteStore final : public Store {
 public:
  SqliteStore(std::string path, std::unique_ptr<Connection> connection,
              std::unique_ptr<Sessions> sessions, std::unique_ptr<ReaderPool> readers, Clock& clock,
              Random& random, SqliteStoreOptions options)
      : path_(path),
        clock_(clock),
        random_(random),
        sessions_(std::move(sessions)),
        readers_(std::move(readers)),
        is_on_one_thread_(options.run_later != nullptr),
        data_version_(path),
        writer_(std::move(path), std::move(connection), clock, std::move(options)) {}

  Task<Result<CommitOutcome>> commit(Commit commit) override {
    BELAY_CO_CHECK(store::check_commit(commit));
    Writer::Answer answer;
    writer_.push(std::move(commit), answer);
    co_return co_await answer;
  }

  bool accepts_commits() const override { return !writer_.is_lost(); }

  Task<Result<Done>> read(Reader reader) override {
    ReaderPool::Answer answer;
    readers_->push(std::move(reader), answer);
    co_return co_await answer;
  }

  // With run_later, all reads of the file must be passed to it: no token then.
  std::optional<std::uint64_t> change_token() override {
    return is_on_one_thread_ ? std::nullopt : data_version_.look();
  }

  Result<SessionId> open_session() override {
    SessionId session(random_uuid(random_));
    auto opened = writer_.perform([&](Connection& connection) {
      return sessions_->insert(connection, session, clock_.now());
    });
    if (opened.ok()) return session;
    sessions_->release(session);
    return std::move(opened).error();
  }

  void close_session(const SessionId& session) override { sessions_->release(session); }

  Result<bool> is_alive(const SessionId& session) override { return sessions_->is_alive(session); }

  Result<StoreStatistics> statistics() override { return statistics_of(path_); }
  Result<Done> compact() override { return compact_file(path_); }

 private:
  const std::string path_;
  Clock& clock_;
  Random& random_;
  std::unique_ptr<Sessions> sessions_;
  std::unique_ptr<ReaderPool> readers_;
  const bool is_on_one_thread_;
  DataVersion data_version_;
  Writer writer_;  // last: its destructor still writes commits, and uses the other members
};

Result<Done> prune_sessions(Connection& connection, Sessions& sessions) {
  BELAY_TRY(std::int64_t unused,
            connection.number("SELECT count(*) FROM sessions WHERE wrote = 0"));
  if (unused == 0) return Done{};
  BELAY_CHECK(connection.execute("BEGIN IMMEDIATE"));
  auto pruned = sessions.prune(connection);
  if (pruned.ok()) pruned = connection.execute("COMMIT");
  if (!pruned.ok() && connection.in_transaction()) (void)connection.execute("ROLLBACK");
  return pruned;
}

}  // namespace

Result<std::unique_ptr<Store>> open_sqlite_store(const std::string& given, Clock& clock,
                                                 Random& random, SqliteStoreOptions options) {
  BELAY_TRY(std::string path, store_path(given));
  BELAY_TRY(auto connection, open_store_file(path, clock));
  BELAY_TRY(auto sessions, Sessions::open(path));
  (void)prune_sessions(*connection, *sessions);  // a failure is ignored: old rows have no effect
  BELAY_TRY(auto readers, ReaderPool::open(path, options.run_later));
  std::unique_ptr<Store> store =
      std::make_unique<SqliteStore>(path, std::move(connection), std::move(sessions),
                                    std::move(readers), clock, random, std::move(options));
  return store;
}

}  // namespace belay::sqlite

namespace belay {

Result<std::unique_ptr<Store>> open_sqlite_store(const std::string& path, Clock& clock,
                                                 Random& random) {
  return sqlite::open_sqlite_store(path, clock, random, {});
}

}  // namespace belay
