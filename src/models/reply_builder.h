#pragma once
// models/reply_builder.h - a reply while its pieces come: what every protocol collects.

#include <string>
#include <string_view>
#include <vector>

#include "models/protocol.h"

namespace belay::models {

// A call whose pieces may still come.
struct ToolCallBuilder {
  std::int64_t index = -1;  // as the provider counts; -1: it does not
  std::string id;
  std::string name;
  std::string arguments;        // JSON text, in pieces
  std::optional<Value> object;  // arguments that came whole
};

class ReplyBuilder {
 public:
  static constexpr std::size_t calls_max = 128;

  // `request` and `server` outlive it.
  ReplyBuilder(const Server& server, const ModelRequest& request, DecoderOptions options)
      : server_(server), request_(request), options_(std::move(options)) {}

  // Each is `exhausted` once the answer is longer than it may be.
  Result<Done> add_text(std::string_view piece);
  Result<Done> add_refusal(std::string_view piece);
  Result<ToolCallBuilder*> add_call();
  Result<Done> add_arguments(ToolCallBuilder& call, std::string_view piece);

  std::vector<ToolCallBuilder>& calls() { return calls_; }
  // As the server names it; the first name counts.
  void set_model(const Value& name);
  // Counts that are none, or beyond reason, are as if they had not come.
  void set_input_tokens(const Value& count);
  void set_output_tokens(const Value& count);
  void set_input_tokens(std::optional<std::int64_t> count) { input_tokens_ = count; }
  void set_end(StopReason end) { end_ = end; }

  // The end mark has come.
  Result<ModelReply> whole();
  // It has not.
  Error cut_off() const;
  // What comes is not what the protocol says.
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
  std::optional<StopReason> end_;
};

// A count of tokens, if it is one: whole, not negative, and of a size that a call may have.
std::optional<std::int64_t> token_count(const Value& count);

}  // namespace belay::models
