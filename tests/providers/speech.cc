#include "tests/providers/speech.h"

#include <array>

namespace belay::providers {
namespace {

constexpr int input_tokens = 12;
constexpr int output_tokens = 5;
constexpr std::size_t fragment_bytes = 5;  // of a call's arguments

std::string whole(const Speech& speech) {
  std::string all;
  for (const std::string& word : speech.words) all += word;
  return all;
}

std::string data(const Value& value) { return "data: " + to_json(value) + "\n\n"; }
std::string event(const Value& value) {
  return "event: " + *value["type"].as_string() + "\n" + data(value);
}

bool is_streamed(const Value& body, bool by_default) {
  const bool* streams = body["stream"].as_bool();
  return streams ? *streams : by_default;
}

// Returns the arguments as an object; as a string if they are not JSON.
Value object_of(const std::string& arguments) {
  return parse_json(arguments).value_or(Value(arguments));
}

std::vector<std::string> fragments_of(const std::string& arguments) {
  std::vector<std::string> fragments;
  for (std::size_t at = 0; at < arguments.size(); at += fragment_bytes) {
    fragments.push_back(arguments.substr(at, fragment_bytes));
  }
  return fragments;
}

Value::Object named(std::string_view member, const std::string& name) {
  Value::Object object;
  if (!name.empty()) object.emplace(std::string(member), name);
  return object;
}

// Ollama: lines of JSON; a call is sent as a whole.
Value ollama_line(const Value& model, Value message, bool done, bool is_cut) {
  Value::Object line{{"model", model},
                     {"created_at", "2026-08-21T10:00:00.000000Z"},
                     {"message", std::move(message)},
                     {"done", done}};
  if (done) {
    line.emplace("done_reason", is_cut ? "length" : "stop");
    line.emplace("total_duration", 1'000'000);
    line.emplace("prompt_eval_count", input_tokens);
    line.emplace("eval_count", output_tokens);
  }
  return Value(std::move(line));
}

Value ollama_message(const std::string& text, const std::vector<SpokenCall>& calls) {
  Value::Object message{{"role", "assistant"}, {"content", text}};
  Value::Array all;
  for (const SpokenCall& call : calls) {
    Value::Object function = named("name", call.name);
    function.emplace("arguments", object_of(call.arguments));
    Value::Object sent = named("id", call.id);
    sent.emplace("function", std::move(function));
    all.emplace_back(std::move(sent));
  }
  if (!all.empty()) message.emplace("tool_calls", std::move(all));
  return Value(std::move(message));
}

Told told_by_ollama(const Value& body, const Speech& speech) {
  Told told;
  if (!is_streamed(body, true)) {
    Value message = ollama_message(whole(speech), speech.calls);
    told.pieces = {to_json(ollama_line(body["model"], std::move(message), true, speech.is_cut))};
    return told;
  }
  told.type = "application/x-ndjson";
  auto say = [&](Value message, bool done) {
    told.pieces.push_back(
        to_json(ollama_line(body["model"], std::move(message), done, speech.is_cut)) + "\n");
  };
  for (const std::string& word : speech.words) say(ollama_message(word, {}), false);
  for (const SpokenCall& call : speech.calls) say(ollama_message("", {call}), false);
  say(ollama_message("", {}), true);
  return told;
}

// OpenAI: chunks up to [DONE]; the arguments of a call are sent in chunks.
Value openai_usage() {
  return Value::object({{"prompt_tokens", input_tokens},
                        {"completion_tokens", output_tokens},
                        {"total_tokens", input_tokens + output_tokens}});
}

const char* openai_reason(const Speech& speech) {
  if (speech.is_cut) return "length";
  return speech.calls.empty() ? "stop" : "tool_calls";
}

Value::Object openai_call(const SpokenCall& call, const std::string& arguments) {
  Value::Object function = named("name", call.name);
  function.emplace("arguments", arguments);
  Value::Object sent = named("id", call.id);
  sent.emplace("type", "function");
  sent.emplace("function", std::move(function));
  return sent;
}

Told openai_whole(const Value& body, const Speech& speech) {
  Value::Object message{{"role", "assistant"}, {"content", whole(speech)}, {"refusal", Value()}};
  Value::Array calls;
  for (const SpokenCall& call : speech.calls) {
    calls.emplace_back(openai_call(call, call.arguments));
  }
  if (!calls.empty()) {
    message["content"] = Value();
    message.emplace("tool_calls", std::move(calls));
  }
  Value choice = Value::object({{"index", 0},
                                {"message", std::move(message)},
                                {"logprobs", Value()},
                                {"finish_reason", openai_reason(speech)}});
  Told told;
  told.pieces = {to_json(Value::object({{"id", "chatcmpl-1"},
                                        {"object", "chat.completion"},
                                        {"created", 1'750'000'000},
                                        {"model", body["model"]},
                                        {"choices", Value::Array{std::move(choice)}},
                                        {"usage", openai_usage()}}))};
  return told;
}

Told told_by_openai(const Value& body, const Speech& speech) {
  if (!is_streamed(body, false)) return openai_whole(body, speech);
  Told told;
  told.type = "text/event-stream";
  auto chunk = [&](Value::Array choices) {
    return Value::Object{
        {"id", "chatcmpl-1"},     {"object", "chat.completion.chunk"}, {"created", 1'750'000'000},
        {"model", body["model"]}, {"choices", std::move(choices)},     {"usage", Value()}};
  };
  auto say = [&](Value delta, Value reason) {
    Value choice = Value::object({{"index", 0},
                                  {"delta", std::move(delta)},
                                  {"logprobs", Value()},
                                  {"finish_reason", std::move(reason)}});
    told.pieces.push_back(data(Value(chunk({std::move(choice)}))));
  };
  say(Value::object({{"role", "assistant"}, {"content", ""}}), Value());
  for (const std::string& word : speech.words) say(Value::object({{"content", word}}), Value());
  for (std::size_t i = 0; i < speech.calls.size(); ++i) {
    auto call = [&](Value::Object members) {
      members.emplace("index", static_cast<std::int64_t>(i));
      say(Value::object({{"tool_calls", Value::Array{Value(std::move(members))}}}), Value());
    };
    call(openai_call(speech.calls[i], ""));
    for (const std::string& fragment : fragments_of(speech.calls[i].arguments)) {
      call({{"function", Value::object({{"arguments", fragment}})}});
    }
  }
  say(Value(Value::Object()), openai_reason(speech));
  if (body["stream_options"]["include_usage"] == Value(true)) {
    Value::Object last = chunk({});
    last["usage"] = openai_usage();
    told.pieces.push_back(data(Value(std::move(last))));
  }
  told.pieces.push_back("data: [DONE]\n\n");
  return told;
}

// Anthropic: named events up to message_stop; blocks, each with its chunks.
Value anthropic_message(const Value& body, Value::Array content, Value reason) {
  return Value::object(
      {{"id", "msg_1"},
       {"type", "message"},
       {"role", "assistant"},
       {"model", body["model"]},
       {"content", std::move(content)},
       {"stop_reason", std::move(reason)},
       {"stop_sequence", Value()},
       {"usage", Value::object({{"input_tokens", input_tokens}, {"output_tokens", 1}})}});
}

const char* anthropic_reason(const Speech& speech) {
  if (speech.is_cut) return "max_tokens";
  return speech.calls.empty() ? "end_turn" : "tool_use";
}

Value text_block(const std::string& text) {
  return Value::object({{"type", "text"}, {"text", text}});
}

Value tool_block(const SpokenCall& call, Value input) {
  Value::Object block = named("id", call.id);
  if (!call.name.empty()) block.emplace("name", call.name);
  block.emplace("type", "tool_use");
  block.emplace("input", std::move(input));
  return Value(std::move(block));
}

bool has_text(const Speech& speech) { return !speech.words.empty() || speech.calls.empty(); }

Told anthropic_whole(const Value& body, const Speech& speech) {
  Value::Array content;
  if (has_text(speech)) content.push_back(text_block(whole(speech)));
  for (const SpokenCall& call : speech.calls) {
    content.push_back(tool_block(call, object_of(call.arguments)));
  }
  Told told;
  told.pieces = {to_json(anthropic_message(body, std::move(content), anthropic_reason(speech)))};
  return told;
}

Told told_by_anthropic(const Value& body, const Speech& speech) {
  if (!is_streamed(body, false)) return anthropic_whole(body, speech);
  Told told;
  told.type = "text/event-stream";
  std::int64_t index = 0;
  auto say = [&](Value::Object members) {
    told.pieces.push_back(event(Value(std::move(members))));
  };
  auto begin = [&](Value block) {
    say({{"type", "content_block_start"}, {"index", index}, {"content_block", std::move(block)}});
  };
  auto delta = [&](Value change) {
    say({{"type", "content_block_delta"}, {"index", index}, {"delta", std::move(change)}});
  };
  auto stop = [&] { say({{"type", "content_block_stop"}, {"index", index++}}); };
  say({{"type", "message_start"}, {"message", anthropic_message(body, {}, Value())}});
  say({{"type", "ping"}});
  if (has_text(speech)) {
    begin(text_block(""));
    for (const std::string& word : speech.words) {
      delta(Value::object({{"type", "text_delta"}, {"text", word}}));
    }
    stop();
  }
  for (const SpokenCall& call : speech.calls) {
    begin(tool_block(call, Value(Value::Object())));
    for (const std::string& fragment : fragments_of(call.arguments)) {
      delta(Value::object({{"type", "input_json_delta"}, {"partial_json", fragment}}));
    }
    stop();
  }
  Value reason = anthropic_reason(speech);
  say({{"type", "message_delta"},
       {"delta", Value::object({{"stop_reason", std::move(reason)}, {"stop_sequence", Value()}})},
       {"usage", Value::object({{"output_tokens", output_tokens}})}});
  say({{"type", "message_stop"}});
  return told;
}

}  // namespace

std::string_view name_of(Provider provider) {
  constexpr std::array<std::string_view, 3> names = {"ollama", "openai", "anthropic"};
  return names.at(static_cast<std::size_t>(provider));
}

std::optional<Provider> provider_of(std::string_view path) {
  if (path == "/api/chat") return Provider::ollama;
  if (path == "/v1/chat/completions") return Provider::openai;
  if (path == "/v1/messages") return Provider::anthropic;
  return std::nullopt;
}

Told told(Provider provider, const Value& body, const Speech& speech) {
  if (provider == Provider::ollama) return told_by_ollama(body, speech);
  if (provider == Provider::openai) return told_by_openai(body, speech);
  return told_by_anthropic(body, speech);
}

std::string error_body(Provider provider, const char* type, const std::string& message) {
  Value said = Value::object({{"type", type}, {"message", message}});
  switch (provider) {
    case Provider::ollama:
      return to_json(Value::object({{"error", message}}));
    case Provider::openai:
      return to_json(Value::object(
          {{"error",
            Value::object(
                {{"message", message}, {"type", type}, {"param", Value()}, {"code", type}})}}));
    case Provider::anthropic:
      break;
  }
  return to_json(
      Value::object({{"type", "error"}, {"error", std::move(said)}, {"request_id", "req_1"}}));
}

Told refusal(Provider provider, int status, const char* type, const std::string& message) {
  Told told;
  told.status = status;
  told.pieces = {error_body(provider, type, message)};
  return told;
}

}  // namespace belay::providers
