#pragma once
// belay/model.h - the language-model interface: one request, one reply.
//
// Implement Model to add a provider; belay/models.h has Ollama, servers with OpenAI's protocol, and
// Anthropic. A provider that is not a language model (rules, a script) declares this in `provider`,
// `method` and `notice`, which must be shown with its output.
//
// Threading: generate() is called on a run's executor; calls can overlap. Destroying its Task stops
// the call: nothing more is sent, and no further cost arises.
//
// Errors: `unavailable` if a retry might succeed (no connection, overload; with the server's
// retry_after, if any), `invalid` for a request that this model can never serve, with the setting
// to change, `exhausted` for a reply beyond its limits. Do not retry here: the node's policy does.
//
// A node gets its model from Context::model(), which records every reply in the run's journal
// (docs/effects.md); therefore a model needs no memory.

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "belay/detail/answer_verdict.h"
#include "belay/task.h"
#include "belay/value.h"

namespace belay {

enum class Role { system, user, assistant, tool };

// A tool call that a model requests. The node decides whether to execute it. The arguments come
// from the model: check them before use.
struct ToolCall {
  std::string id;    // referenced by its result; unique within a conversation
  std::string name;  // usually of one of the request's tools; a model can return another
  Value arguments;   // an object; the model's text if that is not an object
  friend bool operator==(const ToolCall&, const ToolCall&) = default;
};

// The part of a tool that a model receives: see tool.h.
struct ToolDefinition {
  std::string name;  // letters, digits, _ and -, at most 64
  std::string description;
  Value parameters;  // JSON Schema of an object
};

struct Message {
  Role role = Role::user;
  std::string text;
  std::vector<ToolCall> tool_calls = {};  // role `assistant`
  std::string tool_call_id = {};          // role `tool`: the call whose result is in `text`
};

enum class ToolChoice {
  automatic,  // the model decides
  none,       // no tool calls, even if the conversation contains some
  required,   // the model is asked to call a tool; some models do not comply
};

struct ModelRequest {
  // The purpose of the reply, as a stable name ("daily_audit"); empty for free text. Rule-based and
  // scripted models select by it, language models ignore it.
  std::string purpose;
  std::vector<Message> messages;
  // JSON Schema that the reply's text must satisfy; null for free text.
  Value response_schema;
  // The contents of the prompt as data, for rule-based models.
  Value input;
  // Maximum length of the reply; unset: the model's own limit. In a run with a budget, unset means
  // limits::output_tokens_default, because the maximum cost is reserved.
  std::optional<std::int64_t> max_output_tokens = std::nullopt;
  std::vector<ToolDefinition> tools = {};
  ToolChoice tool_choice = ToolChoice::automatic;
  // Unset: the model's own.
  std::optional<double> temperature = std::nullopt;
  std::optional<std::int64_t> seed = std::nullopt;  // not supported by all providers
  // The model to call, as an entry of ModelSettings::models such as "openai:gpt-5". Empty: those of
  // the program, with failover. A Model that has no others ignores it.
  std::string model = {};
  // The first messages, which an earlier request of this conversation has recorded: for display,
  // the journal stores only the later ones. Does not change what the model receives.
  std::size_t recorded_messages = 0;
  // Called with each delta of the text while it arrives, cut between two characters; once with the
  // whole text if the reply was recorded or cached. The deltas of an attempt that fails are
  // invalid: Context::stream() drops them.
  //     request.on_text_delta = [&context](std::string_view piece) { context.stream(piece); };
  std::function<void(std::string_view piece)> on_text_delta = nullptr;
  // Null: every complete reply that matches response_schema is accepted.
  std::shared_ptr<AnswerVerdict> verdict = nullptr;

  ModelRequest() = default;
  ModelRequest(std::string purpose, std::vector<Message> messages, Value response_schema,
               Value input);
};

struct Usage {
  std::int64_t input_tokens = 0;
  std::int64_t output_tokens = 0;
  std::int64_t cached_input_tokens = 0;  // part of input_tokens, read from the provider's cache
};

// In millionths of a unit of money (see limits.h) for 1,000,000 tokens.
struct ModelPrice {
  std::int64_t input = 0;
  std::int64_t output = 0;
};

// Why a reply ended.
enum class StopReason {
  complete,    // the reply is complete
  length,      // max_output_tokens, or the model's own limit: the text is truncated
  tool_calls,  // the model waits for results
  refused,     // the model, or its provider's filter, refused the request
};

struct ModelReply {
  std::string text;      // JSON text if the request has a schema
  std::string provider;  // "builtin", "ollama", ...
  std::string model;     // "builtin-rules/2", "llama3.2", ...
  std::string method;    // "rules", "script" or "language_model"
  std::string notice;    // must be shown with the text, in the reader's language; can be empty
  std::optional<Usage> usage;  // absent if the provider did not count; never estimated
  std::vector<ToolCall> tool_calls = {};
  StopReason stop_reason = StopReason::complete;
};

class Model {
 public:
  virtual ~Model() = default;
  virtual Task<Result<ModelReply>> generate(ModelRequest request) = 0;

  // The model that replies to a request which names none: "openai:gpt-5"; empty: unknown. A model
  // that passes requests to another one returns the name of that.
  virtual std::string name() const { return {}; }
  // Price of this request; unset if unknown. A run with a budget of money needs it: a model without
  // costs returns a price of zero.
  virtual std::optional<ModelPrice> price(const ModelRequest& request) const;
  // Upper bound of the request's input tokens. The default is one per byte plus a constant per
  // message and tool, which no tokenizer exceeds. A model that can count returns less; 0 means that
  // calls have no cost.
  virtual std::int64_t input_tokens_max(const ModelRequest& request) const;

  // Returns the text of the reply to one user message, without a schema.
  Task<Result<std::string>> complete(std::string prompt);
};

}  // namespace belay
