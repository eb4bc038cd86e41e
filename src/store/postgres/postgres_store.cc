#include "store/postgres/postgres_store.h"

#include <algorithm>

#include "belay/limits.h"
#include "store/commit_check.h"
#include "store/commit_weight.h"
#include "store/postgres/maintenance.h"
#include "store/postgres/reader_pool.h"
#include "store/postgres/schema.h"
#include "store/postgres/server_clock.h"
#include "store/postgres/sessions.h"
#include "store/postgres/writer.h"

namespace belay::postgres {
namespace {

class PostgresStore final : public Store {
 public:
  PostgresStore(Address address, std::unique_ptr<Connection> connection,
                std::unique_ptr<ServerClock> server_clock, Clock& clock, Random& random,
                PostgresStoreOptions options)
      : address_(address),
        clock_(clock),
        has_own_clock_(options.expiry_clock == nullptr),
        statement_bytes_max_(options.statement_bytes_max),
        server_clock_(std::move(server_clock)),
        random_(random),
        sessions_(address, haste_, std::move(options.session_name), *server_clock_),
        readers_(address, haste_),
        writer_(std::move(address), std::move(connection), haste_, clock, std::move(options)) {}

  Task<Result<CommitOutcome>> commit(Commit commit) override {
    BELAY_CO_CHECK(store::check_commit(commit));
    // Checked before queueing: the server would close the connection and delay all other commits.
    BELAY_CO_CHECK(check_size(commit));
    Writer::Answer answer;
    writer_.push(std::move(commit), answer);
    co_return co_await answer;
  }

  Clock* clock() override { return has_own_clock_ ? server_clock_.get() : nullptr; }

  bool lease_is_fresh() const override {
    return 3 * sessions_.silent_for() < 2 * address_.session_expiry;
  }

  void set_shutting_down(bool is_so) override { haste_->set(is_so); }

  Task<Result<Done>> read(Reader reader) override {
    ReaderPool::Answer answer;
    readers_.push(std::move(reader), answer);
    co_return co_await answer;
  }

  Task<Result<std::vector<RunRow>>> poll_runs(PollFilter filter) override {
    filter.limit = std::min(filter.limit, limits::poll_batch_max);
    auto offered = std::make_shared<std::vector<RunRow>>();
    ReaderPool::Answer answer;
    readers_.push_claim(std::move(filter), offered, answer);
    auto claimed = co_await answer;
    if (!claimed.ok()) co_return std::move(claimed).error();
    co_return std::move(*offered);
  }

  Result<SessionId> open_session() override {
    SessionId session(random_uuid(random_));
    BELAY_CHECK(sessions_.insert(session, clock_.now()));
    return session;
  }
  void close_session(const SessionId& session) override { sessions_.release(session); }
  Result<bool> is_alive(const SessionId& session) override { return sessions_.is_alive(session); }

  Result<StoreStatistics> statistics() override { return statistics_of(address_); }
  Result<Done> compact() override { return belay::postgres::compact(address_); }

 private:
  Result<Done> check_size(const Commit& commit) const {
    std::size_t bytes = store::largest_table_of(commit);
    if (bytes <= statement_bytes_max_) return Done{};
    return error(ErrorCode::invalid, "A commit has " + std::to_string(bytes) +
                                         " bytes for one table; the maximum of PostgreSQL is " +
                                         std::to_string(statement_bytes_max_) +
                                         ". Write less data per node.");
  }

  const Address address_;
  const std::shared_ptr<ShutdownDeadline> haste_ = std::make_shared<ShutdownDeadline>();
  Clock& clock_;
  const bool has_own_clock_;  // false if a test has set expiry_clock
  const std::size_t statement_bytes_max_;
  const std::unique_ptr<ServerClock> server_clock_;
  Random& random_;
  Sessions sessions_;
  ReaderPool readers_;
  Writer writer_;  // last: its destructor still writes commits, and uses the other members
};

Result<std::unique_ptr<ServerClock>> clock_of(Connection& connection, Clock& own) {
  auto clock = std::make_unique<ServerClock>(own);
  Instant before = own.now();
  BELAY_TRY(Rows row, connection.query("SELECT clock_timestamp()"));
  clock->learn(before, row.instant(0, 0), own.now());
  return clock;
}

}  // namespace

Result<std::unique_ptr<Store>> open_postgres_store(const std::string& url, Clock& clock,
                                                   Random& random, PostgresStoreOptions options) {
  BELAY_TRY(Address address, address_from(url));
  BELAY_TRY(auto connection, Connection::open(address));
  BELAY_CHECK(prepare_schema(*connection, address, options.migration_locks));
  (void)Sessions::prune(*connection);  // a failure is ignored: old rows have no effect
  BELAY_TRY(auto server_clock, clock_of(*connection, clock));
  std::unique_ptr<Store> store =
      std::make_unique<PostgresStore>(std::move(address), std::move(connection),
                                      std::move(server_clock), clock, random, std::move(options));
  return store;
}

}  // namespace belay::postgres

namespace belay {

Result<std::unique_ptr<Store>> open_postgres_store(const std::string& url, Clock& clock,
                                                   Random& random) {
  return postgres::open_postgres_store(url, clock, random, {});
}

}  // namespace belay
