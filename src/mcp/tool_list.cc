#include "mcp/tool_list.h"

#include <algorithm>

#include "base/characters.h"
#include "base/in_quotes.h"
#include "base/text_in.h"
#include "mcp/parameter_headers.h"
#include "models/json_sanitizer.h"

namespace belay::mcp {
namespace {

constexpr std::size_t quoted_name_characters = 80;
constexpr int schema_nesting_max = 60;

bool is_true(const Value& value) { return value == Value(true); }

// Returns why the part of a schema cannot be used; nullopt if it can.
std::optional<std::string> part_fault(const Value& part, int depth) {
  if (depth > schema_nesting_max) return "its schema is nested too deeply";
  if (const Value::Array* items = part.as_array()) {
    for (const Value& item : *items) {
      if (auto fault = part_fault(item, depth + 1)) return fault;
    }
  }
  const Value::Object* members = part.as_object();
  if (!members) return std::nullopt;
  for (const auto& [name, value] : *members) {
    const std::string* text = value.as_string();
    bool refers = name == "$ref" || name == "$dynamicRef";
    if (refers && text && !text->starts_with('#')) return "its schema refers to another document";
    if (auto fault = part_fault(value, depth + 1)) return fault;
  }
  return std::nullopt;
}

std::optional<std::string> tool_fault(const ToolInfo& tool, bool checks_marks) {
  if (tool.name.empty() || tool.name.size() > tool_name_bytes_max || has_control(tool.name)) {
    return "its name is empty, longer than " + std::to_string(tool_name_bytes_max) +
           " bytes, or contains control characters";
  }
  if (tool.description.size() > description_bytes_max) {
    return "its description is longer than " + std::to_string(description_bytes_max) + " bytes";
  }
  if (tool.input_schema["type"] != Value("object")) return "its schema is not one of an object";
  if (to_json(tool.input_schema).size() > schema_bytes_max) {
    return "its schema is longer than " + std::to_string(schema_bytes_max) + " bytes";
  }
  if (auto fault = part_fault(tool.input_schema, 0)) return fault;
  return checks_marks ? marks_fault(tool.input_schema) : std::nullopt;
}

ToolInfo tool_of(const Value& document) {
  ToolInfo tool;
  tool.name = text_in(document, "name");
  tool.description = text_in(document, "description");
  if (tool.description.empty()) tool.description = text_in(document, "title");
  tool.input_schema = document["inputSchema"];
  const Value& hints = document["annotations"];
  tool.reads_only = is_true(hints["readOnlyHint"]);
  tool.is_idempotent = is_true(hints["idempotentHint"]);
  return tool;
}

std::string size_text(const Value& item) {
  return std::to_string(text_in(item, "data").size() + text_in(item, "blob").size()) +
         " characters of base64";
}

// The text of one element of a result.
std::string content_text(const Value& item) {
  std::string type = text_in(item, "type");
  if (type == "text") return text_in(item, "text");
  if (type == "image" || type == "audio") {
    return "[" + type + ", " + text_in(item, "mimeType") + ", " + size_text(item) + "]";
  }
  if (type == "resource_link") {
    std::string link = "[link to " + text_in(item, "uri");
    std::string name = text_in(item, "name");
    return link + (name.empty() ? "]" : ", " + name + "]");
  }
  if (type == "resource") {
    const Value& resource = item["resource"];
    std::string text = text_in(resource, "text");
    if (!text.empty()) return "[" + text_in(resource, "uri") + "]\n" + text;
    return "[resource " + text_in(resource, "uri") + ", " + text_in(resource, "mimeType") + ", " +
           size_text(resource) + "]";
  }
  return "[content of the type " + in_quotes(models::quotable(type, quoted_name_characters)) + "]";
}

Error malformed_reply(std::string_view fault) {
  return error(ErrorCode::invalid,
               "An MCP server replied not as the protocol defines: " + std::string(fault) + ".");
}

}  // namespace

Result<std::optional<std::string>> add_page(const Value& page, bool checks_marks,
                                            std::size_t tools_max, ToolList& list) {
  const Value::Array* tools = page["tools"].as_array();
  if (!tools) return malformed_reply("its list has no tools");
  if (list.tools.size() + list.refused.size() + tools->size() > tools_max) {
    return error(ErrorCode::exhausted, "An MCP server has more than " + std::to_string(tools_max) +
                                           " tools. Increase ServerOptions::tools_max.");
  }
  for (const Value& document : *tools) {
    ToolInfo tool = tool_of(document);
    auto fault = tool_fault(tool, checks_marks);
    bool is_known = std::any_of(list.tools.begin(), list.tools.end(),
                                [&](const ToolInfo& each) { return each.name == tool.name; });
    if (!fault && is_known) fault = "its name is listed twice";
    if (!fault) {
      list.tools.push_back(std::move(tool));
    } else {
      list.refused.push_back({models::quotable(tool.name, quoted_name_characters), *fault});
    }
  }
  const Value& next = page["nextCursor"];
  if (next.is_null()) return std::optional<std::string>();
  const std::string* cursor = next.as_string();
  if (!cursor || cursor->size() > cursor_bytes_max) return malformed_reply("its cursor");
  return std::optional<std::string>(*cursor);
}

Result<CallResult> call_result_of(const Value& result) {
  if (result["resultType"] == Value("input_required")) {
    return error(ErrorCode::invalid,
                 "The tool requires input, and the revision of the protocol has no such result.");
  }
  if (const Value* type = result.find("resultType"); type && *type != Value("complete")) {
    return malformed_reply("its result is of an unknown type");
  }
  CallResult call;
  call.structured = result["structuredContent"];
  call.is_error = is_true(result["isError"]);
  const Value::Array* content = result["content"].as_array();
  if (!content && call.structured.is_null()) return malformed_reply("its result has no content");
  for (const Value& item : content ? *content : Value::Array()) {
    if (!call.text.empty()) call.text += "\n";
    call.text += content_text(item);
  }
  if (call.text.empty() && !call.structured.is_null()) call.text = to_json(call.structured);
  return call;
}

}  // namespace belay::mcp
