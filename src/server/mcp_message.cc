#include "server/mcp_message.h"

#include <algorithm>

namespace belay::server {
namespace {

constexpr std::string_view kLegacyVersions[] = {"2025-11-25", "2025-06-18", "2025-03-26",
                                                "2024-11-05"};
constexpr std::string_view kVersionKey = "io.modelcontextprotocol/protocolVersion";
constexpr std::string_view kCapabilitiesKey = "io.modelcontextprotocol/clientCapabilities";
constexpr std::string_view kServerInfoKey = "io.modelcontextprotocol/serverInfo";
constexpr std::size_t kIdBytesMax = 256;
constexpr std::size_t kMethodBytesMax = 256;
constexpr int kBadRequest = 400;
constexpr int kForbidden = 403;
constexpr int kNotFound = 404;

bool is_legacy(std::string_view version) {
  return std::find(std::begin(kLegacyVersions), std::end(kLegacyVersions), version) !=
         std::end(kLegacyVersions);
}

bool is_id(const Value& id) {
  if (const std::string* text = id.as_string()) return text->size() <= kIdBytesMax;
  return id.holds_integer();
}

Value::Array supported_versions() {
  Value::Array all{kMcpVersion};
  for (std::string_view version : kLegacyVersions) all.emplace_back(version);
  return all;
}

McpReply fault_reply(const Value& id, int status, McpFault code, std::string_view text,
                     Value data) {
  Value::Object fault{{"code", static_cast<std::int64_t>(code)}, {"message", text}};
  if (!data.is_null()) fault.emplace("data", std::move(data));
  McpReply reply;
  reply.status = status;
  reply.document =
      Value::object({{"jsonrpc", "2.0"}, {"id", id}, {"error", Value(std::move(fault))}});
  return reply;
}

// The status of HTTP for an error of the modern era; an older client expects 200.
int status_of(const McpMessage& message, McpFault code) {
  if (code == McpFault::refused) return kForbidden;
  if (code == McpFault::header_mismatch || code == McpFault::unsupported_version) {
    return kBadRequest;
  }
  if (!message.is_modern) return 200;
  if (code == McpFault::unknown_method) return kNotFound;
  return code == McpFault::missing_capability ? kBadRequest : 200;
}

// Checks the metadata that each request of the modern era has.
std::optional<McpReply> read_metadata(std::string_view version_header, McpMessage& message) {
  auto refused = [&](std::string_view text) {
    return fault_reply(message.id, kBadRequest, McpFault::invalid_params, text, Value());
  };
  const Value& meta = message.params["_meta"];
  const std::string* version = meta[kVersionKey].as_string();
  const Value& capabilities = meta[kCapabilitiesKey];
  if (!version) return refused("params._meta has no protocolVersion.");
  if (!capabilities.as_object()) return refused("params._meta has no clientCapabilities.");
  if (!version_header.empty() && version_header != *version) {
    return mcp_fault(message, McpFault::header_mismatch,
                     "MCP-Protocol-Version differs from params._meta.");
  }
  if (*version != kMcpVersion) {
    Value data = Value::object({{"requested", *version}, {"supported", supported_versions()}});
    return mcp_fault(message, McpFault::unsupported_version,
                     "This revision of the protocol is not supported.", std::move(data));
  }
  message.has_tasks = capabilities["extensions"][kMcpTasks].as_object() != nullptr;
  const Value& elicitation = capabilities["elicitation"];
  // Without members, it is that of forms.
  bool is_url_only = elicitation.find("url") && !elicitation.find("form");
  message.has_elicitation = elicitation.as_object() && !is_url_only;
  return std::nullopt;
}

}  // namespace

std::optional<McpReply> read_mcp_message(Value document, std::string_view version_header,
                                         McpMessage& message) {
  if (document.as_array()) {
    return mcp_malformed(McpFault::invalid_request, "Batches are not supported.");
  }
  if (!document.as_object() || document["jsonrpc"] != Value("2.0")) {
    return mcp_malformed(McpFault::invalid_request, "The message is not one of JSON-RPC 2.0.");
  }
  const Value* id = document.find("id");
  bool is_reply = !document.find("method") && (document.find("result") || document.find("error"));
  if (is_reply) {
    // This server sends no requests: a reply belongs to none.
    message.is_notification = true;
    return std::nullopt;
  }
  if (id && !is_id(*id)) {
    return mcp_malformed(McpFault::invalid_request, "The id is neither a string nor an integer.");
  }
  if (id) message.id = *id;
  message.is_notification = id == nullptr;
  const std::string* method = document["method"].as_string();
  if (!method || method->empty() || method->size() > kMethodBytesMax) {
    return fault_reply(message.id, kBadRequest, McpFault::invalid_request,
                       "The method is not a text of 1 to 256 bytes.", Value());
  }
  message.method = *method;
  if (document.find("params")) {
    message.params = std::move(document.as_object()->find("params")->second);
  }
  if (!message.params.is_null() && !message.params.as_object()) {
    return fault_reply(message.id, kBadRequest, McpFault::invalid_params,
                       "The params are not an object.", Value());
  }
  bool names_version = message.params["_meta"].find(kVersionKey) != nullptr;
  bool is_modern_header = !version_header.empty() && !is_legacy(version_header);
  message.is_modern = names_version || is_modern_header || message.method == "server/discover";
  if (!message.is_modern || message.is_notification) return std::nullopt;
  return read_metadata(version_header, message);
}

std::string_view legacy_mcp_version(std::string_view requested) {
  auto found = std::find(std::begin(kLegacyVersions), std::end(kLegacyVersions), requested);
  return found == std::end(kLegacyVersions) ? kLegacyVersions[0] : *found;
}

bool is_mcp_token(const Value& token) { return is_id(token) || token.as_double(); }

McpReply mcp_result(const McpMessage& message, Value::Object members) {
  if (message.is_modern) {
    members.emplace("resultType", "complete");
    members.emplace("_meta", Value(mcp_result_meta()));
  }
  if (message.method == "server/discover") {
    members.emplace("supportedVersions", supported_versions());
  }
  McpReply reply;
  reply.document = Value::object(
      {{"jsonrpc", "2.0"}, {"id", message.id}, {"result", Value(std::move(members))}});
  return reply;
}

Value mcp_notification(std::string_view method, Value::Object params) {
  return Value::object(
      {{"jsonrpc", "2.0"}, {"method", method}, {"params", Value(std::move(params))}});
}

McpReply mcp_fault(const McpMessage& message, McpFault code, std::string_view text, Value data) {
  return fault_reply(message.id, status_of(message, code), code, text, std::move(data));
}

McpReply mcp_failed(const McpMessage& message, const Error& failed) {
  McpFault code = failed.code == ErrorCode::invalid     ? McpFault::invalid_params
                  : failed.code == ErrorCode::forbidden ? McpFault::refused
                                                        : McpFault::internal;
  return mcp_fault(message, code, failed.message);
}

McpReply mcp_forbidden(const McpMessage& message, Permission needed) {
  return mcp_fault(message, McpFault::refused,
                   "This API key lacks the permission " + std::string(name_of(needed)) + ".");
}

McpReply mcp_without_tasks(const McpMessage& message) {
  Value extensions = Value::object({{std::string(kMcpTasks), Value(Value::Object())}});
  Value capabilities = Value::object({{"extensions", std::move(extensions)}});
  return mcp_fault(message, McpFault::missing_capability,
                   "The client has not declared the extension for tasks.",
                   Value::object({{"requiredCapabilities", std::move(capabilities)}}));
}

McpReply mcp_malformed(McpFault code, std::string_view text) {
  return fault_reply(Value(), kBadRequest, code, text, Value());
}

Value::Object mcp_result_meta() { return {{std::string(kServerInfoKey), mcp_server_info()}}; }

Value mcp_server_info() { return Value::object({{"name", "belay"}, {"version", BELAY_VERSION}}); }

}  // namespace belay::server
