// Messages in LangChain's flat form. Its clients and servers write several dialects: `type` or
// `role`, a text or a list of blocks, and calls in LangChain's or in OpenAI's form.

#include <array>

#include "base/text_in.h"
#include "conversation/call_arguments.h"
#include "conversation/conversation.h"

namespace belay::conversation {
namespace {

struct AuthorName {
  std::string_view name;
  Author author;
};
constexpr std::array author_names{
    AuthorName{"human", Author::person},
    AuthorName{"user", Author::person},
    AuthorName{"HumanMessage", Author::person},
    AuthorName{"HumanMessageChunk", Author::person},
    AuthorName{"ai", Author::agent},
    AuthorName{"assistant", Author::agent},
    AuthorName{"AIMessage", Author::agent},
    AuthorName{"AIMessageChunk", Author::agent},
    AuthorName{"tool", Author::tool},
    AuthorName{"function", Author::tool},
    AuthorName{"ToolMessage", Author::tool},
    AuthorName{"ToolMessageChunk", Author::tool},
    AuthorName{"system", Author::system},
    AuthorName{"developer", Author::system},
    AuthorName{"SystemMessage", Author::system},
    AuthorName{"SystemMessageChunk", Author::system},
};

Result<Author> author_of(const Value& message) {
  const std::string* type = message["type"].as_string();
  // These two types are of messages whose author is the role.
  bool has_role = !type || *type == "chat" || *type == "generic" || *type == "message";
  const std::string* name = has_role ? message["role"].as_string() : type;
  if (!name) {
    return error(ErrorCode::invalid,
                 "The message has no type. Use \"human\", \"ai\", \"system\" or \"tool\".");
  }
  for (const AuthorName& each : author_names) {
    if (each.name == *name) return each.author;
  }
  return error(ErrorCode::invalid,
               "The message has an unknown type: use \"human\", \"ai\", "
               "\"system\" or \"tool\".");
}

// The blocks that a message has for its model only: their text is not part of the conversation, or
// is in tool_calls.
bool is_hidden_block(std::string_view type) {
  return type == "thinking" || type == "redacted_thinking" || type == "reasoning" ||
         type == "tool_use" || type == "tool_call" || type == "input_json_delta";
}

// Adds the text of a block; false if the block has contents without a text.
Result<bool> add_block(const Value& block, std::string& text) {
  if (const std::string* plain = block.as_string()) {
    text += *plain;
    return true;
  }
  const std::string* type = block["type"].as_string();
  if (!type) return error(ErrorCode::invalid, "A block of the content has no type.");
  bool is_text = *type == "text" || *type == "input_text" || *type == "output_text";
  if (!is_text) return is_hidden_block(*type);
  const std::string* part = block["text"].as_string();
  if (!part) return error(ErrorCode::invalid, "A block of text has no \"text\".");
  text += *part;
  return true;
}

Result<Done> read_content(const Value& content, ChatEntry& entry) {
  if (content.is_null()) return Done{};
  if (const std::string* text = content.as_string()) {
    entry.text = *text;
    return Done{};
  }
  const Value::Array* blocks = content.as_array();
  if (!blocks) {
    return error(ErrorCode::invalid, "The content of the message is a " +
                                         std::string(content.kind()) +
                                         ": expected a text or a list of blocks.");
  }
  bool is_all = true;
  for (const Value& block : *blocks) {
    BELAY_TRY(bool is_read, add_block(block, entry.text));
    is_all = is_all && is_read;
  }
  if (!is_all) entry.content = content;
  return Done{};
}

// In OpenAI's form, the arguments are a text of JSON.
Result<ChatCall> call_of(const Value& given) {
  const Value& function = given["function"];
  const Value& described = function.is_null() ? given : function;
  const std::string* tool = described["name"].as_string();
  if (!tool) return error(ErrorCode::invalid, "A call of the message has no name.");
  const Value& arguments = described[function.is_null() ? "args" : "arguments"];
  return ChatCall{text_in(given, "id"), *tool, call_arguments(arguments)};
}

Result<Done> read_calls(const Value& calls, ChatEntry& entry) {
  if (calls.is_null()) return Done{};
  const Value::Array* items = calls.as_array();
  if (!items) return error(ErrorCode::invalid, "The tool_calls of the message are not a list.");
  for (const Value& item : *items) {
    BELAY_TRY(ChatCall call, call_of(item));
    entry.calls.push_back(std::move(call));
  }
  return Done{};
}

std::string_view type_of(Author author) {
  switch (author) {
    case Author::person:
      return "human";
    case Author::agent:
      return "ai";
    case Author::tool:
      return "tool";
    case Author::system:
      return "system";
  }
  return "ai";
}

Value calls_document(const std::vector<ChatCall>& calls) {
  Value::Array documents;
  for (const ChatCall& call : calls) {
    documents.push_back(Value::object(
        {{"id", call.id}, {"name", call.tool}, {"args", call.arguments}, {"type", "tool_call"}}));
  }
  return documents;
}

}  // namespace

Value call_arguments(const Value& given) {
  if (given.as_object()) return given;
  if (given.is_null()) return Value::Object();
  if (const std::string* text = given.as_string()) {
    auto parsed = parse_json(*text);
    if (parsed.ok() && parsed->as_object()) return *std::move(parsed);
    if (text->empty()) return Value::Object();
  }
  return Value::object({{"input", given}});
}

Value langchain_message(const ChatEntry& entry) {
  Value::Object message{{"type", type_of(entry.author)},
                        {"content", entry.content.is_null() ? Value(entry.text) : entry.content},
                        {"additional_kwargs", Value::Object()},
                        {"response_metadata", Value::Object()}};
  if (!entry.id.empty()) message.emplace("id", entry.id);
  if (entry.author == Author::agent) {
    message.emplace("tool_calls", calls_document(entry.calls));
    message.emplace("invalid_tool_calls", Value::Array());
  }
  if (entry.author == Author::tool) {
    message.emplace("tool_call_id", entry.call_id);
    message.emplace("status", entry.is_error ? "error" : "success");
    if (!entry.tool.empty()) message.emplace("name", entry.tool);
  }
  return message;
}

Result<ChatEntry> entry_of_message(const Value& message) {
  if (!message.as_object()) {
    return error(ErrorCode::invalid, "The message is a " + std::string(message.kind()) +
                                         ": expected an object with \"type\" and \"content\".");
  }
  ChatEntry entry;
  BELAY_TRY(entry.author, author_of(message));
  if (!message.find("content") && !message.find("tool_calls")) {
    return error(ErrorCode::invalid, "The message has no content.");
  }
  BELAY_CHECK(read_content(message["content"], entry));
  entry.id = text_in(message, "id");
  if (entry.author == Author::agent) BELAY_CHECK(read_calls(message["tool_calls"], entry));
  if (entry.author == Author::tool) {
    entry.call_id = text_in(message, "tool_call_id");
    entry.tool = text_in(message, "name");
    entry.is_error = text_in(message, "status") == "error";
  }
  return entry;
}

}  // namespace belay::conversation
