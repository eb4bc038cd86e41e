#pragma once
// server/route.h - Route: one operation of the HTTP API: method, path, permission, schemas,
// handler.
//
// The table of all routes (api.h) is the only source of the API: the OpenAPI document, the
// permission checks and the tests' matrix are generated from it.
//
// Threading: handlers run on the loop's thread.

#include <functional>
#include <memory>

#include "belay/route.h"
#include "http/message.h"

namespace belay::http {
class WebSocketSession;  // web_socket.h
}

namespace belay::server {

class StartCount;  // start_limits.h

struct Call : RouteRequest {
  http::Request request;                        // its body has been read
  std::shared_ptr<StartCount> start = nullptr;  // only for routes that start runs
  // Only of a WebSocket, and of a route that `counts_starts`: counts one start against the limits.
  std::function<Task<Result<std::shared_ptr<StartCount>>>()> count_start = nullptr;
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

struct Route : RouteSpec {
  Handle handle = nullptr;
  std::string module = {};  // the module that brings it; empty: every program has it
  // Reads the body into `call.body` instead of the check against the schema; returns the reply to a
  // faulty one.
  std::function<std::optional<Reply>(Call& call)> read = nullptr;
  // True if this request, whose body has been read, might start a run. With `begins_run`: most
  // requests of the route do.
  std::function<bool(const Call& call)> begins_run_by = nullptr;
  // Of a route that starts runs: true if the run that the request names by a key exists. The
  // request does not count as a start then. Called if starts are limited, after the body has been
  // read.
  std::function<Task<bool>(const Call& call)> finds_run = nullptr;
  // True if the handler finds out whether the request starts a run, and calls Call::count_start.
  bool counts_starts = false;
  // Opens a session for a WebSocket, instead of `handle`: web_socket.h. The method is GET.
  std::function<Task<Result<std::unique_ptr<http::WebSocketSession>>>(Call call)> open_web_socket =
      nullptr;
  // Of a route that only the description has: the id of the route that serves its path.
  std::string served_by = {};
  // True if the query can contain unknown parameters, and a parameter twice, of which `query` has
  // the first: for protocols whose clients send more than the route reads.
  bool accepts_any_query = false;
};

}  // namespace belay::server
