// Implements Anthropic's messages API: POST /v1/messages; the response is a stream of named
// server-sent events that ends with message_stop.
// https://docs.anthropic.com/en/api/messages-streaming; @anthropic-ai/sdk, resources/messages

#include <algorithm>
#include <array>

#include "models/error_response.h"
#include "models/json_sanitizer.h"
#include "models/reply_builder.h"
#include "net/event_stream.h"

namespace belay::models {
namespace {

Value text_block(const std::string& text) {
  return Value::object({{"type", "text"}, {"text", text}});
}

// Converts messages to content blocks. All results of the tool calls of one turn must be in one
// user message, before the user's text.
class Turns {
 public:
  void add(std::string_view role, Value block) {
    if (turns_.empty() || is_closed_ || turns_.back().role != role) {
      turns_.push_back({std::string(role), {}});
    }
    is_closed_ = false;
    turns_.back().blocks.push_back(std::move(block));
  }
  // Adds a message without content, which the API rejects: it is omitted, but still separates the
  // messages before it from those after it. Otherwise, a later message of the first one's role
  // would extend a turn that an earlier request has sent. The API accepts two turns of one role.
  void add_nothing(std::string_view role) {
    if (!turns_.empty() && turns_.back().role != role) is_closed_ = true;
  }
  Value value() && {
    Value::Array all;
    for (Turn& turn : turns_) {
      all.push_back(
          Value::object({{"role", std::move(turn.role)}, {"content", std::move(turn.blocks)}}));
    }
    return Value(std::move(all));
  }

 private:
  struct Turn {
    std::string role;
    Value::Array blocks;
  };
  std::vector<Turn> turns_;
  bool is_closed_ = false;  // the next block begins another turn
};

void add_message(const Message& message, Turns& turns) {
  if (message.role == Role::tool) {
    turns.add("user", Value::object({{"type", "tool_result"},
                                     {"tool_use_id", message.tool_call_id},
                                     {"content", message.text}}));
    return;
  }
  std::string_view role = message.role == Role::assistant ? "assistant" : "user";
  // The API rejects an empty text block.
  if (!message.text.empty()) turns.add(role, text_block(message.text));
  if (message.text.empty() && message.tool_calls.empty()) turns.add_nothing(role);
  for (const ToolCall& call : message.tool_calls) {
    turns.add("assistant", Value::object({{"type", "tool_use"},
                                          {"id", call.id},
                                          {"name", call.name},
                                          {"input", arguments_object(call)}}));
  }
}

// Returns the part of a schema that the API accepts; the prompt contains the omitted rules. All
// objects get additionalProperties: false, as the API requires.
// https://docs.anthropic.com/en/docs/build-with-claude/structured-outputs
Value narrowed(const Value& schema, int depth = 0) {
  static constexpr std::array<std::string_view, 13> kept = {
      "$ref",   "type",     "enum",     "const",      "description", "title", "default",
      "format", "required", "minItems", "properties", "$defs",       "items"};
  const Value::Object* members = schema.as_object();
  if (!members || depth > static_cast<int>(limits::json_depth_max)) return schema;
  Value::Object out;
  for (const auto& [name, member] : *members) {
    bool holds_schemas = name == "properties" || name == "$defs";
    if (holds_schemas && member.as_object()) {
      Value::Object parts;
      for (const auto& [part, inner] : *member.as_object()) {
        parts.emplace(part, narrowed(inner, depth + 1));
      }
      out.emplace(name, std::move(parts));
    } else if (name == "items") {
      out.emplace(name, narrowed(member, depth + 1));
    } else if ((name == "anyOf" || name == "allOf") && member.as_array()) {
      Value::Array parts;
      for (const Value& inner : *member.as_array()) parts.push_back(narrowed(inner, depth + 1));
      out.emplace(name, std::move(parts));
    } else if (name == "minItems") {
      auto count = member.as_int();
      if (count && *count <= 1) out.emplace(name, member);
    } else if (std::find(kept.begin(), kept.end(), name) != kept.end()) {
      out.emplace(name, member);
    }
  }
  bool is_object = schema["type"] == Value("object") || schema["properties"].as_object();
  if (is_object) out["additionalProperties"] = Value(false);
  return Value(std::move(out));
}

class AnthropicDecoder final : public ReplyDecoder {
 public:
  AnthropicDecoder(const Server& server, const ModelRequest& request, DecoderOptions options)
      : server_(server),
        events_(options.reply_bytes_max),
        draft_(server, request, std::move(options)) {}

  Result<Done> take(std::string_view bytes) override {
    std::vector<net::StreamEvent> events;
    auto read = events_.take(bytes, events);
    for (const net::StreamEvent& event : events) {
      BELAY_CHECK(take_event(event));
      if (is_whole_) return Done{};
    }
    return read;
  }
  Result<ModelReply> finish() override {
    if (!is_whole_) return draft_.cut_off();
    return draft_.whole();
  }
  bool is_whole() const override { return is_whole_; }

 private:
  Result<Done> take_event(const net::StreamEvent& event) {
    auto data = parse_sanitized_json(event.data);
    if (!data.ok() || !data->as_object()) return draft_.garbage(event.data);
    // The data repeat the event's name, because some proxies remove the `event:` line.
    const std::string* type = (*data)["type"].as_string();
    std::string_view name = type ? std::string_view(*type) : std::string_view(event.name);
    if (name == "error" || event.name == "error") return take_error(*data, event.data);
    if (name == "message_start") {
      draft_.set_model((*data)["message"]["model"]);
      take_usage((*data)["message"]["usage"]);
    } else if (name == "content_block_start") {
      return begin_block(*data);
    } else if (name == "content_block_delta") {
      return take_delta(*data);
    } else if (name == "message_delta") {
      take_usage((*data)["usage"]);
      if (const std::string* reason = (*data)["delta"]["stop_reason"].as_string()) {
        take_end(*reason);
      }
    } else if (name == "message_stop") {
      is_whole_ = true;
    }
    return Done{};
  }

  // llama.cpp sends the same event name, but its data are the error object itself.
  Error take_error(const Value& data, std::string_view text) {
    auto failed = error_in(server_, data);
    if (!failed && data["message"].as_string()) {
      failed = error_in(server_, Value::object({{"error", data}}));
    }
    return failed ? *std::move(failed) : draft_.garbage(text);
  }

  Result<Done> begin_block(const Value& data) {
    const Value& block = data["content_block"];
    if (block["type"] == Value("text")) {
      const std::string* text = block["text"].as_string();
      return text ? draft_.add_text(*text) : Done{};
    }
    if (block["type"] != Value("tool_use")) return Done{};
    BELAY_TRY(ToolCallBuilder * call, draft_.add_call());
    call->index = data["index"].as_int().value_or(-1);
    if (const std::string* id = block["id"].as_string()) call->id = *id;
    if (const std::string* name = block["name"].as_string()) call->name = *name;
    const Value::Object* input = block["input"].as_object();
    if (input && !input->empty()) call->object = block["input"];
    return Done{};
  }

  Result<Done> take_delta(const Value& data) {
    const Value& delta = data["delta"];
    if (const std::string* text = delta["text"].as_string()) {
      if (delta["type"] == Value("text_delta")) return draft_.add_text(*text);
    }
    const std::string* piece = delta["partial_json"].as_string();
    auto index = data["index"].as_int();
    if (!piece || !index || piece->empty()) return Done{};
    for (auto call = draft_.calls().rbegin(); call != draft_.calls().rend(); ++call) {
      if (call->index != *index) continue;
      // The object in content_block_start was only a placeholder.
      call->object.reset();
      return draft_.add_arguments(*call, *piece);
    }
    return Done{};
  }

  // The counts are cumulative. Tokens that the API reads from its cache, or writes to it, are also
  // input.
  void take_usage(const Value& usage) {
    draft_.set_output_tokens(usage["output_tokens"]);
    auto input = token_count(usage["input_tokens"]);
    if (!input) return;
    std::int64_t all = *input;
    for (const char* cached : {"cache_creation_input_tokens", "cache_read_input_tokens"}) {
      all += token_count(usage[cached]).value_or(0);
    }
    draft_.set_input_tokens(std::optional(all));
    auto read_from_cache = token_count(usage["cache_read_input_tokens"]).value_or(0);
    draft_.set_cached_input_tokens(Value(read_from_cache));
  }

  void take_end(std::string_view reason) {
    if (reason == "max_tokens" || reason == "model_context_window_exceeded") {
      draft_.set_end(StopReason::length);
    } else if (reason == "refusal") {
      draft_.set_end(StopReason::refused);
    } else {
      draft_.set_end(StopReason::complete);
    }
  }

  const Server& server_;
  net::EventStreamReader events_;
  ReplyBuilder draft_;
  bool is_whole_ = false;
};

class Anthropic final : public Protocol {
 public:
  explicit Anthropic(Server server) : server_(std::move(server)) {}

  Result<net::HttpRequest> encode(const ModelRequest& request) const override {
    Turns turns;
    std::string system;
    auto say = [&system](std::string_view text) {
      if (!system.empty()) system += "\n\n";
      system += text;
    };
    for (const Message& message : request.messages) {
      if (message.role == Role::system) {
        say(message.text);
      } else {
        add_message(message, turns);
      }
    }
    auto most = request.max_output_tokens ? request.max_output_tokens : server_.max_output_tokens;
    Value::Object body{{"model", server_.model},
                       {"max_tokens", most.value_or(limits::output_tokens_default)},
                       {"stream", true}};
    if (request.temperature) body.emplace("temperature", *request.temperature);
    if (!request.response_schema.is_null()) {
      say(schema_in_words(request.response_schema));
      Value format =
          Value::object({{"type", "json_schema"}, {"schema", narrowed(request.response_schema)}});
      body.emplace("output_config", Value::object({{"format", std::move(format)}}));
    }
    if (!system.empty()) body.emplace("system", std::move(system));
    if (!request.tools.empty()) add_tools(request, body);
    net::HttpRequest http =
        post_json(server_.url + "/v1/messages",
                  body_with_messages(std::move(body), std::move(turns).value()));
    http.headers.push_back({"accept", "text/event-stream"});
    add_headers(http);
    return http;
  }

  std::unique_ptr<ReplyDecoder> decoder(const ModelRequest& request,
                                        DecoderOptions options) const override {
    return std::make_unique<AnthropicDecoder>(server_, request, std::move(options));
  }

  net::HttpRequest listing() const override {
    net::HttpRequest http;
    http.url = server_.url + "/v1/models?limit=1000";
    add_headers(http);
    return http;
  }
  std::vector<std::string> names_in(const Value& listing) const override {
    return texts_in(listing["data"], "id");
  }

 private:
  static void add_tools(const ModelRequest& request, Value::Object& body) {
    Value::Array tools;
    for (const ToolDefinition& tool : request.tools) {
      tools.push_back(Value::object({{"name", tool.name},
                                     {"description", tool.description},
                                     {"input_schema", tool.parameters}}));
    }
    body.emplace("tools", std::move(tools));
    const char* choice = "auto";
    if (request.tool_choice == ToolChoice::none) choice = "none";
    if (request.tool_choice == ToolChoice::required) choice = "any";
    body.emplace("tool_choice", Value::object({{"type", choice}}));
  }
  void add_headers(net::HttpRequest& http) const {
    http.headers.push_back({"anthropic-version", "2023-06-01"});
    if (!server_.key.empty()) http.headers.push_back({"x-api-key", server_.key});
  }

  const Server server_;
};

}  // namespace

std::unique_ptr<Protocol> anthropic_protocol(Server server) {
  return std::make_unique<Anthropic>(std::move(server));
}

}  // namespace belay::models
