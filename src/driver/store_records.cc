// Reads records of a user from the store, and saves records outside of a run.

#include <algorithm>

#include "belay/limits.h"
#include "driver/run_driver.h"
#include "engine/checkpoint.h"

namespace belay {
namespace {

class StoreRecords final : public Records {
 public:
  StoreRecords(Store& store, Clock& clock, TenantId tenant, UserId user)
      : store_(store), clock_(clock), tenant_(std::move(tenant)), user_(std::move(user)) {}

  Task<Result<std::vector<RecordRow>>> find(RecordFilter filter) override {
    RecordQuery query;
    query.tenant = tenant_;
    if (!filter.is_of_tenant) {
      query.user = filter.user.empty() ? user_ : filter.user;
      BELAY_CO_CHECK(check_name("user of a record", query.user.text));
    }
    query.collection = std::move(filter.collection);
    query.key = std::move(filter.key);
    query.field = std::move(filter.field);
    query.value = std::move(filter.value);
    query.after = std::move(filter.after);
    query.limit = std::min(filter.limit, limits::list_rows_max);
    query.range = std::move(filter.range);
    query.now = clock_.now();
    std::function<Result<std::vector<RecordRow>>(Snapshot&)> reader =
        [query = std::move(query)](Snapshot& view) { return rows_of(view, query); };
    co_return co_await read<std::vector<RecordRow>>(store_, std::move(reader));
  }

 private:
  static Result<std::vector<RecordRow>> rows_of(Snapshot& view, const RecordQuery& query) {
    BELAY_TRY(auto stored, view.records(query));
    std::vector<RecordRow> rows;
    for (StoredRecord& each : stored) {
      BELAY_TRY(std::string_view json, json_in_envelope(each.envelope));
      RecordRow row;
      row.json = json;
      row.collection = std::move(each.collection);
      row.user = std::move(each.user);
      row.key = std::move(each.key);
      row.run = each.run;
      row.seq = each.seq;
      row.updated_at = each.updated_at;
      row.version = each.version;
      row.expires_at = each.expires_at;
      row.sort_value = std::move(each.sort_value);
      rows.push_back(std::move(row));
    }
    return rows;
  }

  Store& store_;
  Clock& clock_;
  TenantId tenant_;
  UserId user_;
};

}  // namespace

std::unique_ptr<Records> store_records(Store& store, Clock& clock, TenantId tenant, UserId user) {
  return std::make_unique<StoreRecords>(store, clock, std::move(tenant), std::move(user));
}

Task<Result<Done>> save_records(Store& store, TenantId tenant, std::vector<RecordWrite> records) {
  Commit commit;
  commit.tenant = std::move(tenant);
  for (RecordWrite& record : records) {
    if (!record.is_of_tenant) BELAY_CO_CHECK(check_name("user of a record", record.user.text));
    commit.rows.records.push_back(engine::record_put(std::move(record)));
  }
  auto outcome = co_await store.commit(std::move(commit));
  if (!outcome.ok()) co_return std::move(outcome).error();
  if (*outcome == CommitOutcome::record_changed) {
    co_return error(ErrorCode::conflict,
                    "A record was changed by another commit since it was read. Read it again.");
  }
  co_return Done{};
}

Task<Result<bool>> save_records_for(Store& store, const RunRow& run,
                                    std::vector<RecordWrite> records) {
  Commit commit;
  commit.tenant = run.tenant;
  commit.run_guard = RunGuard{run.epoch, run.seq, run.run};
  for (RecordWrite& record : records) {
    commit.rows.records.push_back(engine::record_put(std::move(record)));
  }
  auto outcome = co_await store.commit(std::move(commit));
  if (!outcome.ok()) co_return std::move(outcome).error();
  co_return *outcome == CommitOutcome::applied;
}

}  // namespace belay
