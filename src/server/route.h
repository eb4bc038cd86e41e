#pragma once
// server/route.h - one thing that can be asked over HTTP: how, with what right, what comes back,
// and the function that answers it.
//
// The table of all routes (api.h) is the one source of what the server answers: the OpenAPI
// document, the permissions and the tests' matrix are made from it.
//
// Threading: handlers run on the loop's thread.

#include <functional>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include "http/message.h"
#include "service/service.h"

namespace belay::server {

// What a caller needs to be allowed. `open` needs nothing: health, and the description itself.
enum class Permission { open, read, run, decide, administer };
std::string_view name_of(Permission permission);

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
  std::string schema = {};  // a name in the document's components; empty: no JSON
  std::string type = "application/json";
};

class StartCount;  // start_limits.h

using StringMap = std::map<std::string, std::string, std::less<>>;

// A request as its route sees it: parameters are the declared ones, checked for form.
struct Call {
  // The service as the caller may use it: with keys, a guarded_service.h.
  Service& service;
  http::Request request;  // its body has been read
  StringMap path;
  StringMap query;
  Value body;  // null where there was none
  UserId user;
  std::shared_ptr<StartCount> start = nullptr;  // only for routes that start runs
};

struct Reply {
  int status = 200;
  Value document;
  std::vector<http::Header> headers = {};
  std::unique_ptr<http::BodyStream> stream = nullptr;  // in place of the document
  bool is_kept = true;  // only if is_of_store: false if it depends on the time after all
};

using Handle = std::function<Task<Result<Reply>>(Call call)>;

struct Route {
  std::string method;
  std::string path;  // "/api/threads/{threadId}"
  std::string id;    // operationId: stable, programs are generated from it
  std::string summary;
  Permission permission = Permission::read;
  // Its answer depends on nothing but its address and what the store holds: neither on who asks nor
  // on the time, so that it stays good until the store changes.
  bool is_of_store = false;
  // True for routes that might start a run: only these count against the limits of starts.
  bool begins_run = false;
  std::vector<Parameter> parameters = {};  // those of the path are added where they are missing
  Value body = {};                         // JSON Schema; null: it takes none
  std::vector<ResponseSpec> answers = {};  // beside the errors that every route may give
  Handle handle = nullptr;
};

}  // namespace belay::server
