#pragma once
// belay/mcp.h - the tools of MCP servers (Model Context Protocol) as tools of agents.
//
//     mcp::ServerOptions options;
//     options.name = "files";
//     options.command = {"npx", "-y", "@modelcontextprotocol/server-filesystem@2026.8.31", "data"};
//     BELAY_TRY(auto server, mcp::open_server(std::move(options)));
//     mcp::ToolSetOptions which;
//     which.pins = "mcp-pins.json";
//     BELAY_TRY(auto set, block_on(*loop, mcp::tools_of(server, which)));
//     for (const auto& difference : set.differences) report(difference.text());
//     agent.tools = set.tools;                         // "files__read_text_file", ...
//
// A server is a program, to which Belay writes lines, or a URL (streamable HTTP). The revision
// 2026-07-28 of the protocol is tried first, then 2025-11-25, 2025-06-18, 2025-03-26 and
// 2024-11-05.
//
// All that a server sends is untrusted: results mark the conversation (ToolOptions::untrusted), and
// the hints of a tool choose its effect class only. Sizes, numbers and times are bounded. A server
// can ask for input during a call: `on_input` answers. Other requests of a server, such as
// sampling, are refused; $ref is never fetched.
//
// Pins are the descriptions, schemas and effects of tools that a person accepted, in a file. A tool
// that differs from its pin is not offered, and a call of a tool that has changed since tools_of()
// fails with `forbidden`, before anything is sent.
//
// Threading: any thread and any executor; the awaiting one resumes. Destroying a Task cancels its
// request.
// https://modelcontextprotocol.io/specification/2026-07-28

#include <chrono>
#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "belay/http.h"
#include "belay/tool.h"

namespace belay::mcp {

// A form that a server asks a person to fill in, during a call (elicitation). Its texts are
// untrusted: show the name of the server with them, and never ask for secrets.
struct InputRequest {
  std::string server{};   // ServerOptions::name
  std::string tool{};     // as the server names it
  std::string message{};  // at most 8 KiB
  Value schema{};         // of an object, whose members are texts, numbers, booleans or choices
};

enum class InputAction {
  accept,   // with the content of the form
  decline,  // explicitly
  cancel,   // no decision
};

struct InputResponse {
  InputAction action = InputAction::cancel;
  // For `accept`: an object that fits the schema. Members that are missing get their defaults.
  Value content{};
};

// Returns the response of a person; an Error ends the call. Called on the executor of the call.
using InputFunction = std::function<Task<Result<InputResponse>>(InputRequest request)>;

// How far a call is, according to its server.
struct Progress {
  std::string tool{};
  double progress = 0;            // increases
  std::optional<double> total{};  // of `progress`
  std::string message{};          // untrusted; at most 500 characters, in one line
};

using ProgressFunction = std::function<void(const Progress& progress)>;

struct ServerOptions {
  std::string name;  // the beginning of the names of its tools: 1 to 30 letters, digits, _ and -

  // Either a program with its arguments, which is started without a shell, or a URL.
  std::vector<std::string> command = {};
  // The environment of the program, in addition to PATH and HOME.
  std::map<std::string, std::string> environment = {};
  std::chrono::milliseconds stop_grace{2'000};  // until SIGTERM, and then until SIGKILL

  std::string url = {};
  std::vector<HttpHeader> headers = {};  // of every request, such as Authorization
  // Null: open_http() with an EgressPolicy that differs only by its timeout, which is that of
  // calls.
  std::shared_ptr<HttpAccess> http = nullptr;

  // Time for which the answer to the first question about the protocol is awaited, before the
  // older handshake is tried; only for programs.
  std::chrono::milliseconds probe_timeout{5'000};
  std::chrono::milliseconds start_timeout{30'000};  // of the handshake, and of one page of a list
  // Of one call of a tool: without progress, and in all. The second is also that of a task, which
  // is a call that the server finishes in the background. The time for input does not count.
  std::chrono::milliseconds call_timeout{60'000};
  std::chrono::milliseconds call_timeout_max{600'000};

  // Null: the server is not offered input, and a call that requires it fails.
  InputFunction on_input = nullptr;
  std::chrono::milliseconds input_timeout{600'000};  // of one form; then `cancel`
  int inputs_max = 10;                               // rounds of one call
  ProgressFunction on_progress = nullptr;            // on the executor of the call
  std::size_t message_bytes_max = 8u << 20;
  std::size_t tools_max = 1'000;
};

struct ServerInfo {
  std::string protocol{};  // the negotiated revision: "2026-07-28"
  std::string name{}, version{};
  std::string instructions{};
};

// A tool, as its server describes it.
struct ToolInfo {
  std::string name{};
  std::string description{};
  Value input_schema{};
  bool reads_only = false;     // readOnlyHint
  bool is_idempotent = false;  // idempotentHint

  // `reads` for a tool that only reads, `keyed` for an idempotent one, otherwise `unkeyed`.
  ToolEffect effect() const;
};

// A tool that cannot be offered, such as one whose schema is too large.
struct RefusedTool {
  std::string name{};
  std::string reason{};
};

struct ToolList {
  std::vector<ToolInfo> tools{};
  std::vector<RefusedTool> refused{};
};

struct CallResult {
  std::string text{};  // texts, links as their URIs, and the type and size of other content
  Value structured{};  // structuredContent; null: none
  bool is_error = false;
};

// An MCP server. A program is started, and a handshake performed, by the first request; if the
// program or its session has ended, the next request starts it again. Errors:
//   unavailable  the server cannot be reached; nothing was executed
//   uncertain    a call was sent, and its outcome is not known; a task is then cancelled
//   invalid      the server replied with an error, or not as the protocol defines
//   exhausted    a limit of ServerOptions is exceeded; a program is then stopped
//   forbidden    the egress policy or the server (401, 403) refuses the request
class Server {
 public:
  virtual ~Server() = default;

  virtual const ServerOptions& options() const = 0;
  virtual Task<Result<ServerInfo>> info() = 0;
  // Returns all tools; reads every page.
  virtual Task<Result<ToolList>> list() = 0;
  // Calls a tool as the server names it. The server validates the arguments.
  virtual Task<Result<CallResult>> call(std::string tool, Value arguments) = 0;
  // The same, after it has ensured that the tool is still this one: `forbidden` if it is not. Lists
  // the tools again only if the server was started again or has announced a change, and every five
  // minutes according to `now`. `on_input`: instead of that of ServerOptions, in the modern era; an
  // exception that it throws ends the call.
  virtual Task<Result<CallResult>> call_as_known(ToolInfo tool, Value arguments, Instant now,
                                                 InputFunction on_input = nullptr) = 0;
};

// Starts nothing. Fails with `invalid` for options that cannot be used. The destructor of a server
// waits for the end of its program, or of its session, within `stop_grace`.
Result<std::shared_ptr<Server>> open_server(ServerOptions options);

// The accepted form of one tool.
struct ToolPin {
  std::string schema{};       // SHA-256 of the JSON text of its schema, in hex
  std::string description{};  // SHA-256
  std::string effect{};       // "reads", "keyed" or "unkeyed"
  friend bool operator==(const ToolPin&, const ToolPin&) = default;
};

struct ServerPins {
  std::string identity{};  // SHA-256 of the command, or of the URL
  std::map<std::string, ToolPin> tools{};
};

// By ServerOptions::name.
using Pins = std::map<std::string, ServerPins>;

enum class PinChange {
  added,    // the tool is not pinned
  removed,  // a pinned tool does not exist any more
  renamed,  // a pinned tool does not exist any more, and another one with its pin does
  changed,  // the schema, the description, the effect or the server differs
};

struct PinDifference {
  PinChange change = PinChange::added;
  std::string server{};
  std::string tool{};
  std::string former_name{};         // of a renamed tool
  std::vector<std::string> parts{};  // of a changed one: "schema", "description", ...
  std::string text() const;          // one line, for display
};

// Reads a pin file; a file that does not exist has no pins. `corrupt` if it is malformed.
Result<Pins> read_pins(const std::string& path);
// Writes a pin file, atomically. Blocks.
Result<Done> write_pins(const std::string& path, const Pins& pins);

// Returns the differences between the pins and the tools of a server.
std::vector<PinDifference> check_pins(const Pins& pins, const ServerOptions& server,
                                      const std::vector<ToolInfo>& tools);
// Pins the tools as they are now, instead of all earlier pins of the server.
void accept_pins(Pins& pins, const ServerOptions& server, const std::vector<ToolInfo>& tools);

struct ToolSetOptions {
  // A pin file: only tools that equal their pins are offered. Empty: all tools are.
  std::string pins = {};
  std::vector<std::string> names = {};  // as the server names them; empty: all
  ToolApproval approval = ToolApproval::untrusted;
  EffectOptions uncertain = {};  // of unkeyed tools
  int attempts = 3;              // of a call that failed with `unavailable`
};

struct ToolSet {
  std::vector<Tool> tools{};
  std::vector<PinDifference> differences{};
  std::vector<RefusedTool> refused{};
};

// Returns the tools of a server, for AgentOptions::tools. They keep the server. A tool is named
// SERVER__TOOL; a name that providers do not accept is replaced by a similar one that ends with a
// part of its hash. Fails with `invalid` for an entry of `names` that the server does not have.
Task<Result<ToolSet>> tools_of(std::shared_ptr<Server> server, ToolSetOptions options);

std::string_view name_of(PinChange change);

}  // namespace belay::mcp
