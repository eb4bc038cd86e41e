#include "store/postgres/postgres_store.h"

#include <algorithm>

#include "belay/limits.h"
#include "store/commit_check.h"
#include "store/postgres/maintenance.h"
#include "store/postgres/reader_pool.h"
#include "store/postgres/schema.h"
#include "store/postgres/sessions.h"
#include "store/postgres/writer.h"

namespace belay::postgres {
namespace {

class PostgresStore final : public Store {
 public:
  PostgresStore(Address address, std::unique_ptr<Connection> connection, Clock& clock,
                Random& random, PostgresStoreOptions options)
      : address_(address),
        clock_(clock),
        random_(random),
        sessions_(address, haste_, std::move(options.session_name)),
        readers_(address, haste_),
        writer_(std::move(address), std::move(connection), haste_, clock, std::move(options)) {}

  Task<Result<CommitOutcome>> commit(Commit commit) override {
    BELAY_CO_CHECK(store::check_commit(commit));
    Writer::Answer answer;
    writer_.push(std::move(commit), answer);
    co_return co_await answer;
  }

  bool may_call_out() const override {
    return 3 * sessions_.silent_for() < 2 * address_.session_expiry;
  }

  void hurry(bool is_so) override { haste_->set(is_so); }

  Task<Result<Done>> read(Reader reader) override {
    ReaderPool::Answer answer;
    readers_.push(std::move(reader), answer);
    co_return co_await answer;
  }

  Task<Result<std::vector<RunRow>>> claim(ClaimFilter filter) override {
    filter.limit = std::min(filter.limit, limits::claim_max);
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
  const Address address_;
  const std::shared_ptr<Haste> haste_ = std::make_shared<Haste>();
  Clock& clock_;
  Random& random_;
  Sessions sessions_;
  ReaderPool readers_;
  Writer writer_;  // last: what it still carries out may use the rest
};

}  // namespace

Result<std::unique_ptr<Store>> open_postgres_store(const std::string& url, Clock& clock,
                                                   Random& random, PostgresStoreOptions options) {
  BELAY_TRY(Address address, address_from(url));
  BELAY_TRY(auto connection, Connection::open(address));
  BELAY_CHECK(prepare_schema(*connection, address, options.migration_locks));
  (void)Sessions::prune(*connection);  // a row too many harms nobody
  std::unique_ptr<Store> store = std::make_unique<PostgresStore>(
      std::move(address), std::move(connection), clock, random, std::move(options));
  return store;
}

}  // namespace belay::postgres

namespace belay {

Result<std::unique_ptr<Store>> open_postgres_store(const std::string& url, Clock& clock,
                                                   Random& random) {
  return postgres::open_postgres_store(url, clock, random, {});
}

}  // namespace belay
