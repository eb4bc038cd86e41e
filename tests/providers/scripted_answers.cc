#include "tests/providers/scripted_answers.h"

#include <array>

#include "tests/support/history_rules.h"

namespace belay::providers {
namespace {

constexpr std::array<const char*, 16> scripts = {
    "plain",   "busy-seconds", "busy-ms",    "busy-date",    "overloaded", "broken",
    "hang",    "hang-midway",  "cut-midway", "error-midway", "split",      "drip",
    "garbage", "html",         "flood",      "no-key"};
constexpr std::array<const char*, 3> words = {"Hel", "lo, ", "w\xC3\xB6rld!"};
constexpr int input_tokens = 12;
constexpr int output_tokens = 5;

enum class Provider { ollama, openai, anthropic };
constexpr std::array<const char*, 3> protocols = {"ollama", "openai", "anthropic"};

// The contents of a reply: a text in chunks, or a call of the first tool.
struct Speech {
  std::vector<std::string> words;
  std::string tool;
};

Value call_arguments() { return Value::object({{"city", "Oslo"}}); }

Speech speech_for(const Value& body) {
  Speech speech;
  const Value::Array* messages = body["messages"].as_array();
  bool has_result = false;
  if (messages && !messages->empty()) {
    const Value& last = messages->back();
    const Value::Array* blocks = last["content"].as_array();
    has_result = last["role"] == Value("tool") ||
                 (blocks && !blocks->empty() && blocks->front()["type"] == Value("tool_result"));
  }
  const Value::Array* tools = body["tools"].as_array();
  if (tools && !tools->empty() && !has_result) {
    const Value& tool = tools->front();
    const std::string* name = tool["name"].as_string();
    if (!name) name = tool["function"]["name"].as_string();
    if (name) speech.tool = *name;
  } else if (!body["format"].is_null() || !body["response_format"].is_null() ||
             !body["output_config"].is_null()) {
    speech.words = {"{\"n\":", "3}"};
  } else {
    speech.words.assign(words.begin(), words.end());
  }
  return speech;
}

std::string whole(const Speech& speech) {
  std::string all;
  for (const std::string& word : speech.words) all += word;
  return all;
}

std::string data(const Value& value) { return "data: " + to_json(value) + "\n\n"; }
std::string event(const Value& value) {
  return "event: " + *value["type"].as_string() + "\n" + data(value);
}

// Ollama: lines of JSON; a call is sent as a whole.
Value ollama_line(const Value& model, Value message, bool done) {
  Value::Object line{{"model", model},
                     {"created_at", "2026-08-21T10:00:00.000000Z"},
                     {"message", std::move(message)},
                     {"done", done}};
  if (done) {
    line.emplace("done_reason", "stop");
    line.emplace("total_duration", 1'000'000);
    line.emplace("prompt_eval_count", input_tokens);
    line.emplace("eval_count", output_tokens);
  }
  return Value(std::move(line));
}

Value ollama_message(const std::string& text, const std::string& tool) {
  Value::Object message{{"role", "assistant"}, {"content", text}};
  if (!tool.empty()) {
    Value function = Value::object({{"name", tool}, {"arguments", call_arguments()}});
    message.emplace("tool_calls", Value::Array{Value::object({{"function", std::move(function)}})});
  }
  return Value(std::move(message));
}

Told ollama(const Value& body, const Speech& speech) {
  Told told;
  const bool* streams = body["stream"].as_bool();
  if (streams && !*streams) {
    Value message = ollama_message(whole(speech), speech.tool);
    told.pieces = {to_json(ollama_line(body["model"], std::move(message), true))};
    return told;
  }
  told.type = "application/x-ndjson";
  auto say = [&](Value message, bool done) {
    told.pieces.push_back(to_json(ollama_line(body["model"], std::move(message), done)) + "\n");
  };
  for (const std::string& word : speech.words) say(ollama_message(word, ""), false);
  if (!speech.tool.empty()) say(ollama_message("", speech.tool), false);
  say(ollama_message("", ""), true);
  return told;
}

// OpenAI: chunks up to [DONE]; the arguments of a call are sent in chunks.
Value openai_usage() {
  return Value::object({{"prompt_tokens", input_tokens},
                        {"completion_tokens", output_tokens},
                        {"total_tokens", input_tokens + output_tokens}});
}

Value openai_call(const std::string& tool) {
  Value function = Value::object({{"name", tool}, {"arguments", to_json(call_arguments())}});
  return Value::object({{"id", "call_abc"}, {"type", "function"}, {"function", function}});
}

Told openai_whole(const Value& body, const Speech& speech) {
  Value::Object message{{"role", "assistant"}, {"content", whole(speech)}, {"refusal", Value()}};
  if (!speech.tool.empty()) {
    message["content"] = Value();
    message.emplace("tool_calls", Value::Array{openai_call(speech.tool)});
  }
  Value choice = Value::object({{"index", 0},
                                {"message", std::move(message)},
                                {"logprobs", Value()},
                                {"finish_reason", speech.tool.empty() ? "stop" : "tool_calls"}});
  Told told;
  told.pieces = {to_json(Value::object({{"id", "chatcmpl-1"},
                                        {"object", "chat.completion"},
                                        {"created", 1'750'000'000},
                                        {"model", body["model"]},
                                        {"choices", Value::Array{std::move(choice)}},
                                        {"usage", openai_usage()}}))};
  return told;
}

Told openai(const Value& body, const Speech& speech) {
  const bool* streams = body["stream"].as_bool();
  if (!streams || !*streams) return openai_whole(body, speech);
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
  auto call = [&](Value::Object members) {
    members.emplace("index", 0);
    say(Value::object({{"tool_calls", Value::Array{Value(std::move(members))}}}), Value());
  };
  say(Value::object({{"role", "assistant"}, {"content", ""}}), Value());
  for (const std::string& word : speech.words) say(Value::object({{"content", word}}), Value());
  if (!speech.tool.empty()) {
    call({{"id", "call_abc"},
          {"type", "function"},
          {"function", Value::object({{"name", speech.tool}, {"arguments", ""}})}});
    std::string arguments = to_json(call_arguments());
    for (std::size_t at = 0; at < arguments.size(); at += 5) {
      call({{"function", Value::object({{"arguments", arguments.substr(at, 5)}})}});
    }
  }
  say(Value(Value::Object()), speech.tool.empty() ? "stop" : "tool_calls");
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

Value anthropic_block(const Speech& speech, bool is_whole) {
  if (speech.tool.empty()) {
    return Value::object({{"type", "text"}, {"text", is_whole ? whole(speech) : ""}});
  }
  return Value::object({{"type", "tool_use"},
                        {"id", "toolu_abc"},
                        {"name", speech.tool},
                        {"input", is_whole ? call_arguments() : Value(Value::Object())}});
}

Told anthropic(const Value& body, const Speech& speech) {
  Told told;
  const char* reason = speech.tool.empty() ? "end_turn" : "tool_use";
  const bool* streams = body["stream"].as_bool();
  if (!streams || !*streams) {
    Value message = anthropic_message(body, {anthropic_block(speech, true)}, reason);
    told.pieces = {to_json(message)};
    return told;
  }
  told.type = "text/event-stream";
  auto say = [&](Value::Object members) {
    told.pieces.push_back(event(Value(std::move(members))));
  };
  auto delta = [&](Value change) {
    say({{"type", "content_block_delta"}, {"index", 0}, {"delta", std::move(change)}});
  };
  say({{"type", "message_start"}, {"message", anthropic_message(body, {}, Value())}});
  say({{"type", "content_block_start"},
       {"index", 0},
       {"content_block", anthropic_block(speech, false)}});
  say({{"type", "ping"}});
  for (const std::string& word : speech.words) {
    delta(Value::object({{"type", "text_delta"}, {"text", word}}));
  }
  if (!speech.tool.empty()) {
    std::string arguments = to_json(call_arguments());
    for (std::size_t at = 0; at < arguments.size(); at += 5) {
      delta(
          Value::object({{"type", "input_json_delta"}, {"partial_json", arguments.substr(at, 5)}}));
    }
  }
  say({{"type", "content_block_stop"}, {"index", 0}});
  say({{"type", "message_delta"},
       {"delta", Value::object({{"stop_reason", reason}, {"stop_sequence", Value()}})},
       {"usage", Value::object({{"output_tokens", output_tokens}})}});
  say({{"type", "message_stop"}});
  return told;
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

// Returns the error of scripts that fail: most of them only at the first request.
std::optional<Told> refused(Provider provider, const std::string& script, int times) {
  auto say = [&](int status, const char* type, const char* message) {
    return refusal(provider, status, type, message);
  };
  if (script == "no-key") return say(401, "authentication_error", "That is no key.");
  if (script == "no-credit") return say(429, "insufficient_quota", "You have no credit left.");
  if (script == "gone") return say(404, "not_found_error", "There is no such model.");
  if (script == "bad") return say(400, "invalid_request_error", "That can't be asked.");
  if (times > 1) return std::nullopt;
  if (script == "overloaded") return say(529, "overloaded_error", "Overloaded.");
  if (script == "broken") return say(500, "api_error", "Something broke.");
  if (!script.starts_with("busy-")) return std::nullopt;
  Told told = say(429, "rate_limit_error", "Slow down.");
  if (script == "busy-ms") told.headers.emplace_back("retry-after-ms", "20");
  if (script == "busy-seconds") told.headers.emplace_back("retry-after", "1");
  if (script == "busy-date") {
    told.headers.emplace_back("retry-after", "Sat, 21 Nov 2015 12:00:00 GMT");
  }
  return told;
}

// Returns the error for a request that its API version does not have.
// https://platform.claude.com/docs/en/api/versioning
std::optional<Told> anthropic_fault(const Asked& asked) {
  auto say = [](const char* message) {
    return refusal(Provider::anthropic, 400, "invalid_request_error", message);
  };
  if (!asked.headers.contains("x-api-key") && !asked.headers.contains("authorization")) {
    return refusal(Provider::anthropic, 401, "authentication_error", "A key is needed.");
  }
  auto version = asked.headers.find("anthropic-version");
  bool is_new = version != asked.headers.end() && version->second == "2026-10-21";
  bool is_old = version != asked.headers.end() && version->second == "2023-06-01";
  if (!is_new && !is_old) return say("anthropic-version is needed.");
  if (!asked.body["max_tokens"].as_int()) return say("max_tokens is needed.");
  if (is_new && asked.body.find("temperature")) return say("temperature is not permitted.");
  return std::nullopt;
}

std::vector<std::string> bytes_of(const std::vector<std::string>& pieces) {
  std::vector<std::string> bytes;
  for (const std::string& piece : pieces) {
    for (char c : piece) bytes.emplace_back(1, c);
  }
  return bytes;
}

// Adds the deliberate error of the script to a response.
void spoil(Provider provider, const std::string& script, Told& told) {
  std::size_t midway =
      std::min<std::size_t>(provider == Provider::ollama ? 1 : 4, told.pieces.size());
  if (script == "split" || script == "drip") told.pieces = bytes_of(told.pieces);
  if (script == "drip") told.is_slow = true;
  if (script.ends_with("-midway")) told.pieces.resize(midway);
  if (script == "hang-midway") told.then = Then::hang;
  if (script == "cut-midway") told.then = Then::cut;
  if (script == "error-midway") {
    std::string body = error_body(provider, "api_error", "It broke in mid-stream.");
    if (provider == Provider::ollama) told.pieces.push_back(body + "\n");
    if (provider == Provider::openai) told.pieces.push_back("data: " + body + "\n\n");
    if (provider == Provider::anthropic) {
      told.pieces.push_back("event: error\ndata: " + body + "\n\n");
    }
  }
  if (script == "garbage") told.pieces = {"data: {\"oops\n\n", "{{{{\n"};
  if (script == "html") {
    told.type = "text/html";
    told.pieces = {"<html><body>Log in first</body></html>"};
  }
  if (script == "flood") {
    told.pieces.resize(midway);
    told.then = Then::repeat;
  }
}

std::optional<Provider> provider_of(const std::string& path) {
  if (path == "/api/chat") return Provider::ollama;
  if (path == "/v1/chat/completions") return Provider::openai;
  if (path == "/v1/messages") return Provider::anthropic;
  return std::nullopt;
}

Told listing(const std::string& path) {
  Told told;
  Value::Array ollama, others;
  for (const char* name : scripts) {
    ollama.push_back(Value::object({{"name", name}, {"model", name}, {"size", 1}}));
    others.push_back(Value::object({{"id", name}, {"object", "model"}, {"type", "model"}}));
  }
  bool is_ollama = path == "/api/tags";
  told.pieces = {to_json(
      is_ollama
          ? Value::object({{"models", std::move(ollama)}})
          : Value::object({{"object", "list"}, {"data", std::move(others)}, {"has_more", false}}))};
  return told;
}

}  // namespace

Told answer_to(const Asked& asked) {
  std::string path = asked.path.substr(0, asked.path.find('?'));
  if (asked.method == "GET" && (path == "/api/tags" || path == "/v1/models")) return listing(path);
  auto provider = provider_of(path);
  if (!provider || asked.method != "POST") {
    return refusal(Provider::openai, 404, "not_found_error", "Nothing is there.");
  }
  const std::string* script = asked.body["model"].as_string();
  if (!script) return refusal(*provider, 400, "invalid_request_error", "Name a model.");
  if (*provider == Provider::anthropic) {
    if (auto no = anthropic_fault(asked)) return *std::move(no);
  }
  if (auto no = refused(*provider, *script, asked.times)) return *std::move(no);
  bool is_known = false;
  for (const char* known : scripts) is_known = is_known || *script == known;
  if (!is_known) return refusal(*provider, 404, "not_found_error", "There is no such model.");
  Told told;
  if (*script == "hang") {
    told.then = Then::hang;
    return told;
  }
  if (auto fault = history_fault(asked.body, protocols[static_cast<std::size_t>(*provider)])) {
    return refusal(*provider, 400, "invalid_request_error", *fault);
  }
  Speech speech = speech_for(asked.body);
  if (*provider == Provider::ollama) told = ollama(asked.body, speech);
  if (*provider == Provider::openai) told = openai(asked.body, speech);
  if (*provider == Provider::anthropic) told = anthropic(asked.body, speech);
  spoil(*provider, *script, told);
  return told;
}

}  // namespace belay::providers
