#pragma once
// belay/models.h - language models over HTTP: Ollama, servers with OpenAI's protocol (OpenAI,
// llama.cpp, vLLM, OpenRouter, ...), and Anthropic.
//
//     ModelSettings settings;
//     settings.models = "ollama:llama3.2, openai:gpt-5@https://gateway.example/v1";
//     settings.openai_key = ...;
//     auto model = open_model(std::move(settings), *clock);
//
// A model is named PROVIDER:NAME, followed by @URL if its server is not the provider's own. A list
// of several models is used for failover: each call goes to the first model whose circuit is
// closed, and to the next one if that is unreachable, overloaded or without credit; never after a
// delta of its text was delivered, and never to a model that is not in the list. A request that
// names a model (ModelRequest::model) is sent to that one only. It need not be in the list: it is
// opened when it is first named, with the same settings, at the address of the first model of the
// list with its provider. The request fails with `invalid` if a key is missing.
//
// Only the request is sent: no ids, no machine names. A key is sent only to the server of its
// provider's model (redirects are not followed) and is never part of an error. Replies are
// untrusted: they are limited in size and converted to valid UTF-8 without U+0000; tool calls of a
// stream that ended early are dropped.
//
// Threading: call open_model() and the plain functions on any thread. A model is used on one
// executor and has its own network threads.
//
// Errors: those of belay/model.h. `unavailable` has the server's retry_after, if any, at most ten
// minutes. `exhausted` also means an account without credit: a retry does not help. docs/models.md
// maps each provider's errors.

#include <map>

#include "belay/clock.h"
#include "belay/hints.h"
#include "belay/model.h"

namespace belay {

// Each timeout has its own start; zero: no timeout. A model that must be loaded first, or that
// reasons before it replies, can need minutes for its first byte.
struct ModelTimeouts {
  std::chrono::milliseconds connect{5'000};
  std::chrono::milliseconds first_byte{120'000};
  std::chrono::milliseconds idle{60'000};  // between two parts of the reply
  std::chrono::milliseconds total{600'000};
};

// Prices by model name. The longest name that is a prefix of the model's name applies, such as
// `gpt-5-mini` instead of `gpt-5`.
class ModelPrices {
 public:
  // Reads a table in TOML, in units of money for 1,000,000 tokens; a name can start with its
  // provider. `invalid`, with the line, if it is not such a table.
  //     gpt-5 = {input = 1.25, output = 10.0}
  //     "ollama:llama3.2" = {input = 0, output = 0}
  static Result<ModelPrices> parse(std::string_view toml);
  void set(std::string name, ModelPrice price) { prices_[std::move(name)] = price; }
  std::optional<ModelPrice> find(std::string_view provider, std::string_view model) const;

 private:
  std::map<std::string, ModelPrice, std::less<>> prices_;
};

struct ModelSettings {
  // "PROVIDER:NAME[@URL]", comma-separated. Providers: ollama, openai, anthropic.
  std::string models = {};
  // The server, if all models without @URL have the same provider: http[s]://HOST[:PORT][/PATH].
  // For openai with the path before /chat/completions, such as https://api.openai.com/v1.
  std::string url = {};
  // A server is called without a key if none is set; api.openai.com and api.anthropic.com require
  // one.
  std::string openai_key = {};
  std::string anthropic_key = {};
  std::string ollama_key = {};
  std::string ollama_host = {};  // like OLLAMA_HOST: "HOST", "HOST:PORT" or a URL
  // The program's own models, by the name that the list uses: "builtin".
  std::map<std::string, std::shared_ptr<Model>> local_models = {};

  ModelTimeouts timeouts = {};
  std::size_t reply_bytes_max = 8u << 20;  // text and tool calls; sixteen times that on the wire
  // For requests without their own value; unset: the server's default (Anthropic requires a value:
  // limits::output_tokens_default).
  std::optional<std::int64_t> max_output_tokens = std::nullopt;
  // Ollama silently truncates a prompt that exceeds its context (often 4096 tokens); unset: the
  // server's setting.
  std::optional<std::int64_t> ollama_context_tokens = std::nullopt;

  // For each server: concurrent calls, waiting calls and circuit breaker (limits.h); and calls
  // started per minute, 0: no limit. A call that would wait longer than a minute for the latter
  // fails with `unavailable`.
  DependencyOptions limits = {};
  std::size_t calls_per_minute = 0;

  // Returns an earlier reply to the same request until its TTL expires. Only complete texts are
  // cached, never tool calls or errors. A cached reply has a usage of zero tokens.
  bool cache = false;
  std::chrono::milliseconds cache_ttl = std::chrono::hours(1);
  std::size_t cache_entries_max = 1'000;
  std::size_t cache_bytes_max = 64u << 20;

  // Extend calls_per_minute and the cache to several processes. They must outlive the model; null:
  // not available.
  SharedRateLimit* shared_rate_limit = nullptr;
  SharedReplyCache* shared_reply_cache = nullptr;

  ModelPrices prices = {};

  std::string trusted_certificates = {};  // a PEM file, used instead of the system's certificates
  // Unset: the proxy of https_proxy and similar variables, but none for this machine; "": none.
  std::optional<std::string> proxy = std::nullopt;
  // Appended to errors that require another setting: "The model is set by --model."
  std::string error_hint = {};
};

// A parsed entry of ModelSettings::models.
struct ModelName {
  std::string provider;
  std::string name;  // empty for a model of the program's own
  std::string url;   // of the server; empty for a model of the program's own
  std::string text() const { return name.empty() ? provider : provider + ":" + name; }
};
// `invalid`, with a correction, if an entry is not valid.
Result<std::vector<ModelName>> parse_model_names(const ModelSettings& settings);

// `invalid` for settings with which no call can succeed: an invalid name or address, a missing key.
// Sends nothing. The clock must outlive the model.
Result<std::shared_ptr<Model>> open_model(ModelSettings settings, Clock& clock);

// Returns the models that a provider's server offers, sorted by name. Sends one small request
// without cost.
Task<Result<std::vector<std::string>>> list_models(ModelSettings settings, ModelName of,
                                                   Clock& clock);

// The result of a call of a few tokens, which checks that the model replies.
struct ModelTrial {
  ModelReply reply;
  std::chrono::milliseconds took{};
};
Task<Result<ModelTrial>> try_model(Model& model, Clock& clock);

// Requests a reply that satisfies request.response_schema; any JSON if that is null. Returns an
// invalid reply to the model with its fault, at most twice; then fails with `unavailable` and a
// message that starts with "Invalid LLM response format" (`invalid`, if the model refused). The
// reply's text is only the JSON, its usage that of all calls. A reply with tool calls is returned
// unchanged. on_text_delta receives only the valid text, once.
//     auto reply = co_await generate_json(context.model(), std::move(request));
// Each call uses `model`: the calls of a context's model are recorded and counted.
Task<Result<ModelReply>> generate_json(Model& model, ModelRequest request);

// Returns the first violation of a JSON Schema, with its path; nullopt if `value` satisfies the
// schema. Supports type, enum, const, properties, required, additionalProperties, items,
// prefixItems, anyOf, oneOf, allOf, not, $ref within the schema, and the bounds of numbers, texts
// and arrays; other members (pattern, format) are not checked. Also for the arguments of tools.
std::optional<std::string> schema_violation(const Value& schema, const Value& value);

}  // namespace belay
