#pragma once
// server/route.h - Route: one operation of the HTTP API: method, path, permission, schemas,
// handler.
//
// The table of all routes (api.h) is the only source of the API: the OpenAPI document, the
// permission checks and the tests' matrix are generated from it.
//
// Threading: handlers run on the loop's thread.

#include <functional>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include "http/message.h"
#include "service/principal.h"
#include "service/service.h"

namespace belay::server {

using belay::Permission;

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

class StartCount;  // start_limits.h

using StringMap = std::map<std::string, std::string, std::less<>>;

// A request with its route's declared parameters, checked against their schemas.
struct Call {
  Service& service;
  http::Request request;  // its body has been read
  StringMap path;
  StringMap query;
  Value body;  // null: no body
  // The caller, for each call of the service. An operation that continues after the request owns a
  // copy.
  Principal who;
  std::shared_ptr<StartCount> start = nullptr;  // only for routes that start runs
};

struct Reply {
  int status = 200;
  Value document;
  std::vector<http::Header> headers = {};
  std::unique_ptr<http::BodyStream> stream = nullptr;  // instead of the document
  std::optional<std::string> text = std::nullopt;      // likewise; its Content-Type is a header
  bool is_kept = true;  // only if is_of_store: false if the response depends on the time
};

using Handle = std::function<Task<Result<Reply>>(Call call)>;

struct Route {
  std::string method;
  std::string path;  // "/api/threads/{threadId}"
  std::string id;    // operationId: stable, because client code is generated from it
  std::string summary;
  Permission permission = Permission::read;
  // True if the response depends only on the address and on the store, neither on the caller nor on
  // the time: it can be cached until the store changes.
  bool is_of_store = false;
  // True for routes that might start a run: only these count against the limits of starts.
  bool begins_run = false;
  std::vector<Parameter> parameters = {};  // missing parameters of the path are added
  Value body = {};                         // JSON Schema; null: no body
  std::vector<ResponseSpec> answers = {};  // in addition to the errors common to all routes
  Handle handle = nullptr;
};

}  // namespace belay::server
