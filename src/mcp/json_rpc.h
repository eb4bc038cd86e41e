#pragma once
// mcp/json_rpc.h - messages of JSON-RPC 2.0, as MCP uses them: one message in a text, no batches,
// an id that is a string or an integer. Pure functions. https://www.jsonrpc.org/specification

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

#include "belay/value.h"

namespace belay::mcp {

enum class MessageKind { request, notification, result, fault };

// Codes of JSON-RPC, and those of MCP that determine the era of a server.
inline constexpr std::int64_t method_not_found = -32601;
inline constexpr std::int64_t header_mismatch = -32020;
inline constexpr std::int64_t missing_capability = -32021;
inline constexpr std::int64_t unsupported_version = -32022;

inline constexpr std::string_view elicitation_method = "elicitation/create";

// The error of a reply.
struct Fault {
  std::int64_t code = 0;
  std::string message{};  // of the other side: at most 500 characters, in one line
  Value data{};
};

struct Message {
  MessageKind kind = MessageKind::notification;
  Value id{};            // null for a notification, and for a fault without a request
  std::string method{};  // of a request or notification
  Value params{};        // of a request or notification: an object, an array or null
  Value result{};
  Fault fault{};
};

// Reads a message of the other side, which is not trusted: invalid UTF-8 and U+0000 in its texts
// are replaced. Fails with `invalid` for anything else, including a batch.
Result<Message> parse_message(std::string_view text);

// Each returns the text of a message, in one line. `params` is omitted if it is null.
std::string request_text(const Value& id, std::string_view method, const Value& params);
std::string notification_text(std::string_view method, const Value& params);
std::string result_text(const Value& id, const Value& result);
std::string fault_text(const Value& id, std::int64_t code, std::string_view message);

// Returns the parameters of a request with its id as the token of its progress.
Value with_progress_token(Value params, std::int64_t id);

}  // namespace belay::mcp
