#pragma once
// a2a/a2a_message.h - requests and replies of the Agent2Agent protocol (A2A), revision 1.0, in its
// binding to JSON-RPC 2.0.
//
// Members are those of the protocol's ProtoJSON form, in camel case. Unknown members are ignored.
//
// Threading: values; any thread.

#include <cstddef>
#include <optional>
#include <string>
#include <string_view>

#include "belay/principal.h"
#include "server/route.h"

namespace belay::a2a {

inline constexpr std::string_view kProtocolVersion = "1.0";
inline constexpr std::string_view kVersionHeader = "A2A-Version";

// Codes of JSON-RPC, and those of A2A.
enum class Fault : std::int64_t {
  malformed = -32700,
  invalid_request = -32600,
  unknown_method = -32601,
  invalid_params = -32602,
  internal = -32603,
  refused = -32000,  // by a permission
  unknown_task = -32001,
  not_cancelable = -32002,
  no_push_notifications = -32003,
  unsupported = -32004,
  content_type = -32005,
  version = -32009,
};

struct Failure {
  Fault code = Fault::internal;
  std::string text;
  int status = 0;  // of HTTP; 0: that of the code
};

// The failure of an operation of the service on something that the request has named.
Failure failure_of(const Error& failed);
Failure unknown_task();
Failure no_notifications();
Failure lacks(Permission needed);

struct A2aRequest {
  Value id;  // a string or an integer
  std::string method;
  Value params;       // an object, or null
  std::string agent;  // of the address
};

// Reads the body of a request into `call.body`; returns the reply to one that is not JSON.
std::optional<server::Reply> read_body(server::Call& call);
// Reads a request, of which `document` is consumed. `version`: the header A2A-Version, or the
// parameter of this name.
std::optional<server::Reply> read_request(Value document, std::string_view version,
                                          A2aRequest& request);

server::Reply result_reply(const Value& id, Value result);
server::Reply fault_reply(const Value& id, const Failure& failure);
// The response that a result is a part of, in a stream, too.
Value response_of(const Value& id, Value result);

// The message of a client, and how it wants the reply.
struct SentMessage {
  std::string id;
  std::string context;  // empty: a new one
  std::string task;     // empty: a new one
  std::string text;     // of all parts that are texts, with line breaks between them
  bool has_text = false;
  std::optional<Value> data = std::nullopt;  // of the only part that is data
  std::string interrupt;                     // the approval that it answers; empty: not named
  Value push;                                // a push notification config, or null
  bool returns_immediately = false;
  std::optional<std::size_t> history_length = std::nullopt;
};

// Returns the reason if the params of SendMessage are not acceptable.
std::optional<Failure> read_sent(const Value& params, SentMessage& message);
// Reads `historyLength` of an object of params.
std::optional<Failure> read_history_length(const Value& params, std::optional<std::size_t>& length);
// Reads a member that is a text, or absent: then `text` is empty.
std::optional<Failure> read_text(const Value& object, std::string_view name, std::string& text);
// Reads a member that must be a text. An empty one is an absent one, as in Protocol Buffers.
std::optional<Failure> required_text(const Value& object, std::string_view name, std::string& text);

}  // namespace belay::a2a
