#pragma once
// graph/recorded_model.h - the model as one attempt of a node has it: every call goes on record,
// and what is on record already is not asked again.

#include "belay/context.h"
#include "graph/call_record.h"
#include "graph/ledger.h"

namespace belay {

class RecordedModel final : public Model {
 public:
  // REQUIRES: attempt.journal, and attempt.model unless attempt.replays. `attempt` outlives it.
  RecordedModel(const Context::Attempt& attempt, std::shared_ptr<AnswerVerdict> verdict)
      : attempt_(attempt), verdict_(std::move(verdict)) {}

  Task<Result<ModelReply>> generate(ModelRequest request) override;
  std::optional<ModelPrice> price(const ModelRequest& request) const override;
  std::int64_t input_tokens_max(const ModelRequest& request) const override;

 private:
  // A call's place in the journal.
  struct Call {
    int number = 0;
    EffectRow row;
    CallRecord record;
    bool is_answered = false;    // `record` says how
    bool other_request = false;  // something else was asked at this place before
  };
  Call place(int number, const ModelRequest& request) const;
  // The request as it goes on record.
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
