#pragma once
// driver/lease_gated_model.h - a model whose calls wait while the session's lease is not fresh.
//
// Another process might claim the runs of this process then, and repeat the call. Calls in progress
// continue: their replies are used unless the run has been claimed.

#include "belay/limits.h"
#include "belay/model.h"
#include "belay/store.h"

namespace belay {

class LeaseGatedModel final : public Model {
 public:
  // Both must outlive it.
  LeaseGatedModel(Model& model, Store& store) : model_(model), store_(store) {}

  Task<Result<ModelReply>> generate(ModelRequest request) override {
    while (!store_.lease_is_fresh()) co_await sleep_for(limits::lease_poll_interval);
    co_return co_await model_.generate(std::move(request));
  }
  std::string name() const override { return model_.name(); }
  std::optional<ModelPrice> price(const ModelRequest& request) const override {
    return model_.price(request);
  }
  std::int64_t input_tokens_max(const ModelRequest& request) const override {
    return model_.input_tokens_max(request);
  }

 private:
  Model& model_;
  Store& store_;
};

}  // namespace belay
