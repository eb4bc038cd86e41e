#pragma once
// driver/protected_model.h - the model as a dependency: every call waits for its turn.

#include <functional>

#include "base/dependency.h"
#include "belay/model.h"

namespace belay {

class ProtectedModel final : public Model {
 public:
  // `waits` is told when a call begins to wait for its turn, and when that is over.
  ProtectedModel(Model& model, Dependency& dependency, std::function<void(bool)> waits)
      : model_(model), dependency_(dependency), waits_(std::move(waits)) {}

  Task<Result<ModelReply>> generate(ModelRequest request) override;
  std::optional<ModelPrice> price(const ModelRequest& request) const override {
    return model_.price(request);
  }
  std::int64_t input_tokens_max(const ModelRequest& request) const override {
    return model_.input_tokens_max(request);
  }

  // The calls under way are about to be stopped because they took too long.
  void time_out() { if_stopped_ = Dependency::Verdict::failed; }

 private:
  Model& model_;
  Dependency& dependency_;
  std::function<void(bool)> waits_;
  Dependency::Verdict if_stopped_ = Dependency::Verdict::unknown;
};

// What an attempt or a call that ended so says of what it used.
Dependency::Verdict verdict_of(const Error* error);

}  // namespace belay
