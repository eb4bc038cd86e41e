#pragma once
// tests/support/repeating_store.h - calls every reader twice, for tests: the result of a reader
// must not depend on an earlier call.

#include <memory>
#include <utility>

#include "store/forwarding_store.h"

namespace belay {

class RepeatingStore final : public ForwardingStore {
 public:
  explicit RepeatingStore(std::unique_ptr<Store> inner)
      : ForwardingStore(*inner), owned_(std::move(inner)) {}

  Task<Result<Done>> read(Reader reader) override {
    if (!repeats) co_return co_await inner().read(std::move(reader));
    Reader twice = [reader = std::move(reader)](Snapshot& view) -> Result<Done> {
      (void)reader(view);
      return reader(view);
    };
    co_return co_await inner().read(std::move(twice));
  }

  bool repeats = true;

 private:
  std::unique_ptr<Store> owned_;
};

}  // namespace belay
