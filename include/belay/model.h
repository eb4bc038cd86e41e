#pragma once
// belay/model.h - the language-model interface: one request, one reply.
//
// Implement Model to add a provider; belay/models.h has those for Ollama, for servers that speak
// OpenAI's protocol, and for Anthropic. A provider that is no language model (rules, a script) says
// so in `provider`, `method` and `notice`, and whoever shows its output shows them too.
//
// Threading: generate() is called on a run's executor; several calls may be under way at once.
// Destroying its Task stops the call: nothing more is sent, and nothing more is paid for.
//
// Errors: `unavailable` for what may work when repeated (no connection, overload; retry_after where
// the server named one), `invalid` for a request that this model can't ever serve, with what to
// configure instead, `exhausted` for an answer beyond its limits. Retries belong to the node's
// policy, not here.
//
// A node gets its model from Context::model(), which records every answer in the run's journal
// (docs/effects.md), so a model need not remember anything.

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

// What a model asks to have called. Whether that happens, and with what right, is the node's to
// decide; the arguments are what a model says, so they are checked before they are used.
struct ToolCall {
  std::string id;    // its result refers to it; unique within a conversation
  std::string name;  // of one of the request's tools, as far as the model keeps to them
  Value arguments;   // an object; the model's own text, where that is none
  friend bool operator==(const ToolCall&, const ToolCall&) = default;
};

// What a model may ask to have called.
struct Tool {
  std::string name;  // letters, digits, _ and -, at most 64
  std::string description;
  Value parameters;  // JSON Schema of an object
};

struct Message {
  Role role = Role::user;
  std::string text;
  std::vector<ToolCall> tool_calls = {};  // of the assistant
  std::string tool_call_id = {};          // of a tool: which call `text` is the result of
};

enum class ToolChoice {
  automatic,  // the model's own
  none,       // it may call none, though the conversation has calls
  required,   // it is asked to call one; some models don't obey
};

struct ModelRequest {
  // What the answer is for, as a stable name ("daily_audit"); empty for free text. Rule-based and
  // scripted models choose by it, language models ignore it.
  std::string purpose;
  std::vector<Message> messages;
  // JSON Schema that the reply's text must obey; null for free text.
  Value response_schema;
  // The material of the prompt once more, as data: what a rule-based model reads instead of prose.
  Value input;
  // The most that the answer may have; unset: the model's own limit. A run with a budget sets it to
  // limits::output_tokens_default where it is unset, since the most is what is reserved.
  std::optional<std::int64_t> max_output_tokens = std::nullopt;
  std::vector<Tool> tools = {};
  ToolChoice tool_choice = ToolChoice::automatic;
  // Unset: the model's own.
  std::optional<double> temperature = std::nullopt;
  std::optional<std::int64_t> seed = std::nullopt;  // not every provider has one
  // Gets the text while it comes, cut anywhere between two characters; a reply that is on record
  // comes as one piece. An attempt that fails has told pieces that count for nothing:
  // Context::stream() knows that.
  //     request.on_text = [&context](std::string_view piece) { context.stream(piece); };
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
};

// In millionths of a unit of money (see limits.h) for 1,000,000 tokens.
struct ModelPrice {
  std::int64_t input = 0;
  std::int64_t output = 0;
};

// Why a reply ends where it does.
enum class StopReason {
  complete,    // the model was done
  length,      // max_output_tokens, or the model's own limit: the text is cut
  tool_calls,  // it waits for results
  refused,     // the model, or its provider's filter, would not answer
};

struct ModelReply {
  std::string text;      // the answer; JSON text where a schema was given
  std::string provider;  // "builtin", "ollama", ...
  std::string model;     // "builtin-rules/1", "llama3.2", ...
  std::string method;    // "rules", "script" or "language_model"
  std::string notice;    // to be shown with the answer, in the reader's language; may be empty
  std::optional<Usage> usage;  // absent where nothing was counted: never invented
  std::vector<ToolCall> tool_calls = {};
  StopReason stop_reason = StopReason::complete;
};

class Model {
 public:
  virtual ~Model() = default;
  virtual Task<Result<ModelReply>> generate(ModelRequest request) = 0;

  // What this model takes for such a request; unset where nobody knows. A run with a budget of
  // money needs it: a model that costs nothing says so with a price of zero.
  virtual std::optional<ModelPrice> price(const ModelRequest& request) const;
  // No less than the tokens that the request will count as input. By default one for each byte,
  // since no tokenizer makes more of them; a model that can count says less, rules say 0: no cost.
  virtual std::int64_t input_tokens_max(const ModelRequest& request) const;

  // The text of a free answer to one user message.
  Task<Result<std::string>> complete(std::string prompt);
};

}  // namespace belay
