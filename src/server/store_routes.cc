// Routes of the store: statistics, maintenance, check, and records.

#include "server/body.h"
#include "server/routes.h"

namespace belay::server {
// Bodies of requests. Not in the unnamed namespace below, because the codec reads the names of
// their members.

struct PruneBody {
  std::optional<std::int64_t> keepHours;
  std::optional<bool> dryRun;
};

struct IndexedBody {
  std::string name;
  std::string value;
};

struct RecordBody {
  std::string collection;
  std::string key;
  std::string json;
  std::vector<IndexedBody> indexed;
  bool erase = false;
  std::optional<std::uint64_t> expectedVersion;
};

struct RecordsBody {
  std::vector<RecordBody> records;
  std::optional<std::string> userId;
};

namespace {

constexpr std::int64_t kKeepHoursMax = 24 * 36'500;

Route administering(std::string method, std::string path, std::string id, std::string summary) {
  Route route = route_of(std::move(method), std::move(path), std::move(id), std::move(summary));
  route.permission = Permission::administer;
  return route;
}

Route show_store() {
  Route route = administering("GET", "/api/store", "getStore", "Rows and bytes per table");
  route.answers = {{200, "The tables", "Store"}};
  route.handle = [](Call call) -> Task<Result<Reply>> {
    BELAY_CO_TRY(StoreStatistics found, co_await call.service.statistics(call.who));
    co_return reply_with(statistics_document(found));
  };
  return route;
}

Route compact_store() {
  Route route = administering("POST", "/api/store/compact", "compactStore",
                              "Return of unused space to the file system");
  route.body = empty_body_schema();
  route.answers = {{200, "Size before and after", "Compaction"}};
  route.handle = [](Call call) -> Task<Result<Reply>> {
    BELAY_CO_TRY(Compaction done, co_await call.service.compact(call.who));
    co_return reply_with(compaction_document(done));
  };
  return route;
}

Route prune_store() {
  Route route = administering("POST", "/api/store/prune", "pruneStore",
                              "Deletion of threads that ended long ago");
  route.body = body_schema<PruneBody>();
  route.answers = {{200, "The number of deleted rows", "Pruning"}};
  route.handle = [](Call call) -> Task<Result<Reply>> {
    BELAY_CO_TRY(PruneBody body, read_body<PruneBody>(call));
    RetentionPolicy policy;
    policy.dry_run = body.dryRun.value_or(false);
    std::int64_t hours = body.keepHours.value_or(policy.keep_finished.count());
    BELAY_CO_CHECK(within("keepHours", hours, 0, kKeepHoursMax));
    policy.keep_finished = std::chrono::hours(hours);
    BELAY_CO_TRY(Pruning done, co_await call.service.prune(call.who, policy));
    co_return reply_with(pruning_document(done));
  };
  return route;
}

Route check_store() {
  Route route = administering("POST", "/api/store/check", "checkStore",
                              "Check of all rules over the whole store");
  route.body = empty_body_schema();
  route.answers = {{200, "The violations", "Check"}};
  route.handle = [](Call call) -> Task<Result<Reply>> {
    BELAY_CO_TRY(CheckReport report, co_await call.service.check(call.who));
    co_return reply_with(check_document(report));
  };
  return route;
}

std::string text_in(const StringMap& query, std::string_view name) {
  auto found = query.find(name);
  return found == query.end() ? std::string() : found->second;
}

Result<Value> record_document(const RecordRow& row) {
  BELAY_TRY(Value json, parse_json(row.json));
  return Value::object({{"collection", row.collection},
                        {"userId", row.user.text},
                        {"key", row.key},
                        {"value", std::move(json)},
                        {"runId", row.run.is_null() ? Value() : Value(row.run.text())},
                        {"seq", row.seq},
                        {"updatedAt", to_text(row.updated_at)},
                        {"version", row.version},
                        {"sortValue", row.sort_value.empty() ? Value() : Value(row.sort_value)}});
}

// Returns the range of a query for an ordered index; nullopt for another field.
std::optional<RecordRange> range_in(const StringMap& query, std::string_view field) {
  if (!field.starts_with("order:")) return std::nullopt;
  RecordRange range;
  range.from = text_in(query, "from");
  range.until = text_in(query, "until");
  range.is_descending = bool_parameter(query, "descending");
  range.after = text_in(query, "afterValue");
  return range;
}

Route find_records() {
  Route route =
      route_of("GET", "/api/records/{collection}", "findRecords", "A user's records, by key");
  Value text = Value::object({{"type", "string"}});
  route.parameters = {
      owner_parameter(),
      query_parameter("key", "Only this key", text),
      query_parameter("field",
                      "Indexed field, together with `value`, or ordered index, as "
                      "`order:NAME`",
                      text),
      query_parameter("value", "Value of `field`", text),
      query_parameter("from", "Of an ordered index: only `sortValue`s from this on", text),
      query_parameter("until", "The same: only `sortValue`s before this", text),
      query_parameter("descending", "The same: true for the last ones first",
                      Value::object({{"type", "boolean"}})),
      query_parameter("after", "Only keys after this one", text),
      query_parameter("afterValue",
                      "Of an ordered index, together with `after`: the `sortValue` "
                      "of that key",
                      std::move(text)),
      limit_parameter(kListMax, kListMax)};
  route.answers = {{200, "Records", "RecordList"}};
  route.handle = [](Call call) -> Task<Result<Reply>> {
    RecordFilter filter;
    filter.collection = call.path.at("collection");
    filter.key = text_in(call.query, "key");
    filter.field = text_in(call.query, "field");
    filter.value = text_in(call.query, "value");
    filter.after = text_in(call.query, "after");
    filter.range = range_in(call.query, filter.field);
    BELAY_CO_TRY(std::int64_t limit, int_parameter(call.query, "limit", kListMax, 1, kListMax));
    filter.limit = static_cast<std::size_t>(limit);
    BELAY_CO_TRY(UserId user, owner_in(call));
    BELAY_CO_TRY(std::vector<RecordRow> rows,
                 co_await call.service.find_records(call.who, std::move(user), std::move(filter)));
    Value::Array records;
    for (const RecordRow& row : rows) {
      BELAY_CO_TRY(Value record, record_document(row));
      records.push_back(std::move(record));
    }
    co_return reply_with(Value::object({{"records", std::move(records)}}));
  };
  return route;
}

Result<std::vector<RecordWrite>> writes_of(const UserId& user, RecordsBody body) {
  std::vector<RecordWrite> writes;
  UserId owner = body.userId ? UserId(*body.userId) : user;
  BELAY_CHECK(check_name("userId", owner.text));
  for (RecordBody& each : body.records) {
    BELAY_CHECK(check_name("record collection", each.collection));
    BELAY_CHECK(check_name("record key", each.key));
    RecordWrite& write = writes.emplace_back();
    if (!each.erase) {
      BELAY_TRY(Value value, parse_json(each.json));
      write.json = to_json(value);
    }
    if (write.json.size() > limits::record_bytes_max) {
      return error(ErrorCode::invalid, "The record \"" + each.key + "\" is too large.");
    }
    write.collection = std::move(each.collection);
    write.user = owner;
    write.key = std::move(each.key);
    for (IndexedBody& index : each.indexed) {
      write.indexed.emplace_back(std::move(index.name), std::move(index.value));
    }
    write.erase = each.erase;
    write.expected_version = each.expectedVersion;
  }
  return writes;
}

Route save_records() {
  Route route = route_of("POST", "/api/records", "saveRecords",
                         "Import of a user's records, all or none; `json` is the text of a record, "
                         "`expectedVersion` the `version` of the stored one, 0 for a new one");
  route.permission = Permission::run;
  route.body = body_schema<RecordsBody>({"records"});
  route.answers = {{200, "The number of saved records", "Saved"}};
  route.handle = [](Call call) -> Task<Result<Reply>> {
    BELAY_CO_TRY(RecordsBody body, read_body<RecordsBody>(call));
    BELAY_CO_TRY(std::vector<RecordWrite> writes, writes_of(call.who.user, std::move(body)));
    auto count = static_cast<std::uint64_t>(writes.size());
    if (count > 0) BELAY_CO_CHECK(co_await call.service.save_records(call.who, std::move(writes)));
    co_return reply_with(Value::object({{"saved", count}}));
  };
  return route;
}

}  // namespace

std::vector<Route> store_routes(ApiContext&) {
  std::vector<Route> routes;
  routes.push_back(show_store());
  routes.push_back(compact_store());
  routes.push_back(prune_store());
  routes.push_back(check_store());
  routes.push_back(find_records());
  routes.push_back(save_records());
  return routes;
}

}  // namespace belay::server
