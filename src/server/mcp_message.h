#pragma once
// server/mcp_message.h - messages of the Model Context Protocol (MCP), as a server receives and
// sends them: JSON-RPC 2.0, in the revision 2026-07-28 (`modern`) and in the older ones.

#include <chrono>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "belay/principal.h"
#include "belay/result.h"
#include "belay/value.h"

namespace belay::server {

inline constexpr std::string_view kMcpVersion = "2026-07-28";
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
};

// The reply to a message.
struct McpReply {
  int status = 200;               // of HTTP
  std::optional<Value> document;  // unset: none, as for a notification
};

// Reads a message. `version_header`: MCP-Protocol-Version of HTTP, or empty. Returns the reply to a
// message that is not one of MCP, or of a revision that is not supported.
std::optional<McpReply> read_mcp_message(const Value& document, std::string_view version_header,
                                         McpMessage& message);

// Returns the revision of the older era that a client requests, or the newest one.
std::string_view legacy_mcp_version(std::string_view requested);

// Returns a result; a modern one has its type "complete", unless `members` names another.
McpReply mcp_result(const McpMessage& message, Value::Object members);
McpReply mcp_fault(const McpMessage& message, McpFault code, std::string_view text,
                   Value data = {});
// The error for a permission that the principal lacks.
McpReply mcp_forbidden(const McpMessage& message, Permission needed);
// A fault of a message without a known id.
McpReply mcp_malformed(McpFault code, std::string_view text);

// The name and the version of this server.
Value mcp_server_info();

}  // namespace belay::server
