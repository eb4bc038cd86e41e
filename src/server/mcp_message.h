#pragma once
// server/mcp_message.h - messages of the Model Context Protocol (MCP), as a server receives and
// sends them: JSON-RPC 2.0, in the revision 2026-07-28 (`modern`) and in the older ones.

#include <chrono>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>

#include "belay/principal.h"
#include "belay/result.h"
#include "belay/task.h"
#include "belay/value.h"

namespace belay::server {

inline constexpr std::string_view kMcpVersion = "2026-07-28";
// Members of `_meta` of a tool call: the idempotency key of its run, and its thread.
inline constexpr std::string_view kMcpIdempotencyKey = "belay/idempotencyKey";
inline constexpr std::string_view kMcpThread = "belay/threadId";
inline constexpr std::string_view kMcpTasks = "io.modelcontextprotocol/tasks";

// Codes of JSON-RPC, and those of MCP.
enum class McpFault : std::int64_t {
  malformed = -32700,
  invalid_request = -32600,
  unknown_method = -32601,
  invalid_params = -32602,
  internal = -32603,
  refused = -32000,  // by a permission or a limit of this server
  header_mismatch = -32020,
  missing_capability = -32021,
  unsupported_version = -32022,
};

// A request or a notification.
struct McpMessage {
  Value id;  // a string or an integer; null for a notification
  std::string method;
  Value params;
  bool is_modern = false;
  bool is_notification = false;
  // Declared by a modern client in each request.
  bool has_tasks = false;
  bool has_elicitation = false;
  // False if the client accepts only a single message in reply.
  bool takes_stream = true;
};

// The messages that answer one request, in order: notifications, then the response.
//
// A message is created when it is requested, from the state at that time: a slow reader receives
// fewer notifications, and no list of them grows.
class McpStream {
 public:
  virtual ~McpStream() = default;
  // Returns the next message; nullopt: the response was returned. One call at a time.
  virtual Task<std::optional<Value>> next() = 0;
};

// The reply to a message.
struct McpReply {
  int status = 200;                             // of HTTP
  std::optional<Value> document = {};           // unset: none, as for a notification
  std::unique_ptr<McpStream> stream = nullptr;  // instead of the document
};

// Reads a message, of which `document` is consumed. `version_header`: MCP-Protocol-Version of HTTP,
// or empty. Returns the reply to a message that is not one of MCP, or of a revision that is not
// supported.
std::optional<McpReply> read_mcp_message(Value document, std::string_view version_header,
                                         McpMessage& message);

// Returns the revision of the older era that a client requests, or the newest one.
std::string_view legacy_mcp_version(std::string_view requested);

// Returns a result; a modern one has its type "complete", unless `members` names another.
McpReply mcp_result(const McpMessage& message, Value::Object members);
// True for a token that a client can give to a request: a string or a number.
bool is_mcp_token(const Value& token);
Value mcp_notification(std::string_view method, Value::Object params);
McpReply mcp_fault(const McpMessage& message, McpFault code, std::string_view text,
                   Value data = {});
// The error for an operation of the service that failed.
McpReply mcp_failed(const McpMessage& message, const Error& failed);
// The error for a permission that the principal lacks.
McpReply mcp_forbidden(const McpMessage& message, Permission needed);
// The error for the extension for tasks, which the client has not declared.
McpReply mcp_without_tasks(const McpMessage& message);
// A fault of a message without a known id.
McpReply mcp_malformed(McpFault code, std::string_view text);

// The name and the version of this server.
Value mcp_server_info();
// The members of `_meta` of a result of the modern era.
Value::Object mcp_result_meta();

}  // namespace belay::server
