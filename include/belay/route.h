#pragma once
// belay/route.h - ModuleRoute: a route that a module adds to the HTTP API.
//
//     struct LetterBody { std::string text; std::optional<std::string> date; };
//
//     Task<Result<RouteReply>> create(RouteCall& call) {
//       BELAY_CO_TRY(LetterBody body, read_body<LetterBody>(call));
//       ...
//       co_return route_reply(std::move(document));
//     }
//
//     ModuleRoute route{{.method = "POST", .path = "/api/letters", .id = "createLetter",
//                        .summary = "Creation of a letter", .permission = Permission::run}};
//     route.body = body_schema<LetterBody>({"text"});
//     route.answers = {{201, "Created"}};
//     route.handle = create;
//
// The OpenAPI document, the permission check and the check of parameters and bodies are generated
// from the route. An error that a handler returns becomes a response with application/problem+json
// (RFC 9457).
//
// Threading: handlers run on the loop's thread.

#include <functional>
#include <initializer_list>
#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "belay/detail/json_schema.h"
#include "belay/service.h"

namespace belay {

struct ModuleSettings;  // belay/module.h

struct Parameter {
  enum class In { path, query, header };
  std::string name;
  In in = In::query;
  std::string help;
  Value schema;  // JSON Schema
  bool is_required = false;
};

struct ResponseSpec {
  int status = 200;
  std::string help;
  std::string schema = {};  // a schema of the description; empty: no JSON
  std::string type = "application/json";
};

// The description of one operation: method, path, permission, schemas.
struct RouteSpec {
  std::string method;
  std::string path;  // "/api/threads/{threadId}"
  std::string id;    // operationId: stable, because client code is generated from it
  std::string summary;
  Permission permission = Permission::read;  // that a caller needs
  // True if the response depends only on the address and on the store, neither on the caller nor on
  // the time: it can be cached until the store changes.
  bool is_of_store = false;
  // True for routes that might start a run: only these count against the limits of starts.
  bool begins_run = false;
  std::vector<Parameter> parameters = {};  // missing parameters of the path are added
  Value body = {};                         // JSON Schema; null: no body
  std::vector<ResponseSpec> answers = {};  // in addition to the errors common to all routes
  // For a path that also matches the template of another route: the ids of the routes that do the
  // same. OpenAPI permits no such pair: the description has this path only in "x-other-paths" of
  // their operations.
  std::vector<std::string> same_as = {};
};

using StringMap = std::map<std::string, std::string, std::less<>>;

// A request with its route's declared parameters, checked against their schemas.
struct RouteRequest {
  Service& service;
  Principal who;  // the caller: the first argument of each call of the service
  StringMap path;
  StringMap query;
  Value body;  // null: no body
};

struct RouteHeader {
  std::string name;
  std::string value;
};

struct RouteReply {
  int status = 200;
  Value document;
  std::vector<RouteHeader> headers = {};
  bool is_kept = true;  // only if is_of_store: false if the response depends on the time
};

// A request, and the operations that depend on its headers. It lives until its handler has ended.
class RouteCall : public RouteRequest {
 public:
  virtual ~RouteCall() = default;
  RouteCall(const RouteCall&) = delete;
  RouteCall& operator=(const RouteCall&) = delete;

  // The value of a header; empty if it is absent.
  virtual std::string_view header(std::string_view name) const = 0;
  virtual const ModuleSettings& settings() const = 0;
  virtual Clock& clock() = 0;

  // Starts a run as the headers of start_parameters() ask, and waits for it. Returns its state when
  // it has ended or is paused, or when the request stops waiting. The route has `begins_run`.
  virtual Task<Result<RunView>> start(StartRun wanted) = 0;
  // Decides, and waits for the run in the same way, also if the same decision had already been
  // made.
  virtual Task<Result<DecisionResult>> decide(InterruptId interrupt, Decision decision) = 0;
  // The document `Run` of the description.
  virtual Value document(const RunView& view) const = 0;
  // Returns 200 with that document.
  virtual RouteReply reply(const RunView& view) const = 0;
  // Returns a 409 with the recorded decision if this decision was not accepted; nullopt if it was.
  virtual std::optional<RouteReply> refusal(const DecisionResult& answer) const = 0;

 protected:
  explicit RouteCall(RouteRequest request) : RouteRequest(std::move(request)) {}
};

using RouteHandle = std::function<Task<Result<RouteReply>>(RouteCall& call)>;

struct ModuleRoute : RouteSpec {
  RouteHandle handle = nullptr;
  std::string module = {};  // set by the program, for errors
};

// Returns a route with permission `read`.
ModuleRoute route_of(std::string method, std::string path, std::string id, std::string summary);
// Returns the path of a route with its only parameter, percent-encoded: "/api/notes/a%20b".
std::string address_of(std::string_view path, std::string_view parameter);
// Returns 200 with the document.
RouteReply route_reply(Value document);
// An error response of any status; `details` adds members to its document.
RouteReply problem_reply(int status, std::string code, std::string detail, Value details = {});

// Parses a number of a query; returns `or_else` if it is absent. Fails with `invalid` if it is not
// a number from `least` to `most`.
Result<std::int64_t> int_parameter(const StringMap& query, std::string_view name,
                                   std::int64_t or_else, std::int64_t least, std::int64_t most);
Parameter query_parameter(std::string name, std::string help, Value schema);
Parameter limit_parameter(std::int64_t or_else, std::int64_t most);

// Returns the owner of the data that a request is about: "userId" in its query, else the caller's
// own user. `invalid` if it is not a valid user name.
Result<UserId> owner_in(const RouteRequest& call);
Parameter owner_parameter();

// The page of the history of the thread {threadId} that "run", "before", "beforeRun" and "limit"
// select; without "limit" it has `or_else` commits. `invalid` for numbers out of range.
std::vector<Parameter> history_parameters(std::int64_t or_else);
Result<HistoryPage> history_page_in(const RouteRequest& call, std::int64_t or_else);
// The Prefer header, and the headers of a request that starts a run.
Parameter prefer_parameter();
std::vector<Parameter> start_parameters();
// Members of a body with execution options of a run; the runtime checks their bounds.
std::optional<int> attempts_from(const std::optional<std::int64_t>& member);
std::optional<std::chrono::milliseconds> time_from(const std::optional<std::int64_t>& member);

// The body of a request that decides: exactly one of `approved` and `choice`.
struct DecisionBody {
  std::optional<bool> approved;
  std::optional<std::string> choice;
  Value answer;
  std::optional<std::string> comment;
  Value edited;
  std::optional<std::string> decidedBy;
  std::optional<std::string> onBehalfOf;
  std::optional<std::vector<std::string>> roles;
};
Result<Decision> decision_of(const RouteRequest& call);

// Returns the language of `known` ("en", "es") with the highest weight in the header
// Accept-Language (RFC 9110, section 12.5.4); of equal weights, the first named. A region ("es-AR")
// counts as its language. Empty: the header accepts none of them, or any ("*").
std::string_view accepted_language(std::string_view header,
                                   std::initializer_list<std::string_view> known);

// Returns the JSON Schema of a body that is decoded into a T; `required` are its required members.
template <typename T>
Value body_schema(std::initializer_list<std::string_view> required = {}) {
  Value schema = json_schema<T>();
  if (required.size() > 0) {
    Value::Array names(required.begin(), required.end());
    schema.as_object()->emplace("required", std::move(names));
  }
  return schema;
}
// Returns the schema of a body without members: `{}`, or no body.
Value empty_body_schema();

// Decodes the body of a call, which fits the schema of its route.
template <typename T>
Result<T> read_body(const RouteRequest& call) {
  auto read = decode_json<T>(call.body);
  if (!read.ok())
    return error(ErrorCode::invalid, "The body does not fit: " + read.error().message);
  return read;
}

}  // namespace belay
