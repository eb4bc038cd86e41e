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

// Returns the ids that the provider itself makes: Ollama's older versions make none.
std::string call_id(Provider provider) {
  if (provider == Provider::ollama) return "";
  return provider == Provider::openai ? "call_abc" : "toolu_abc";
}

// Returns a text in chunks, or a call of the first tool.
Speech speech_for(Provider provider, const Value& body) {
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
    if (name) speech.calls = {{call_id(provider), *name, R"({"city":"Oslo"})"}};
  } else if (!body["format"].is_null() || !body["response_format"].is_null() ||
             !body["output_config"].is_null()) {
    speech.words = {"{\"n\":", "3}"};
  } else {
    speech.words.assign(words.begin(), words.end());
  }
  return speech;
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

std::optional<Told> refusal_of(const Asked& asked, Provider provider) {
  if (provider == Provider::anthropic) {
    if (auto no = anthropic_fault(asked)) return no;
  }
  auto fault = history_fault(asked.body, name_of(provider));
  if (fault) return refusal(provider, 400, "invalid_request_error", *fault);
  return std::nullopt;
}

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
  Told answer;
  if (*script == "hang") {
    answer.then = Then::hang;
    return answer;
  }
  if (auto no = refusal_of(asked, *provider)) return *std::move(no);
  answer = told(*provider, asked.body, speech_for(*provider, asked.body));
  spoil(*provider, *script, answer);
  return answer;
}

}  // namespace belay::providers
