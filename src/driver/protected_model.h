#pragma once
// driver/protected_model.h - the model as a protected dependency: each call waits for a slot.

#include <functional>

#include "base/dependency.h"
#include "belay/model.h"

namespace belay {

class ProtectedModel final : public Model {
 public:
  // Calls `waits` with true when a call starts to wait for its slot, with false when the wait ends.
  ProtectedModel(Model& model, Dependency& dependency, std::function<void(bool)> waits)
      : model_(model), dependency_(dependency), waits_(std::move(waits)) {}

  Task<Result<ModelReply>> generate(ModelRequest request) override;
  std::string name() const override { return model_.name(); }
  std::optional<ModelPrice> price(const ModelRequest& request) const override {
    return model_.price(request);
  }
  std::int64_t input_tokens_max(const ModelRequest& request) const override {
    return model_.input_tokens_max(request);
  }

  // The calls in progress are about to be cancelled by the node's timeout: they count as failed.
  void time_out() { if_stopped_ = Dependency::Verdict::failed; }

 private:
  Model& model_;
  Dependency& dependency_;
  std::function<void(bool)> waits_;
  Dependency::Verdict if_stopped_ = Dependency::Verdict::unknown;
};

// Returns the verdict on a dependency from the error of an attempt or a call; null: success.
Dependency::Verdict verdict_of(const Error* error);

}  // namespace belay
