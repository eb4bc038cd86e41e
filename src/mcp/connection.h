#pragma once
// mcp/connection.h - Connection: exchanges messages with one MCP server, over stdio or HTTP.
//
// Threading: any thread and any executor; the awaiting one resumes. Destroying the Task of send()
// cancels the request.

#include <chrono>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "belay/http.h"
#include "belay/task.h"
#include "mcp/inbox.h"
#include "mcp/json_rpc.h"

namespace belay::mcp {

// How the messages of a connection look, once the session has determined it.
struct Dialect {
  bool is_modern = false;  // 2026-07-28 or later: no handshake, metadata in each request
  std::string version{};   // empty: not determined
};

// Functions for the course of a request, called on its executor.
struct RequestFunctions {
  // Not null: the request asks for progress, and receives the parameters of each note.
  std::function<void(const Value& params)> on_progress = nullptr;
  // Not null: answers the questions of the server that belong to the request, one at a time. An
  // exception ends the request.
  std::function<Task<Result<Value>>(Question question)> on_question = nullptr;
  int questions_max = 0;  // the request fails with `exhausted` if there are more
};

struct Request {
  std::string method{};
  Value params{};
  std::chrono::milliseconds timeout{0};
  // With progress, `timeout` begins again after each note, until this time. Less than `timeout`:
  // the same as `timeout`.
  std::chrono::milliseconds timeout_max{0};
  std::vector<HttpHeader> headers{};  // additional ones; ignored by stdio
  bool is_handshake = false;          // never cancelled
  RequestFunctions functions{};
};

class Connection {
 public:
  virtual ~Connection() = default;

  // Sends the request and waits for its reply. Errors:
  //   unavailable  the request was not sent, or the server refused it without handling it
  //   uncertain    it was sent, and no reply arrived: the connection ended, or it timed out
  //   exhausted    the server exceeded a limit, such as that of a message
  //   forbidden    by the egress policy, or by the server
  virtual Task<Result<Reply>> send(Request request) = 0;
  // Sends a notification, for which there is no reply.
  virtual Task<Result<Done>> notify(std::string method, Value params) = 0;
  // Sends a request in the background; its reply is ignored. Does not wait. From any thread.
  virtual void post(Request request) = 0;
  // Sends the text of a reply to a question of the server. Does not wait.
  virtual void answer(std::string text) = 0;
  // Listens for changes of the server's tools, until the connection ends; see changes(). `request`
  // is that of the modern era.
  virtual void listen(Request request) = 0;
  // Determines the form of later messages.
  virtual void use(Dialect dialect) = 0;
  // False if it has ended, or if the server has lost the session: open another one.
  virtual bool is_usable() = 0;
  // How often the server has announced a change of its tools.
  virtual std::uint64_t changes() = 0;
};

}  // namespace belay::mcp
