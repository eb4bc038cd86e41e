#include "belay/collection.h"

#include "belay/limits.h"
#include "engine/checkpoint.h"

namespace belay {
namespace {

// The declarations are records of the tenant: the key is the collection, the value its indexes.
constexpr std::string_view declarations = "belay.collections";
constexpr std::size_t records_at_once = limits::bounded(100);

struct Declared {
  std::optional<std::string> indexes;  // nullopt: the declaration is not stored
  bool has_records = false;
};

Result<Declared> declared(Snapshot& view, const TenantId& tenant, const std::string& name) {
  Declared found;
  RecordQuery query;
  query.tenant = tenant;
  query.collection = declarations;
  query.key = name;
  BELAY_TRY(auto rows, view.records(query));
  if (!rows.empty()) {
    BELAY_TRY(std::string_view text, json_in_envelope(rows.front().envelope));
    BELAY_TRY(Value value, parse_json(text));
    const std::string* indexes = value["indexes"].as_string();
    found.indexes = indexes ? *indexes : std::string();
  }
  query.collection = name;
  query.key.clear();
  query.of_every_user = true;
  query.limit = 1;
  BELAY_TRY(rows, view.records(query));
  found.has_records = !rows.empty();
  return found;
}

Task<Result<CommitOutcome>> declare(Store& store, TenantId tenant, const CollectionType& type) {
  Commit commit;
  commit.tenant = std::move(tenant);
  RecordPut put;
  put.collection = declarations;
  put.key = type.name;
  put.envelope = json_envelope(to_json(Value::object({{"indexes", type.indexes}})));
  commit.rows.records.push_back(std::move(put));
  co_return co_await store.commit(std::move(commit));
}

std::string in_words(const std::string& indexes) {
  return indexes.empty() ? "no index" : "\"" + indexes + "\"";
}

Result<RecordPut> saved_again(const CollectionType& type, StoredRecord row) {
  RecordRow stored;
  BELAY_TRY(std::string_view json, json_in_envelope(row.envelope));
  stored.json = json;
  stored.collection = std::move(row.collection);
  stored.user = std::move(row.user);
  stored.key = std::move(row.key);
  BELAY_TRY(RecordWrite write, type.save(stored));
  RecordPut put = engine::record_put(std::move(write));
  put.expires_at = row.expires_at;
  put.expected_version = row.version;
  return put;
}

}  // namespace

Task<Result<Done>> open_collection(Store& store, TenantId tenant, CollectionType type) {
  BELAY_CO_CHECK(check_name("collection", type.name));
  std::function<Result<Declared>(Snapshot&)> reader = [tenant, name = type.name](Snapshot& view) {
    return declared(view, tenant, name);
  };
  BELAY_CO_TRY(Declared found, co_await read<Declared>(store, std::move(reader)));
  if (found.indexes == type.indexes) co_return Done{};
  if (found.has_records) {
    std::string stored = found.indexes ? in_words(*found.indexes) : "unknown indexes";
    co_return error(ErrorCode::invalid,
                    "The records of collection \"" + type.name + "\" were saved with " + stored +
                        "; the program declares " + in_words(type.indexes) +
                        ". Call reindex_collection() once, before the collection is used.");
  }
  BELAY_CO_CHECK(co_await declare(store, std::move(tenant), type));
  co_return Done{};
}

Task<Result<std::size_t>> reindex_collection(Store& store, TenantId tenant, CollectionType type) {
  std::size_t count = 0;
  RecordQuery query;
  query.tenant = tenant;
  query.collection = type.name;
  query.of_every_user = true;
  query.limit = records_at_once;
  while (true) {
    std::function<Result<std::vector<StoredRecord>>(Snapshot&)> reader = [query](Snapshot& view) {
      return view.records(query);
    };
    BELAY_CO_TRY(std::vector<StoredRecord> rows,
                 co_await read<std::vector<StoredRecord>>(store, std::move(reader)));
    if (rows.empty()) break;
    RecordQuery next = query;
    next.user = rows.back().user;
    next.after = rows.back().key;
    std::size_t on_page = rows.size();
    Commit commit;
    commit.tenant = tenant;
    for (StoredRecord& row : rows) {
      BELAY_CO_TRY(RecordPut put, saved_again(type, std::move(row)));
      commit.rows.records.push_back(std::move(put));
    }
    BELAY_CO_TRY(CommitOutcome outcome, co_await store.commit(std::move(commit)));
    // A record of the page was changed since the read: the page is read again.
    if (outcome != CommitOutcome::applied) continue;
    count += on_page;
    query = std::move(next);
  }
  BELAY_CO_CHECK(co_await declare(store, std::move(tenant), type));
  co_return count;
}

}  // namespace belay
