#include "mcp/session.h"

#include <algorithm>

#include "base/in_quotes.h"
#include "models/json_sanitizer.h"

namespace belay::mcp {
namespace {

constexpr std::string_view legacy_versions[] = {"2025-11-25", "2025-06-18", "2025-03-26",
                                                "2024-11-05"};
constexpr std::size_t quoted_characters = 200;
constexpr std::size_t instructions_bytes_max = 64 * 1024;
constexpr std::string_view meta_prefix = "io.modelcontextprotocol/";

enum class Era { unknown, modern, legacy, neither };

Value client_info() { return Value::object({{"name", "belay"}, {"version", BELAY_VERSION}}); }

std::string meta_key(std::string_view name) { return std::string(meta_prefix) + std::string(name); }

Value elicitation_capability() { return Value::object({{"form", Value(Value::Object())}}); }

Value client_capabilities(bool has_elicitation) {
  Value::Object extensions{{meta_key("tasks"), Value(Value::Object())}};
  Value::Object capabilities{{"extensions", Value(std::move(extensions))}};
  if (has_elicitation) capabilities.emplace("elicitation", elicitation_capability());
  return Value(std::move(capabilities));
}

Value with_metadata(Value params, const Session& session) {
  if (!session.dialect.is_modern) return params;
  if (!params.as_object()) params = Value(Value::Object());
  Value::Object meta{{meta_key("clientCapabilities"), client_capabilities(session.has_elicitation)},
                     {meta_key("clientInfo"), client_info()},
                     {meta_key("protocolVersion"), session.dialect.version}};
  params.as_object()->insert_or_assign("_meta", Value(std::move(meta)));
  return params;
}

bool is_legacy_version(const Value& version) {
  return std::any_of(std::begin(legacy_versions), std::end(legacy_versions),
                     [&](std::string_view each) { return version == Value(each); });
}

// Returns the era of the first supported revision in our order.
Era era_of(const Value& supported) {
  const Value::Array* versions = supported.as_array();
  if (!versions) return Era::unknown;
  bool is_modern = std::any_of(versions->begin(), versions->end(),
                               [](const Value& each) { return each == Value(modern_version); });
  if (is_modern) return Era::modern;
  return std::any_of(versions->begin(), versions->end(), is_legacy_version) ? Era::legacy
                                                                            : Era::neither;
}

// Returns the era that the reply to the first question shows; `unknown`: try the older handshake.
Era era_of(const Message& reply) {
  if (reply.kind == MessageKind::result) return era_of(reply.result["supportedVersions"]);
  switch (reply.fault.code) {
    case unsupported_version: {
      Era era = era_of(reply.fault.data["supported"]);
      return era == Era::unknown ? Era::neither : era;
    }
    case header_mismatch:
    case missing_capability:
      return Era::neither;
    default:
      return Era::unknown;
  }
}

std::string shown(const Value& value) {
  const std::string* text = value.as_string();
  return text ? models::quotable(*text, quoted_characters) : std::string();
}

void read_identity(const Value& server, const Value& instructions, ServerInfo& info) {
  info.name = shown(server["name"]);
  info.version = shown(server["version"]);
  const std::string* text = instructions.as_string();
  if (text && text->size() <= instructions_bytes_max) info.instructions = *text;
}

Error no_common_version(const ServerOptions& options) {
  return error(ErrorCode::invalid,
               "The MCP server " + in_quotes(options.name) +
                   " supports no revision of the protocol that Belay has. Update the server.");
}

// Changes of the tools are announced, if the server declares it. In the older era, the same stream
// can have questions.
void listen_if_useful(const Session& session, const Value& server_capabilities) {
  bool announces = server_capabilities["tools"]["listChanged"] == Value(true);
  bool can_ask = !session.dialect.is_modern && session.has_elicitation;
  if (!announces && !can_ask) return;
  Value wanted = Value::object({{"toolsListChanged", true}});
  Request request;
  request.method = "subscriptions/listen";
  request.params = Value::object({{"notifications", std::move(wanted)}});
  request.params = with_metadata(std::move(request.params), session);
  session.connection->listen(std::move(request));
}

struct Probe {
  Era era = Era::unknown;
  bool was_late = false;
  bool was_refused = false;  // for the revision, although the server has it
  Session session{};
};

Task<Result<Probe>> probe(std::shared_ptr<Connection> connection, bool has_elicitation,
                          std::chrono::milliseconds timeout) {
  Probe found;
  found.session.connection = connection;
  found.session.has_elicitation = has_elicitation;
  found.session.dialect = Dialect{true, std::string(modern_version)};
  connection->use(found.session.dialect);
  Request request;
  request.method = "server/discover";
  request.params = with_metadata(Value(), found.session);
  request.timeout = timeout;
  request.is_handshake = true;
  auto reply = co_await connection->send(std::move(request));
  if (!reply.ok()) {
    bool was_late = reply.error().code == ErrorCode::uncertain && connection->is_usable();
    if (!was_late) co_return std::move(reply).error();
    found.was_late = true;
    co_return found;
  }
  found.era = era_of(reply->message);
  if (found.era != Era::modern) co_return found;
  found.was_refused = reply->message.kind == MessageKind::fault;
  if (found.was_refused) co_return found;
  const Value& result = reply->message.result;
  const Value& named = result["_meta"][meta_key("serverInfo")];
  read_identity(named.is_null() ? result["serverInfo"] : named, result["instructions"],
                found.session.info);
  found.session.info.protocol = modern_version;
  listen_if_useful(found.session, result["capabilities"]);
  co_return found;
}

Task<Result<Session>> initialize(std::shared_ptr<Connection> connection,
                                 const ServerOptions& options) {
  connection->use(Dialect());
  Request request;
  request.method = "initialize";
  Value::Object capabilities;
  if (options.on_input) capabilities.emplace("elicitation", Value(Value::Object()));
  request.params = Value::object({{"capabilities", Value(std::move(capabilities))},
                                  {"clientInfo", client_info()},
                                  {"protocolVersion", legacy_versions[0]}});
  request.timeout = options.start_timeout;
  request.is_handshake = true;
  auto sent = co_await connection->send(std::move(request));
  if (!sent.ok()) co_return std::move(sent).error();
  const Message& reply = sent->message;
  if (reply.kind == MessageKind::fault) {
    co_return error(ErrorCode::invalid, "The MCP server " + in_quotes(options.name) +
                                            " refused the handshake: " + reply.fault.message +
                                            " (" + std::to_string(reply.fault.code) + ").");
  }
  const Value& version = reply.result["protocolVersion"];
  if (!is_legacy_version(version)) co_return no_common_version(options);
  Session session;
  session.connection = connection;
  session.dialect.version = *version.as_string();
  session.has_elicitation = options.on_input != nullptr;
  session.info.protocol = session.dialect.version;
  read_identity(reply.result["serverInfo"], reply.result["instructions"], session.info);
  connection->use(session.dialect);
  std::string initialized("notifications/initialized");
  BELAY_CO_CHECK(co_await connection->notify(std::move(initialized), Value()));
  listen_if_useful(session, reply.result["capabilities"]);
  co_return session;
}

}  // namespace

Task<Result<Session>> begin_session(std::shared_ptr<Connection> connection,
                                    const ServerOptions& options, bool is_legacy) {
  Probe found;
  bool has_elicitation = options.on_input != nullptr;
  if (!is_legacy) {
    BELAY_CO_TRY(found, co_await probe(connection, has_elicitation, options.probe_timeout));
    if (found.was_refused) {
      BELAY_CO_TRY(found, co_await probe(connection, has_elicitation, options.start_timeout));
      if (found.was_refused) co_return no_common_version(options);
    }
  }
  if (found.era == Era::modern) co_return std::move(found.session);
  if (found.era == Era::neither) co_return no_common_version(options);
  auto session = co_await initialize(connection, options);
  bool was_refused = !session.ok() && session.error().code == ErrorCode::invalid;
  if (!found.was_late || !was_refused || !connection->is_usable()) co_return session;
  // A server that starts slowly and does not have the older handshake.
  BELAY_CO_TRY(found, co_await probe(connection, has_elicitation, options.start_timeout));
  if (found.era == Era::modern && !found.was_refused) co_return std::move(found.session);
  co_return session;
}

Task<Result<Value>> ask(Session session, Request request, bool* headers_differ) {
  request.params = with_metadata(std::move(request.params), session);
  std::string method = request.method;
  auto reply = co_await session.connection->send(std::move(request));
  if (!reply.ok()) co_return std::move(reply).error();
  Message& message = reply->message;
  if (message.kind == MessageKind::result) co_return std::move(message.result);
  if (headers_differ) *headers_differ = message.fault.code == header_mismatch;
  co_return error(ErrorCode::invalid, "The MCP server refused " + method + ": " +
                                          message.fault.message + " (" +
                                          std::to_string(message.fault.code) + ").");
}

void post(const Session& session, Request request) {
  request.params = with_metadata(std::move(request.params), session);
  session.connection->post(std::move(request));
}

}  // namespace belay::mcp
