// Routes of the store: items by namespace and key.

#include <cmath>
#include <set>

#include "langgraph/records.h"
#include "langgraph/search.h"
#include "langgraph/store_items.h"

namespace belay::langgraph {
namespace {

using server::Call;
using server::Reply;
using server::Route;

constexpr std::int64_t kNamespacesDefault = 100;
constexpr std::size_t kItemKeyBytesMax = 1'000;
constexpr double kItemMinutesMax = 60.0 * 24 * 366 * 10;

// Returns the labels of a text such as "a.b".
std::vector<std::string> labels_in(std::string_view text) {
  std::vector<std::string> labels;
  while (true) {
    std::size_t dot = std::min(text.find('.'), text.size());
    labels.emplace_back(text.substr(0, dot));
    if (dot == text.size()) return labels;
    text.remove_prefix(dot + 1);
  }
}

// A reference to an item. `key` of the protocol is required, `namespace` as well.
Result<StoreItemRecord> item_named(std::optional<std::vector<std::string>> labels,
                                   std::optional<std::string> key) {
  if (!labels || !key) return error(ErrorCode::invalid, "\"namespace\" and \"key\" are required.");
  BELAY_CHECK(check_labels(*labels));
  if (key->empty() || key->size() > kItemKeyBytesMax) {
    return error(ErrorCode::invalid,
                 "\"key\" must have 1 to " + std::to_string(kItemKeyBytesMax) + " bytes.");
  }
  StoreItemRecord item;
  item.labels = *std::move(labels);
  item.place = place_of(item.labels);
  item.item_key = *std::move(key);
  return item;
}

Result<StoreItemRecord> item_in_body(const Value& body) {
  BELAY_TRY(auto labels, texts_member(body, "namespace"));
  BELAY_TRY(auto key, text_member(body, "key"));
  return item_named(std::move(labels), std::move(key));
}

Task<Result<std::optional<StoreItemRecord>>> stored_item(const Call& call, std::string key) {
  auto records = records_of(call.service, call.who, call.who.user);
  co_return co_await records->get<StoreItemRecord>(std::move(key));
}

Reply no_content() {
  Reply reply;
  reply.status = 204;
  return reply;
}

Task<Result<Reply>> put_item(AgentServer& served, Call call) {
  BELAY_CO_TRY(StoreItemRecord item, item_in_body(call.body));
  if (item.labels.empty()) {
    co_return error(ErrorCode::invalid, "\"namespace\" must have a label.");
  }
  BELAY_CO_TRY(item.value, object_member(call.body, "value"));
  if (call.body["value"].is_null()) {
    co_return error(ErrorCode::invalid, "\"value\" must be an object.");
  }
  Instant now = served.world.parts.clock.now();
  const Value& ttl = call.body["ttl"];
  if (!ttl.is_null()) {
    double minutes = ttl.as_double().value_or(0);
    bool is_valid = minutes > 0 && minutes <= kItemMinutesMax;
    if (!is_valid) {
      co_return error(ErrorCode::invalid, "\"ttl\" must be a number of minutes, at most 10 years.");
    }
    item.expires = now + std::chrono::microseconds(std::llround(minutes * 60e6));
  }
  BELAY_CO_TRY(auto before, co_await stored_item(call, item.key()));
  item.created_at = before ? before->created_at : now;
  item.updated_at = now;
  std::vector<RecordWrite> writes;
  BELAY_CO_CHECK(add_write(writes, item, call.who.user));
  BELAY_CO_CHECK(co_await call.service.save_records(call.who, std::move(writes)));
  co_return no_content();
}

Task<Result<Reply>> show_item(AgentServer&, Call call) {
  std::optional<std::vector<std::string>> labels;
  std::optional<std::string> key;
  if (auto found = call.query.find("namespace"); found != call.query.end()) {
    labels = labels_in(found->second);
  }
  if (auto found = call.query.find("key"); found != call.query.end()) key = found->second;
  BELAY_CO_TRY(StoreItemRecord named, item_named(std::move(labels), std::move(key)));
  BELAY_CO_TRY(auto item, co_await stored_item(call, named.key()));
  co_return server::reply_with(item ? item_document(*item) : Value());
}

Task<Result<Reply>> remove_item(AgentServer&, Call call) {
  BELAY_CO_TRY(StoreItemRecord item, item_in_body(call.body));
  std::vector<RecordWrite> writes;
  writes.push_back(record_erasure(StoreItemRecord::collection, call.who.user, item.key()));
  BELAY_CO_CHECK(co_await call.service.save_records(call.who, std::move(writes)));
  co_return no_content();
}

// Returns the items whose place begins with `prefix`, ordered by namespace.
Task<Result<std::vector<StoreItemRecord>>> items_of(const Call& call, std::string prefix) {
  std::vector<StoreItemRecord> items;
  auto records = records_of(call.service, call.who, call.who.user);
  RecordSpan span("place");
  if (!prefix.empty()) span.begins_with(prefix);
  span.limit(limits::list_rows_max);
  while (true) {
    RecordSpan part = span;
    BELAY_CO_TRY(auto page, co_await read_page<StoreItemRecord>(*records, std::move(part)));
    for (auto& each : page.records) items.push_back(std::move(each.record));
    if (items.size() > kSearchedMax) {
      co_return error(ErrorCode::exhausted, "There are more than " + std::to_string(kSearchedMax) +
                                                " items. Search a longer namespace.");
    }
    if (page.next.empty()) co_return std::move(items);
    span.after(page.next);
  }
}

Task<Result<Reply>> search_items(AgentServer&, Call call) {
  BELAY_CO_TRY(SearchPage page, search_page_in(call.body, {}));
  BELAY_CO_TRY(auto labels, texts_member(call.body, "namespace_prefix"));
  BELAY_CO_TRY(Value filter, object_member(call.body, "filter"));
  BELAY_CO_TRY(auto query, text_member(call.body, "query"));
  if (query && !query->empty()) {
    co_return error(ErrorCode::invalid,
                    "\"query\" is not supported: this store has no index of meanings.");
  }
  std::string prefix;
  if (labels) {
    BELAY_CO_CHECK(check_labels(*labels));
    prefix = place_of(*labels);
  }
  BELAY_CO_TRY(auto items, co_await items_of(call, std::move(prefix)));
  Value::Array found;
  std::size_t position = 0;
  for (const StoreItemRecord& item : items) {
    BELAY_CO_TRY(bool fits, matches_item_filter(item.value, filter));
    if (!fits || position++ < page.offset || found.size() >= page.limit) continue;
    found.push_back(item_document(item));
  }
  co_return server::reply_with(Value::object({{"items", std::move(found)}}));
}

Task<Result<Reply>> list_namespaces(AgentServer&, Call call) {
  BELAY_CO_TRY(SearchPage page, search_page_in(call.body, {}, kNamespacesDefault));
  BELAY_CO_TRY(auto prefix, texts_member(call.body, "prefix"));
  BELAY_CO_TRY(auto suffix, texts_member(call.body, "suffix"));
  BELAY_CO_TRY(std::int64_t depth,
               int_member(call.body, "max_depth", server::kListMax, 1, server::kListMax));
  BELAY_CO_TRY(auto items, co_await items_of(call, std::string()));
  std::set<std::vector<std::string>> names;
  for (StoreItemRecord& item : items) {
    std::vector<std::string> labels = std::move(item.labels);
    if (prefix && !begins_with_labels(labels, *prefix)) continue;
    if (suffix && !ends_with_labels(labels, *suffix)) continue;
    labels.resize(std::min(labels.size(), static_cast<std::size_t>(depth)));
    names.insert(std::move(labels));
  }
  std::vector<std::vector<std::string>> ordered(names.begin(), names.end());
  PageSlice slice = slice_of(page, ordered.size());
  Value::Array documents;
  for (std::size_t i = slice.begin; i < slice.end; ++i) {
    documents.push_back(Value::Array(ordered[i].begin(), ordered[i].end()));
  }
  co_return server::reply_with(Value::object({{"namespaces", std::move(documents)}}));
}

Value item_members() {
  return Value::object({{"namespace", Value::object({{"type", "array"}})},
                        {"key", Value::object({{"type", "string"}})}});
}

}  // namespace

std::vector<Route> store_item_routes(const AgentServerPointer& served) {
  const std::string items = "/store/items";
  std::vector<Route> routes;
  auto add = [&](const char* method, const std::string& path, const char* id, const char* summary,
                 Answer answer, ResponseSpec spec) -> Route& {
    Route& route = routes.emplace_back(protocol_route(method, path, id, summary));
    route.answers = {std::move(spec)};
    route.handle = answering(served, answer);
    return route;
  };
  Route& put = add("PUT", items, "agentServerPutItem", "Save of an item of the store", put_item,
                   {204, "Saved"});
  put.permission = Permission::run;
  Value members = item_members();
  members.as_object()->emplace("value", Value::object({{"type", "object"}}));
  members.as_object()->emplace("ttl", Value::object({{"type", "number"}}));
  accept_body(put, std::move(members), {"namespace", "key", "value"});
  Route& get = add("GET", items, "agentServerGetItem", "An item of the store, or null", show_item,
                   {200, "The item, or null"});
  Value text = Value::object({{"type", "string"}});
  get.parameters = {query_parameter("namespace", "Labels, joined with dots", text),
                    query_parameter("key", "Key of the item", std::move(text))};
  Route& erase = add("DELETE", items, "agentServerDeleteItem", "Deletion of an item of the store",
                     remove_item, {204, "Deleted"});
  erase.permission = Permission::run;
  accept_body(erase, item_members(), {"namespace", "key"});
  accept_body(add("POST", items + "/search", "agentServerSearchItems",
                  "Items of a namespace and of those within it", search_items, {200, "The items"}),
              search_properties({{"namespace_prefix", Value::object({{"type", "array"}})},
                                 {"filter", Value::object({{"type", "object"}})}}));
  accept_body(add("POST", "/store/namespaces", "agentServerListNamespaces",
                  "Namespaces of the items", list_namespaces, {200, "The namespaces"}),
              search_properties({{"prefix", Value::object({{"type", "array"}})},
                                 {"suffix", Value::object({{"type", "array"}})},
                                 {"max_depth", Value::object({{"type", "integer"}})}}));
  return routes;
}

}  // namespace belay::langgraph
