#include "driver/protected_model.h"

namespace belay {
namespace {

// Holds a slot. If the coroutine of the call is destroyed before it ends, the destructor returns
// the slot with the current value of `if_stopped`.
struct Use {
  Dependency::Slot slot;
  const Dependency::Verdict& if_stopped;
  Use(Dependency::Slot taken, const Dependency::Verdict& stopped)
      : slot(std::move(taken)), if_stopped(stopped) {}
  Use(const Use&) = delete;
  Use& operator=(const Use&) = delete;
  ~Use() { slot.ended(if_stopped); }
};

}  // namespace

Dependency::Verdict verdict_of(const Error* error) {
  if (!error) return Dependency::Verdict::worked;
  return error->code == ErrorCode::unavailable ? Dependency::Verdict::failed
                                               : Dependency::Verdict::unknown;
}

Task<Result<ModelReply>> ProtectedModel::generate(ModelRequest request) {
  waits_(true);
  auto slot = co_await dependency_.enter();
  waits_(false);
  if (!slot.ok()) co_return std::move(slot).error();
  Use use(*std::move(slot), if_stopped_);
  auto reply = co_await model_.generate(std::move(request));
  use.slot.ended(verdict_of(reply.ok() ? nullptr : &reply.error()));
  co_return std::move(reply);
}

}  // namespace belay
