#pragma once
// belay/model.h - the language-model interface: one request, one reply.
//
// Implement Model to add a provider. A provider that is no language model (rules, a script) says so
// in `provider`, `method` and `notice`, and whoever shows its output shows them too.
//
// Threading: generate() is called on a run's executor; several calls may be under way at once.
//
// Errors: `unavailable` for what may work when repeated (no connection, overload; retry_after where
// the server named one), `invalid` for a request that this model can't ever serve, with what to
// configure instead. Retries belong to the node's policy, not here.
//
// A node gets its model from Context::model(), which records every answer in the run's journal
// (docs/effects.md), so a model need not remember anything.

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "belay/task.h"
#include "belay/value.h"

namespace belay {

enum class Role { system, user, assistant };

struct Message {
  Role role = Role::user;
  std::string text;
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

  ModelRequest() = default;
  ModelRequest(std::string purpose, std::vector<Message> messages, Value response_schema,
               Value input);
};

struct Usage {
  std::int64_t input_tokens = 0;
  std::int64_t output_tokens = 0;
};

// In millionths of a unit of money (see protection.h) for 1,000,000 tokens.
struct ModelPrice {
  std::int64_t input = 0;
  std::int64_t output = 0;
};

struct ModelReply {
  std::string text;      // the answer; JSON text where a schema was given
  std::string provider;  // "builtin", "ollama", ...
  std::string model;     // "builtin-rules/1", "llama3.2", ...
  std::string method;    // "rules", "script" or "language_model"
  std::string notice;    // to be shown with the answer, in the reader's language; may be empty
  std::optional<Usage> usage;  // absent where nothing was counted: never invented
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
  virtual std::int64_t input_tokens_at_most(const ModelRequest& request) const;

  // The text of a free answer to one user message.
  Task<Result<std::string>> complete(std::string prompt);
};

}  // namespace belay
