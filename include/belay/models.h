#pragma once
// belay/models.h - language models over HTTP: Ollama, servers that speak OpenAI's protocol
// (OpenAI, llama.cpp, vLLM, OpenRouter, ...), and Anthropic.
//
//     ModelSettings settings;
//     settings.models = "ollama:llama3.2, openai:gpt-5@https://gateway.example/v1";
//     settings.openai_key = ...;
//     auto model = open_model(std::move(settings), *clock);
//
// A model is named PROVIDER:NAME, with @URL behind it where its server is another than its
// provider's own. A list of several is for fail-over: each call goes to the first whose circuit is
// closed, and to the next one where that can't be reached, is overloaded or has no credit left -
// but never once it has told a piece of text, and never to a model that the list does not name.
//
// What is sent is the request and nothing else: no id, no name of a machine. A key goes to the
// server that its provider's model is asked of and nowhere else (no redirect is followed), and
// stands in no error. What comes back is hostile until it has been read: it is bounded, made valid
// UTF-8 without NULs, and of a stream that ends before its end no tool call is left.
//
// Threading: open_model() and the plain functions on any thread. A model is used on one executor;
// each has one thread of its own for the network.
//
// Errors: those of belay/model.h. `unavailable` has a retry_after where the server named one, at
// most ten minutes. `exhausted` is also an account without credit: repeating does not help.
// docs/models.md has what each provider's own errors come to.

#include <map>

#include "belay/clock.h"
#include "belay/hints.h"
#include "belay/model.h"

namespace belay {

// Each counts from its own beginning; zero means no bound. A model that is loaded first, or thinks
// before it speaks, needs minutes for its first byte.
struct ModelTimeouts {
  std::chrono::milliseconds connect{5'000};
  std::chrono::milliseconds first_byte{120'000};
  std::chrono::milliseconds idle{60'000};  // between two pieces of the answer
  std::chrono::milliseconds total{600'000};
};

// What models cost. Of `gpt-5` and `gpt-5-mini` the longer name that begins a model's counts.
class ModelPrices {
 public:
  // A table in TOML, in units of money for 1,000,000 tokens; a name may have its provider before
  // it. `invalid` with the line for what is no such table.
  //     gpt-5 = {input = 1.25, output = 10.0}
  //     "ollama:llama3.2" = {input = 0, output = 0}
  static Result<ModelPrices> parse(std::string_view toml);
  void set(std::string name, ModelPrice price) { prices_[std::move(name)] = price; }
  std::optional<ModelPrice> find(std::string_view provider, std::string_view model) const;

 private:
  std::map<std::string, ModelPrice, std::less<>> prices_;
};

struct ModelSettings {
  // "PROVIDER:NAME[@URL]", several by commas. Providers: ollama, openai, anthropic.
  std::string models = {};
  // The server, where all models of the list are one provider's: http[s]://HOST[:PORT][/PATH]. Of
  // openai with the path that comes before /chat/completions, as https://api.openai.com/v1.
  std::string url = {};
  // Without a key a server of one's own is asked without; api.openai.com and api.anthropic.com
  // can't be.
  std::string openai_key = {};
  std::string anthropic_key = {};
  std::string ollama_key = {};
  std::string ollama_host = {};  // as OLLAMA_HOST: "HOST", "HOST:PORT" or an URL
  // Models of the program's own that the list may name, by that name: "builtin".
  std::map<std::string, std::shared_ptr<Model>> local_models = {};

  ModelTimeouts timeouts = {};
  std::size_t reply_bytes_max = 8u << 20;  // text and calls; sixteen times that on the wire
  // Of a request that names none; unset: the server's own (of Anthropic's models, which need one,
  // limits::output_tokens_default).
  std::optional<std::int64_t> max_output_tokens = std::nullopt;
  // Ollama cuts a prompt that is longer than its context (often 4096 tokens) without a word; unset:
  // as the server is set up.
  std::optional<std::int64_t> ollama_context_tokens = std::nullopt;

  // Of each server: calls at the same time, those that may wait, its circuit (limits.h); and calls
  // begun in any minute, 0 for any number. A call that would wait longer than a minute for that is
  // `unavailable`.
  DependencyOptions limits = {};
  std::size_t calls_per_minute = 0;

  // The same answer to the same request, without asking, for as long as it lives: texts alone,
  // never calls, errors or answers that were cut. Such a reply has used no tokens.
  bool cache = false;
  std::chrono::milliseconds cache_ttl = std::chrono::hours(1);
  std::size_t cache_entries_max = 1'000;
  std::size_t cache_bytes_max = 64u << 20;

  // Behind calls_per_minute and the cache, for several processes together. They outlive the model;
  // null: there is none.
  SharedRateLimit* shared_rate_limit = nullptr;
  SharedReplyCache* shared_reply_cache = nullptr;

  ModelPrices prices = {};

  std::string trusted_certificates = {};  // a PEM file in place of the system's
  // Unset: what https_proxy and the like say, but none to this machine; "": none.
  std::optional<std::string> proxy = std::nullopt;
  // Put behind an error that somebody has to set something for: "The model is set by --model."
  std::string error_hint = {};
};

// One of settings.models, read.
struct ModelName {
  std::string provider;
  std::string name;  // empty for a model of the program's own
  std::string url;   // the server's; empty for a model of the program's own
  std::string text() const { return name.empty() ? provider : provider + ":" + name; }
};
// `invalid`, with what to write instead, for what can't be read.
Result<std::vector<ModelName>> parse_model_names(const ModelSettings& settings);

// `invalid` for settings that no call can go by: a name, an address, a key that is not there.
// Nothing is sent. The clock outlives the model.
Result<std::shared_ptr<Model>> open_model(ModelSettings settings, Clock& clock);

// What a provider's server says it has, by name; sends one small request, which costs nothing.
Task<Result<std::vector<std::string>>> list_models(ModelSettings settings, ModelName of,
                                                   Clock& clock);

// A call of a few tokens: whether the model answers, and how soon.
struct ModelTrial {
  ModelReply reply;
  std::chrono::milliseconds took{};
};
Task<Result<ModelTrial>> try_model(Model& model, Clock& clock);

// Asks for an answer that obeys request.response_schema, or any JSON where there is none. What does
// not is sent back with what is wrong, at most twice; then `unavailable`, with a sentence that
// begins "Invalid LLM response format". The reply's text is the JSON alone, its usage that of all
// calls. A reply that has tool calls instead is given as it is. on_text gets the sound text alone,
// in one piece.
//     auto reply = co_await generate_json(context.model(), std::move(request));
// Each call goes through `model`: with a context's each is on record, and counted.
Task<Result<ModelReply>> generate_json(Model& model, ModelRequest request);

// What of `value` a JSON Schema forbids, as a sentence that names the place; nothing if it obeys.
// Read are type, enum, const, properties, required, additionalProperties, items, prefixItems,
// anyOf, oneOf, allOf, not, $ref within the schema, and the bounds of numbers, texts and arrays;
// other members (pattern, format) are not checked. For the arguments of a tool, too.
std::optional<std::string> schema_violation(const Value& schema, const Value& value);

}  // namespace belay
