#include "models/error_response.h"

#include <algorithm>
#include <array>
#include <charconv>

#include "models/json_sanitizer.h"

namespace belay::models {
namespace {

using std::chrono::milliseconds;

constexpr milliseconds wait_max = std::chrono::minutes(10);
constexpr std::size_t told_characters = 300;

// The error that a response body contains.
struct Told {
  std::string type;  // "type" and "code" of the error, if the body has them
  std::string code;
  std::string message;
};

std::string text_of(const Value& value) {
  if (const std::string* text = value.as_string()) return *text;
  return value.is_null() ? "" : to_json(value);
}

std::optional<Told> told_in(const Value& document) {
  const Value* said = document.find("error");
  if (!said) return std::nullopt;
  Told told;
  if (const std::string* text = said->as_string()) {
    told.message = *text;
  } else if (said->as_object()) {
    told.type = text_of((*said)["type"]);
    told.code = text_of((*said)["code"]);
    told.message = text_of((*said)["message"]);
  } else {
    return std::nullopt;
  }
  return told;
}

template <std::size_t size>
bool is_one_of(const Told& told, const std::array<std::string_view, size>& names) {
  auto is_named = [&](std::string_view name) { return told.type == name || told.code == name; };
  return std::any_of(names.begin(), names.end(), is_named);
}

// No credit is left: a retry cannot succeed.
constexpr std::array<std::string_view, 5> credit_words = {
    "insufficient_quota", "billing_not_active", "billing_hard_limit_reached", "billing_error",
    "insufficient_credits"};
constexpr std::array<std::string_view, 6> key_words = {
    "authentication_error",   "permission_error",    "invalid_api_key",
    "invalid_authentication", "account_deactivated", "unauthorized"};
constexpr std::array<std::string_view, 3> model_words = {"model_not_found", "not_found_error",
                                                         "model_not_available"};
constexpr std::array<std::string_view, 8> request_words = {
    "invalid_request_error",    "exceed_context_size_error", "context_length_exceeded",
    "request_too_large",        "not_supported_error",       "content_filter",
    "content_policy_violation", "string_above_max_length"};
constexpr std::array<std::string_view, 8> busy_words = {
    "rate_limit_error", "rate_limit_exceeded", "overloaded_error",  "api_error",
    "timeout_error",    "unavailable_error",   "server_overloaded", "slow_down"};

enum class Kind { busy, no_credit, no_key, no_model, bad_request, moved };

Kind kind_of_status(int status) {
  if (status == 402) return Kind::no_credit;
  if (status == 401 || status == 403 || status == 407) return Kind::no_key;
  if (status == 404) return Kind::no_model;
  if (status == 501) return Kind::bad_request;
  if (status == 0 || status == 408 || status == 409 || status == 425 || status == 429) {
    return Kind::busy;
  }
  if (status >= 300 && status < 400) return Kind::moved;
  return status >= 400 && status < 500 ? Kind::bad_request : Kind::busy;
}

Kind kind_of(const Told& told, int status) {
  if (is_one_of(told, credit_words)) return Kind::no_credit;
  if (is_one_of(told, busy_words)) return Kind::busy;
  // Checked last: "invalid_request_error" is also the type of errors that the code or the status
  // describes more exactly.
  if (is_one_of(told, key_words)) return Kind::no_key;
  if (is_one_of(told, model_words)) return Kind::no_model;
  if (is_one_of(told, request_words)) {
    Kind by_status = kind_of_status(status);
    return by_status == Kind::busy || by_status == Kind::moved ? Kind::bad_request : by_status;
  }
  // llama.cpp returns status 500 if it cannot parse a request.
  if (told.message.find("[json.exception.") != std::string::npos) return Kind::bad_request;
  return kind_of_status(status);
}

bool is_key_character(char c) {
  return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '-' ||
         c == '_' || c == '*' || c == '.';
}

// Removes API keys from a text: a server can repeat the key that it received, or most of it.
std::string without_keys(std::string text, const std::string& key) {
  constexpr std::string_view gone = "[key]";
  std::size_t found = key.empty() ? text.npos : text.find(key);
  while (found != text.npos) {
    text.replace(found, key.size(), gone);
    found = text.find(key, found + gone.size());
  }
  for (std::size_t at = text.find("sk-"); at != text.npos; at = text.find("sk-", at + 1)) {
    if (at > 0 && is_key_character(text[at - 1])) continue;
    std::size_t end = at;
    while (end < text.size() && is_key_character(text[end])) ++end;
    text.replace(at, end - at, gone);
  }
  return text;
}

std::optional<milliseconds> milliseconds_in(std::string_view text) {
  double number = 0;
  auto [end, fault] = std::from_chars(text.data(), text.data() + text.size(), number);
  bool is_whole = fault == std::errc() && end == text.data() + text.size();
  if (!is_whole || !(number >= 0)) return std::nullopt;
  if (number >= static_cast<double>(wait_max.count())) return wait_max;
  return milliseconds(static_cast<std::int64_t>(number));
}

std::string_view key_name(const Server& server) {
  if (server.provider == "openai") return "OPENAI_API_KEY";
  return server.provider == "anthropic" ? "ANTHROPIC_API_KEY" : "OLLAMA_API_KEY";
}

std::string advice_for(Kind kind, const Server& server) {
  switch (kind) {
    case Kind::busy:
      return ". Try again later.";
    case Kind::no_credit:
      return ": the account has no credit left. Add credit, or use another model.";
    case Kind::no_key:
      return ". Check its key (" + std::string(key_name(server)) + ").";
    case Kind::no_model:
      if (server.provider == "ollama") return ". Fetch it with: ollama pull " + server.model;
      return ". List the available models with: belay models list";
    case Kind::bad_request:
      return ". Change the request; a repetition will fail as well.";
    case Kind::moved:
      return ": it has moved. Set its new address.";
  }
  return ".";
}

ErrorCode code_of(Kind kind) {
  if (kind == Kind::busy) return ErrorCode::unavailable;
  return kind == Kind::no_credit ? ErrorCode::exhausted : ErrorCode::invalid;
}

Error error_from(const Server& server, const Told& told, int status, Kind kind) {
  std::string said = without_keys(quotable(told.message, told_characters), server.key);
  while (said.ends_with('.') || said.ends_with(' ')) said.pop_back();
  std::string what = status > 0 ? " responded " + std::to_string(status) : " ended its response";
  if (!told.type.empty()) what += " (" + quotable(told.type, 60) + ")";
  if (!said.empty()) what += ": " + said;
  return error(code_of(kind), server.who() + what + advice_for(kind, server));
}

}  // namespace

Error error_of(const Server& server, const ErrorResponse& answer, Instant now) {
  Told told;
  auto document = parse_sanitized_json(answer.body);
  if (document.ok()) {
    told = told_in(*document).value_or(Told{});
  } else if (!answer.body.empty()) {
    told.message = "a page that is not JSON";
  }
  Kind kind = kind_of(told, answer.status);
  if (answer.should_retry == "true" && kind != Kind::no_credit) kind = Kind::busy;
  if (answer.should_retry == "false" && kind == Kind::busy) kind = Kind::bad_request;
  Error failed = error_from(server, told, answer.status, kind);
  if (failed.code != ErrorCode::unavailable) return failed;
  failed.retry_after = milliseconds_in(answer.retry_after_ms);
  if (!failed.retry_after) failed.retry_after = net::retry_after(answer.retry_after, now);
  return failed;
}

std::optional<Error> error_in(const Server& server, const Value& event) {
  auto told = told_in(event);
  if (!told) return std::nullopt;
  return error_from(server, *told, 0, kind_of(*told, 0));
}

}  // namespace belay::models
