#pragma once
// graph/recorded_model.h - the model of one attempt of a node: records each call in the journal,
// and returns a recorded reply instead of repeating the call.

#include "belay/context.h"
#include "graph/call_record.h"
#include "graph/ledger.h"

namespace belay {

class RecordedModel final : public Model {
 public:
  // Requires attempt.journal, and attempt.model unless attempt.replays. `attempt` must outlive it.
  RecordedModel(const Context::Attempt& attempt, std::shared_ptr<AnswerVerdict> verdict)
      : attempt_(attempt), verdict_(std::move(verdict)) {}

  Task<Result<ModelReply>> generate(ModelRequest request) override;
  std::optional<ModelPrice> price(const ModelRequest& request) const override;
  std::int64_t input_tokens_max(const ModelRequest& request) const override;

 private:
  // A call and its row in the journal.
  struct Call {
    int number = 0;
    EffectRow row;
    CallRecord record;
    bool is_answered = false;    // `record` has a reply or an error
    bool other_request = false;  // the journal has a different request as call `number`
  };
  Call place(int number, const ModelRequest& request) const;
  // Returns the shortened and redacted request for the journal; null if it cannot be stored.
  Value prompt_of(const ModelRequest& request, Value document) const;
  Result<ModelReply> replayed(const Call& call) const;
  bool counts() const { return attempt_.ledger && attempt_.ledger->is_limited(); }
  Result<Cost> most(const ModelRequest& request) const;
  Task<Result<Done>> reserve(Call& call, ModelRequest& request);
  void settle(Call& call, const std::optional<ModelPrice>& price);
  Result<ModelReply> keep(Call& call, Result<ModelReply> reply);

  const Context::Attempt& attempt_;
  const std::shared_ptr<AnswerVerdict> verdict_;  // of the attempt
  int calls_ = 0;
};

}  // namespace belay
