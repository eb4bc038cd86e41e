// Implements the chat completions API of OpenAI and of compatible servers: POST /chat/completions;
// the response is a stream of server-sent events that ends with "[DONE]".
// https://github.com/openai/openai-openapi; llama.cpp tools/server/README.md

#include <algorithm>
#include <array>

#include "models/error_response.h"
#include "models/json_sanitizer.h"
#include "models/reply_builder.h"
#include "net/event_stream.h"

namespace belay::models {
namespace {

constexpr std::size_t schema_name_max = 64;

Value message_of(const Message& message) {
  switch (message.role) {
    case Role::system:
      return Value::object({{"role", "system"}, {"content", message.text}});
    case Role::user:
      return Value::object({{"role", "user"}, {"content", message.text}});
    case Role::tool:
      return Value::object(
          {{"role", "tool"}, {"tool_call_id", message.tool_call_id}, {"content", message.text}});
    case Role::assistant:
      break;
  }
  Value::Object out{{"role", "assistant"}, {"content", message.text}};
  if (message.tool_calls.empty()) return Value(std::move(out));
  Value::Array calls;
  for (const ToolCall& call : message.tool_calls) {
    const std::string* as_it_came = call.arguments.as_string();
    std::string arguments = as_it_came ? *as_it_came : to_json(arguments_object(call));
    Value function = Value::object({{"name", call.name}, {"arguments", std::move(arguments)}});
    calls.push_back(
        Value::object({{"id", call.id}, {"type", "function"}, {"function", std::move(function)}}));
  }
  out["tool_calls"] = Value(std::move(calls));
  if (message.text.empty()) out["content"] = Value();
  return Value(std::move(out));
}

// Returns whether the schema is in the subset of JSON Schema that "strict" accepts: every member is
// required, no others are allowed, and only these keywords occur.
// https://platform.openai.com/docs/guides/structured-outputs (supported schemas)
bool is_strict(const Value& schema, int depth = 0) {
  static constexpr std::array<std::string_view, 18> known = {"$defs",
                                                             "$ref",
                                                             "additionalProperties",
                                                             "anyOf",
                                                             "const",
                                                             "description",
                                                             "enum",
                                                             "exclusiveMaximum",
                                                             "exclusiveMinimum",
                                                             "items",
                                                             "maxItems",
                                                             "maximum",
                                                             "minItems",
                                                             "minimum",
                                                             "properties",
                                                             "required",
                                                             "title",
                                                             "type"};
  const Value::Object* members = schema.as_object();
  if (!members || depth > 10) return false;
  for (const auto& [name, member] : *members) {
    if (std::find(known.begin(), known.end(), name) == known.end()) return false;
  }
  if (const Value::Object* properties = schema["properties"].as_object()) {
    const Value::Array* required = schema["required"].as_array();
    const bool* others = schema["additionalProperties"].as_bool();
    if (!required || required->size() != properties->size() || !others || *others) return false;
    for (const auto& [name, property] : *properties) {
      if (!is_strict(property, depth + 1)) return false;
    }
  } else if (schema["type"] == Value("object")) {
    return false;
  }
  if (const Value::Object* parts = schema["$defs"].as_object()) {
    for (const auto& [name, part] : *parts) {
      if (!is_strict(part, depth + 1)) return false;
    }
  }
  if (const Value::Array* parts = schema["anyOf"].as_array()) {
    for (const Value& part : *parts) {
      if (!is_strict(part, depth + 1)) return false;
    }
  }
  return schema["items"].is_null() || is_strict(schema["items"], depth + 1);
}

std::string schema_name(std::string_view purpose) {
  std::string name;
  for (char c : purpose.substr(0, schema_name_max)) {
    bool is_sound = (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') ||
                    c == '_' || c == '-';
    name += is_sound ? c : '_';
  }
  return name.empty() ? "answer" : name;
}

Value response_format(const ModelRequest& request) {
  // "strict" requires an object at the root.
  bool strict =
      request.response_schema["type"] == Value("object") && is_strict(request.response_schema);
  Value schema = Value::object({{"name", schema_name(request.purpose)},
                                {"strict", strict},
                                {"schema", request.response_schema}});
  return Value::object({{"type", "json_schema"}, {"json_schema", std::move(schema)}});
}

class OpenAiDecoder final : public ReplyDecoder {
 public:
  OpenAiDecoder(const Server& server, const ModelRequest& request, DecoderOptions options)
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
    if (event.data == "[DONE]") {
      is_whole_ = true;
      return Done{};
    }
    auto chunk = parse_sanitized_json(event.data);
    if (!chunk.ok() || !chunk->as_object()) return draft_.garbage(event.data);
    if (auto failed = error_in(server_, *chunk)) return *std::move(failed);
    draft_.set_model((*chunk)["model"]);
    const Value& usage = (*chunk)["usage"];
    draft_.set_input_tokens(usage["prompt_tokens"]);
    draft_.set_output_tokens(usage["completion_tokens"]);
    draft_.set_cached_input_tokens(usage["prompt_tokens_details"]["cached_tokens"]);
    const Value::Array* choices = (*chunk)["choices"].as_array();
    if (!choices || choices->empty()) return Done{};
    const Value& choice = choices->front();
    BELAY_CHECK(take_delta(choice["delta"]));
    if (const std::string* reason = choice["finish_reason"].as_string()) take_end(*reason);
    return Done{};
  }

  Result<Done> take_delta(const Value& delta) {
    const Value& content = delta["content"];
    if (const std::string* text = content.as_string()) BELAY_CHECK(draft_.add_text(*text));
    if (const Value::Array* parts = content.as_array()) {
      for (const Value& part : *parts) {
        const std::string* text = part["text"].as_string();
        if (text && part["type"] == Value("text")) BELAY_CHECK(draft_.add_text(*text));
      }
    }
    if (const std::string* text = delta["refusal"].as_string()) {
      BELAY_CHECK(draft_.add_refusal(*text));
    }
    if (const Value::Array* pieces = delta["tool_calls"].as_array()) {
      for (const Value& piece : *pieces) BELAY_CHECK(take_call(piece));
    }
    return Done{};
  }

  // Returns the call to which a fragment belongs. `index` identifies it, but some servers omit it,
  // and some send index 0 for every call.
  ToolCallBuilder* call_of(const Value& piece, std::string_view id, std::string_view name) {
    auto index = piece["index"].as_int();
    for (auto at = draft_.calls().rbegin(); at != draft_.calls().rend(); ++at) {
      bool other_id = !id.empty() && !at->id.empty() && at->id != id;
      if (other_id && (!name.empty() || !index)) continue;
      if (!index && id.empty() && !name.empty()) return nullptr;
      if (!index || at->index == *index) return &*at;
    }
    return nullptr;
  }

  Result<Done> take_call(const Value& piece) {
    const Value& function = piece["function"];
    const std::string* id = piece["id"].as_string();
    const std::string* name = function["name"].as_string();
    ToolCallBuilder* call = call_of(piece, id ? std::string_view(*id) : std::string_view(),
                                    name ? std::string_view(*name) : std::string_view());
    if (!call) {
      BELAY_TRY(call, draft_.add_call());
      call->index = piece["index"].as_int().value_or(-1);
    }
    if (id && call->id.empty()) call->id = *id;
    if (name && call->name.empty()) call->name = *name;
    const Value& arguments = function["arguments"];
    if (const std::string* text = arguments.as_string()) return draft_.add_arguments(*call, *text);
    if (arguments.as_object()) call->object = arguments;
    return Done{};
  }

  void take_end(std::string_view reason) {
    if (reason == "length") {
      draft_.set_end(StopReason::length);
    } else if (reason == "content_filter") {
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

class OpenAi final : public Protocol {
 public:
  explicit OpenAi(Server server) : server_(std::move(server)) {}

  Result<net::HttpRequest> encode(const ModelRequest& request) const override {
    Value::Array messages;
    for (const Message& message : request.messages) messages.push_back(message_of(message));
    Value::Object body{{"model", server_.model},
                       {"stream", true},
                       {"stream_options", Value::object({{"include_usage", true}})}};
    auto most = request.max_output_tokens ? request.max_output_tokens : server_.max_output_tokens;
    if (most) body.emplace(max_tokens_name(), *most);
    if (request.temperature) body.emplace("temperature", *request.temperature);
    if (request.seed) body.emplace("seed", *request.seed);
    if (!request.response_schema.is_null()) {
      body.emplace("response_format", response_format(request));
    }
    if (!request.tools.empty()) {
      body.emplace("tools", function_tools(request.tools));
      if (request.tool_choice == ToolChoice::none) body.emplace("tool_choice", "none");
      if (request.tool_choice == ToolChoice::required) body.emplace("tool_choice", "required");
    }
    net::HttpRequest http =
        post_json(server_.url + "/chat/completions",
                  body_with_messages(std::move(body), Value(std::move(messages))));
    http.headers.push_back({"accept", "text/event-stream"});
    add_bearer(server_, http);
    return http;
  }

  std::unique_ptr<ReplyDecoder> decoder(const ModelRequest& request,
                                        DecoderOptions options) const override {
    return std::make_unique<OpenAiDecoder>(server_, request, std::move(options));
  }

  net::HttpRequest listing() const override {
    net::HttpRequest http;
    http.url = server_.url + "/models";
    add_bearer(server_, http);
    return http;
  }
  std::vector<std::string> names_in(const Value& listing) const override {
    return texts_in(listing["data"], "id");
  }

 private:
  // OpenAI's newer models accept only max_completion_tokens; compatible servers often accept only
  // max_tokens.
  const char* max_tokens_name() const {
    bool is_openai = server_.url.find("://api.openai.com/") != std::string::npos ||
                     server_.url.find(".openai.azure.com/") != std::string::npos;
    return is_openai ? "max_completion_tokens" : "max_tokens";
  }

  const Server server_;
};

}  // namespace

std::unique_ptr<Protocol> openai_protocol(Server server) {
  return std::make_unique<OpenAi>(std::move(server));
}

}  // namespace belay::models
