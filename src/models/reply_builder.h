#pragma once
// models/reply_builder.h - assembles a reply from the fragments of a response, for all protocols.

#include <string>
#include <string_view>
#include <vector>

#include "models/protocol.h"

namespace belay::models {

// A tool call that might still be incomplete.
struct ToolCallBuilder {
  std::int64_t index = -1;  // as the provider counts; -1: the provider sends no index
  std::string id;
  std::string name;
  std::string arguments;        // the fragments of the JSON text that were received
  std::optional<Value> object;  // arguments that the provider sent as one object
};

class ReplyBuilder {
 public:
  static constexpr std::size_t calls_max = 1'024;

  // `request` and `server` must outlive it.
  ReplyBuilder(const Server& server, const ModelRequest& request, DecoderOptions options)
      : server_(server), request_(request), options_(std::move(options)) {}

  // These fail with `exhausted` if the response is longer than its limit.
  Result<Done> add_text(std::string_view piece);
  Result<Done> add_refusal(std::string_view piece);
  Result<ToolCallBuilder*> add_call();
  Result<Done> add_arguments(ToolCallBuilder& call, std::string_view piece);

  std::vector<ToolCallBuilder>& calls() { return calls_; }
  // Sets the model's name as the server reports it; only the first call has an effect.
  void set_model(const Value& name);
  // Ignore values that are not a token_count().
  void set_input_tokens(const Value& count);
  void set_output_tokens(const Value& count);
  void set_cached_input_tokens(const Value& count);
  void set_input_tokens(std::optional<std::int64_t> count) { input_tokens_ = count; }
  void set_end(StopReason end) { end_ = end; }

  // Returns the reply after the end mark.
  Result<ModelReply> whole();
  // Returns the error for a response without its end mark.
  Error cut_off() const;
  // Returns the error for data that violates the protocol.
  Error garbage(std::string_view what) const;

 private:
  Result<Done> count(std::size_t bytes);
  std::vector<ToolCall> finished_calls();

  const Server& server_;
  const ModelRequest& request_;
  const DecoderOptions options_;
  std::size_t bytes_ = 0;
  std::string text_;
  std::string refusal_;
  std::string model_;
  std::vector<ToolCallBuilder> calls_;
  std::optional<std::int64_t> input_tokens_;
  std::optional<std::int64_t> output_tokens_;
  std::int64_t cached_input_tokens_ = 0;
  std::optional<StopReason> end_;
};

// Returns a number of tokens; nullopt if the value is not an integer from 0 to a plausible maximum.
std::optional<std::int64_t> token_count(const Value& count);

}  // namespace belay::models
