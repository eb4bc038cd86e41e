#include "models/protocol.h"

#include "models/json_sanitizer.h"

namespace belay::models {
namespace {

// Returns "host:port" of a URL: without path, query, user name and password.
std::string host_in(std::string_view url) {
  std::size_t scheme = url.find("://");
  if (scheme != url.npos) url.remove_prefix(scheme + 3);
  url = url.substr(0, url.find_first_of("/?#"));
  std::size_t login = url.rfind('@');
  if (login != url.npos) url.remove_prefix(login + 1);
  return std::string(url);
}

}  // namespace

std::string Server::who() const {
  if (model.empty()) return "The server of " + provider + " at " + host_in(url);
  return "The model " + quotable(provider + ":" + model, 100) + " at " + host_in(url);
}

const std::vector<ToolDefinition>& callable_tools(const ModelRequest& request) {
  static const std::vector<ToolDefinition> none;
  return request.tool_choice == ToolChoice::none ? none : request.tools;
}

std::string_view called_tool(const ModelRequest& request, const Message& result) {
  for (const Message& message : request.messages) {
    for (const ToolCall& call : message.tool_calls) {
      if (call.id == result.tool_call_id) return call.name;
    }
  }
  return {};
}

Value function_tools(const std::vector<ToolDefinition>& tools) {
  Value::Array all;
  for (const ToolDefinition& tool : tools) {
    Value function = Value::object(
        {{"name", tool.name}, {"description", tool.description}, {"parameters", tool.parameters}});
    all.push_back(Value::object({{"type", "function"}, {"function", std::move(function)}}));
  }
  return Value(std::move(all));
}

Value arguments_object(const ToolCall& call) {
  if (call.arguments.as_object()) return call.arguments;
  if (call.arguments.is_null()) return Value(Value::Object());
  return Value::object({{"text", call.arguments}});
}

std::string schema_in_words(const Value& schema) {
  return "Answer with JSON alone, without a word around it, that obeys this JSON Schema: " +
         to_json(schema);
}

std::vector<std::string> texts_in(const Value& list, std::string_view member) {
  std::vector<std::string> texts;
  const Value::Array* items = list.as_array();
  if (!items) return texts;
  for (const Value& item : *items) {
    if (const std::string* text = item[member].as_string()) texts.push_back(*text);
  }
  return texts;
}

std::string body_with_messages(Value::Object others, const Value& messages) {
  std::string body = to_json(Value(std::move(others)));
  body.pop_back();
  if (body.size() > 1) body += ',';
  return body + "\"messages\":" + to_json(messages) + '}';
}

net::HttpRequest post_json(std::string url, std::string body) {
  net::HttpRequest request;
  request.method = "POST";
  request.url = std::move(url);
  request.body = std::move(body);
  request.headers.push_back({"content-type", "application/json"});
  return request;
}

void add_bearer(const Server& server, net::HttpRequest& http) {
  if (!server.key.empty()) http.headers.push_back({"authorization", "Bearer " + server.key});
}

}  // namespace belay::models
