#include "agents/wellbeing/record_routes.h"

#include "agents/wellbeing/note_commands.h"
#include "agents/wellbeing/note_lines.h"
#include "agents/wellbeing/record_rules.h"
#include "belay/module.h"

namespace belay::wellbeing {
namespace {

using wellbeing::DailySummary;
using wellbeing::Note;
using wellbeing::Routine;

constexpr auto kRecordListMax = static_cast<std::int64_t>(limits::list_rows_max);  // of a page
constexpr std::int64_t kListDefault = 50;

// Sets the members that the body omits.
void complete(Note& note, const TimeZone& zone, bool is_dated) {
  if (note.date.empty() && is_dated) note.date = zone.day_of(note.createdAt);
  if (note.id.empty()) note.id = derived_note_id(note.date, 1, note.content);
}
void complete(DailySummary& summary, const TimeZone&, bool) {
  summary.assessed = summary.riskLevel.has_value();
}
void complete(Routine&, const TimeZone&, bool) {}

// The names of a collection in URLs and documents.
struct Names {
  std::string_view plural, singular, key;
};
template <typename R>
constexpr Names names;
template <>
constexpr Names names<Note>{"notes", "note", "id"};
template <>
constexpr Names names<DailySummary>{"summaries", "summary", "date"};
template <>
constexpr Names names<Routine>{"routines", "routine", "date"};

std::string capital(std::string_view word) {
  std::string text(word);
  text.front() = static_cast<char>(text.front() - 'a' + 'A');
  return text;
}

template <typename R>
Result<Value> document_of(const R& record) {
  BELAY_TRY(std::string text, encode_json(record));
  return parse_json(text);
}

template <typename R>
Task<Result<std::optional<R>>> find_one(Service& service, const Principal& who, UserId owner,
                                        std::string key) {
  RecordFilter filter;
  filter.collection = R::collection;
  filter.key = std::move(key);
  BELAY_CO_TRY(std::vector<RecordRow> rows,
               co_await service.find_records(who, std::move(owner), std::move(filter)));
  std::optional<R> found;
  if (!rows.empty()) {
    BELAY_CO_TRY(found, record_from<R>(rows.front()));
  }
  co_return std::move(found);
}

template <typename R>
Error missing(const std::string& key) {
  return error(ErrorCode::not_found,
               "Unknown " + std::string(names<R>.singular) + " \"" + key + "\".");
}

// True if both are equal; their creation time is ignored unless the body states it.
template <typename R>
bool says_the_same(const R& one, R other, bool is_dated) {
  if (!is_dated) other.createdAt = one.createdAt;
  auto first = encode_json(one);
  auto second = encode_json(other);
  return first.ok() && second.ok() && *first == *second;
}

template <typename R>
Task<Result<Done>> save(Service& service, const Principal& who, const UserId& owner,
                        const R& record) {
  BELAY_CO_TRY(RecordWrite write, record_write(record, owner));
  std::vector<RecordWrite> writes;
  writes.push_back(std::move(write));
  co_return co_await service.save_records(who, std::move(writes));
}

std::string path_of_one(std::string_view plural) {
  return "/api/" + std::string(plural) + "/{key}";
}

template <typename R>
ModuleRoute list_route() {
  ModuleRoute route =
      route_of("GET", "/api/" + std::string(names<R>.plural), "list" + capital(names<R>.plural),
               capital(names<R>.plural) + " of a user, by " + std::string(names<R>.key));
  Value text = Value::object({{"type", "string"}});
  route.parameters = {owner_parameter(), query_parameter("date", "Only this day, YYYY-MM-DD", text),
                      query_parameter("after", "Last key of the previous page", std::move(text)),
                      limit_parameter(kListDefault, kRecordListMax)};
  route.answers = {{200, "A page; `next` is the `after` of the next page", ""}};
  route.handle = [](RouteCall& call) -> Task<Result<RouteReply>> {
    RecordFilter filter;
    filter.collection = R::collection;
    if (auto date = call.query.find("date"); date != call.query.end()) {
      BELAY_CO_CHECK(check_date(date->second));
      filter.field = "date";
      filter.value = date->second;
    }
    if (auto after = call.query.find("after"); after != call.query.end()) {
      filter.after = after->second;
    }
    BELAY_CO_TRY(std::int64_t limit,
                 int_parameter(call.query, "limit", kListDefault, 1, kRecordListMax));
    filter.limit = static_cast<std::size_t>(limit);
    BELAY_CO_TRY(UserId owner, owner_in(call));
    BELAY_CO_TRY(std::vector<RecordRow> rows,
                 co_await call.service.find_records(call.who, std::move(owner), std::move(filter)));
    Value::Array documents;
    for (const RecordRow& row : rows) {
      BELAY_CO_TRY(Value document, parse_json(row.json));
      documents.push_back(std::move(document));
    }
    Value next;
    if (rows.size() == static_cast<std::size_t>(limit)) next = rows.back().key;
    co_return route_reply(Value::object(
        {{std::string(names<R>.plural), std::move(documents)}, {"next", std::move(next)}}));
  };
  return route;
}

// True if the body states when its record was created.
bool is_dated(const RouteRequest& call) { return !call.body["createdAt"].is_null(); }

// Returns the record to be saved. `invalid` for one that must not be saved.
template <typename R>
Result<Done> complete_and_check(R& record, RouteCall& call, bool is_dated) {
  Instant now = call.clock().now();
  complete(record, call.settings().time_zone, is_dated);
  if (!is_dated) record.createdAt = now;
  return check(record, now);
}

template <typename R>
ModuleRoute make_route() {
  ModuleRoute route = route_of("POST", "/api/" + std::string(names<R>.plural),
                               "create" + capital(names<R>.singular),
                               "Creation of a " + std::string(names<R>.singular));
  route.permission = Permission::run;
  route.parameters = {owner_parameter()};
  // A note must state its day or the time of its creation.
  constexpr bool is_note = std::is_same_v<R, Note>;
  route.body = body_schema<R>({is_note ? "content" : "date"});
  route.answers = {{201, "Created; the Location header contains its address", ""},
                   {200, "It already existed", ""}};
  route.handle = [](RouteCall& call) -> Task<Result<RouteReply>> {
    BELAY_CO_TRY(R record, read_body<R>(call));
    bool dated = is_dated(call);
    BELAY_CO_CHECK(complete_and_check(record, call, dated));
    BELAY_CO_TRY(UserId owner, owner_in(call));
    BELAY_CO_TRY(std::optional<R> there,
                 co_await find_one<R>(call.service, call.who, owner, record.key()));
    RouteReply reply;
    reply.headers.push_back({"Location", address_of(path_of_one(names<R>.plural), record.key())});
    if (there && says_the_same(*there, record, dated)) {
      BELAY_CO_TRY(reply.document, document_of(*there));
      co_return std::move(reply);
    }
    if (there) {
      co_return error(ErrorCode::conflict, "Another " + std::string(names<R>.singular) + " \"" +
                                               record.key() +
                                               "\" already exists. Replace it with PUT.");
    }
    BELAY_CO_CHECK(co_await save(call.service, call.who, owner, record));
    reply.status = 201;
    BELAY_CO_TRY(reply.document, document_of(record));
    co_return std::move(reply);
  };
  return route;
}

template <typename R>
ModuleRoute show_route() {
  ModuleRoute route =
      route_of("GET", path_of_one(names<R>.plural), "get" + capital(names<R>.singular),
               "One " + std::string(names<R>.singular));
  route.parameters = {owner_parameter()};
  route.answers = {{200, "It", ""}};
  route.handle = [](RouteCall& call) -> Task<Result<RouteReply>> {
    const std::string& key = call.path.at("key");
    BELAY_CO_TRY(UserId owner, owner_in(call));
    BELAY_CO_TRY(std::optional<R> there,
                 co_await find_one<R>(call.service, call.who, std::move(owner), key));
    if (!there) co_return missing<R>(key);
    RouteReply reply;
    BELAY_CO_TRY(reply.document, document_of(*there));
    co_return std::move(reply);
  };
  return route;
}

void put_key(Note& note, const std::string& key) { note.id = key; }
void put_key(DailySummary& summary, const std::string& key) { summary.date = key; }
void put_key(Routine& routine, const std::string& key) { routine.date = key; }

template <typename R>
ModuleRoute replace_route() {
  ModuleRoute route =
      route_of("PUT", path_of_one(names<R>.plural), "replace" + capital(names<R>.singular),
               "Creation or replacement of one " + std::string(names<R>.singular));
  route.permission = Permission::run;
  route.parameters = {owner_parameter()};
  route.body = body_schema<R>();
  route.answers = {{200, "Replaced", ""}, {201, "Created", ""}};
  route.handle = [](RouteCall& call) -> Task<Result<RouteReply>> {
    const std::string& key = call.path.at("key");
    BELAY_CO_TRY(R record, read_body<R>(call));
    const Value& named = call.body[names<R>.key];
    if (!named.is_null() && named != Value(key)) {
      co_return error(ErrorCode::invalid,
                      "\"" + std::string(names<R>.key) + "\" differs from the one in the address.");
    }
    put_key(record, key);
    bool dated = is_dated(call);
    BELAY_CO_CHECK(complete_and_check(record, call, dated));
    BELAY_CO_TRY(UserId owner, owner_in(call));
    BELAY_CO_TRY(std::optional<R> there, co_await find_one<R>(call.service, call.who, owner, key));
    if (there && !dated) record.createdAt = there->createdAt;
    BELAY_CO_CHECK(co_await save(call.service, call.who, owner, record));
    RouteReply reply;
    reply.status = there.has_value() ? 200 : 201;
    BELAY_CO_TRY(reply.document, document_of(record));
    co_return std::move(reply);
  };
  return route;
}

template <typename R>
ModuleRoute erase_route() {
  ModuleRoute route =
      route_of("DELETE", path_of_one(names<R>.plural), "delete" + capital(names<R>.singular),
               "Deletion of one " + std::string(names<R>.singular));
  route.permission = Permission::run;
  route.parameters = {owner_parameter()};
  route.answers = {{204, "Deleted", ""}};
  route.handle = [](RouteCall& call) -> Task<Result<RouteReply>> {
    const std::string& key = call.path.at("key");
    BELAY_CO_TRY(UserId owner, owner_in(call));
    BELAY_CO_TRY(std::optional<R> there, co_await find_one<R>(call.service, call.who, owner, key));
    if (!there) co_return missing<R>(key);
    std::vector<RecordWrite> writes;
    writes.push_back(record_erasure(R::collection, std::move(owner), key));
    BELAY_CO_CHECK(co_await call.service.save_records(call.who, std::move(writes)));
    RouteReply reply;
    reply.status = 204;
    co_return std::move(reply);
  };
  return route;
}

template <typename R>
void add_routes(std::vector<ModuleRoute>& routes) {
  routes.push_back(list_route<R>());
  routes.push_back(make_route<R>());
  routes.push_back(show_route<R>());
  routes.push_back(replace_route<R>());
  routes.push_back(erase_route<R>());
}

}  // namespace

std::vector<ModuleRoute> record_routes() {
  std::vector<ModuleRoute> routes;
  add_routes<Note>(routes);
  add_routes<DailySummary>(routes);
  add_routes<Routine>(routes);
  return routes;
}

}  // namespace belay::wellbeing
