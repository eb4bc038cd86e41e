#pragma once
// tests/providers/speech.h - a reply of a model, as the response of each of the three providers
//
// https://github.com/ollama/ollama/blob/main/docs/api.md; https://github.com/openai/openai-openapi;
// https://docs.anthropic.com/en/api/messages-streaming

#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "belay/value.h"

namespace belay::providers {

enum class Provider { ollama, openai, anthropic };
std::string_view name_of(Provider provider);
// Returns the provider that has this path for conversations.
std::optional<Provider> provider_of(std::string_view path);

struct SpokenCall {
  std::string id;         // empty: none is sent
  std::string name;       // empty: none is sent
  std::string arguments;  // JSON text of an object; other text is sent unchanged
};

// The contents of a reply: a text in chunks, then calls of tools.
struct Speech {
  std::vector<std::string> words = {};
  std::vector<SpokenCall> calls = {};
  bool is_cut = false;  // at its maximum length
};

// repeat: the last chunk, until the client closes.
enum class Then { end, hang, cut, repeat };

// A response.
struct Told {
  int status = 200;
  std::string type = "application/json";
  std::vector<std::pair<std::string, std::string>> headers = {};
  std::vector<std::string> pieces = {};  // one chunk each
  bool is_slow = false;
  Then then = Then::end;
};

// Returns the response to a request with this body; a stream if the body asks for one.
Told told(Provider provider, const Value& body, const Speech& speech);

std::string error_body(Provider provider, const char* type, const std::string& message);
Told refusal(Provider provider, int status, const char* type, const std::string& message);

}  // namespace belay::providers
