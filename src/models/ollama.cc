// Implements Ollama's own protocol: POST /api/chat; the response has one JSON object per line.
// https://github.com/ollama/ollama/blob/main/docs/api.md, api/types.go

#include "base/role_name.h"
#include "models/error_response.h"
#include "models/json_sanitizer.h"
#include "models/reply_builder.h"
#include "net/event_stream.h"

namespace belay::models {
namespace {

Value message_of(const ModelRequest& request, const Message& message) {
  Value::Object out{{"role", role_name(message.role)}, {"content", message.text}};
  if (!message.tool_calls.empty()) {
    Value::Array calls;
    std::int64_t index = 0;
    for (const ToolCall& call : message.tool_calls) {
      Value function = Value::object(
          {{"index", index++}, {"name", call.name}, {"arguments", arguments_object(call)}});
      calls.push_back(Value::object({{"id", call.id}, {"function", std::move(function)}}));
    }
    out.emplace("tool_calls", std::move(calls));
  }
  if (message.role == Role::tool) {
    out.emplace("tool_name", called_tool(request, message));
    out.emplace("tool_call_id", message.tool_call_id);
  }
  return Value(std::move(out));
}

class OllamaDecoder final : public ReplyDecoder {
 public:
  OllamaDecoder(const Server& server, const ModelRequest& request, DecoderOptions options)
      : server_(server),
        lines_(options.reply_bytes_max),
        draft_(server, request, std::move(options)) {}

  Result<Done> take(std::string_view bytes) override {
    std::vector<std::string> lines;
    auto read = lines_.take(bytes, lines);
    for (const std::string& line : lines) {
      BELAY_CHECK(take_line(line));
      if (is_whole_) return Done{};
    }
    return read;
  }
  Result<ModelReply> finish() override {
    if (!is_whole_ && !lines_.rest().empty()) {
      // An incomplete last line is not JSON. It is reported below as a response that was cut off.
      if (auto last = parse_sanitized_json(lines_.rest()); last.ok())
        BELAY_CHECK(take_object(*last));
    }
    if (!is_whole_) return draft_.cut_off();
    return draft_.whole();
  }
  bool is_whole() const override { return is_whole_; }

 private:
  Result<Done> take_line(std::string_view line) {
    if (line.empty()) return Done{};
    auto object = parse_sanitized_json(line);
    if (!object.ok() || !object->as_object()) return draft_.garbage(line);
    return take_object(*object);
  }

  Result<Done> take_object(const Value& object) {
    if (auto failed = error_in(server_, object)) return *std::move(failed);
    draft_.set_model(object["model"]);
    const Value& message = object["message"];
    if (const std::string* text = message["content"].as_string()) {
      BELAY_CHECK(draft_.add_text(*text));
    }
    if (const Value::Array* calls = message["tool_calls"].as_array()) {
      for (const Value& call : *calls) BELAY_CHECK(take_call(call));
    }
    const bool* done = object["done"].as_bool();
    if (!done || !*done) return Done{};
    is_whole_ = true;
    draft_.set_input_tokens(object["prompt_eval_count"]);
    draft_.set_output_tokens(object["eval_count"]);
    const std::string* reason = object["done_reason"].as_string();
    draft_.set_end(reason && *reason == "length" ? StopReason::length : StopReason::complete);
    return Done{};
  }

  Result<Done> take_call(const Value& said) {
    BELAY_TRY(ToolCallBuilder * call, draft_.add_call());
    if (const std::string* id = said["id"].as_string()) call->id = *id;
    const Value& function = said["function"];
    if (const std::string* name = function["name"].as_string()) call->name = *name;
    const Value& arguments = function["arguments"];
    if (const std::string* text = arguments.as_string()) return draft_.add_arguments(*call, *text);
    if (arguments.as_object()) call->object = arguments;
    return Done{};
  }

  const Server& server_;
  net::LineReader lines_;
  ReplyBuilder draft_;
  bool is_whole_ = false;
};

class Ollama final : public Protocol {
 public:
  explicit Ollama(Server server) : server_(std::move(server)) {}

  Result<net::HttpRequest> encode(const ModelRequest& request) const override {
    Value::Array messages;
    for (const Message& message : request.messages) {
      messages.push_back(message_of(request, message));
    }
    Value::Object body{{"model", server_.model}, {"stream", true}};
    if (!request.response_schema.is_null()) {
      // Ollama's documentation recommends the schema in the prompt as well. Without it, a model
      // writes only the minimum that matches the format.
      Value words = Value::object(
          {{"role", "system"}, {"content", schema_in_words(request.response_schema)}});
      messages.insert(messages.begin(), std::move(words));
      body.emplace("format", request.response_schema);
    }
    const std::vector<ToolDefinition>& tools = callable_tools(request);
    if (!tools.empty()) body.emplace("tools", function_tools(tools));
    if (Value options = options_of(request); !options.as_object()->empty()) {
      body.emplace("options", std::move(options));
    }
    net::HttpRequest http = post_json(
        server_.url + "/api/chat", body_with_messages(std::move(body), Value(std::move(messages))));
    add_bearer(server_, http);
    return http;
  }

  std::unique_ptr<ReplyDecoder> decoder(const ModelRequest& request,
                                        DecoderOptions options) const override {
    return std::make_unique<OllamaDecoder>(server_, request, std::move(options));
  }

  net::HttpRequest listing() const override {
    net::HttpRequest http;
    http.url = server_.url + "/api/tags";
    add_bearer(server_, http);
    return http;
  }
  std::vector<std::string> names_in(const Value& listing) const override {
    return texts_in(listing["models"], "name");
  }

 private:
  Value options_of(const ModelRequest& request) const {
    Value::Object options;
    auto most = request.max_output_tokens ? request.max_output_tokens : server_.max_output_tokens;
    if (most) options.emplace("num_predict", *most);
    if (server_.context_tokens) options.emplace("num_ctx", *server_.context_tokens);
    if (request.temperature) options.emplace("temperature", *request.temperature);
    if (request.seed) options.emplace("seed", *request.seed);
    return Value(std::move(options));
  }

  const Server server_;
};

}  // namespace

std::unique_ptr<Protocol> ollama_protocol(Server server) {
  return std::make_unique<Ollama>(std::move(server));
}

}  // namespace belay::models
