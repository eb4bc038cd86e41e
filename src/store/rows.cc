#include "belay/rows.h"

#include "belay/detail/expiry_envelope.h"
#include "store/enum_names.h"
#include "store/envelope.h"

namespace belay {
std::string json_envelope(std::string_view json) {
  static constexpr std::string_view front("\x04\0\0\0json", 8);
  std::string envelope;
  envelope.reserve(front.size() + json.size());
  envelope += front;
  envelope += json;
  return envelope;
}

Result<std::string_view> json_in_envelope(std::string_view envelope) {
  auto parts = store::split_envelope(envelope);
  if (!parts) {
    return error(ErrorCode::corrupt, "A stored value is truncated: its envelope has " +
                                         std::to_string(envelope.size()) +
                                         " bytes. Restore the store from a backup.");
  }
  if (parts->type == "json" || parts->type == detail::reply_type) return parts->data;
  if (parts->type == detail::expiry_type) {
    BELAY_TRY(auto both, detail::with_expiry_message(envelope));
    return both.json;
  }
  if (!store::may_be_type(parts->type)) {
    return error(ErrorCode::corrupt,
                 "The envelope of a stored value has no type. Restore the store from a backup.");
  }
  return error(ErrorCode::invalid, "A stored value is of type \"" + std::string(parts->type) +
                                       "\", which this Belay cannot read. Use a newer Belay.");
}

std::string_view name_of(RunStatus status) { return store::enum_name(status); }
std::optional<PauseReason> pause_reason(const RunRow& run) {
  if (run.status != RunStatus::paused) return std::nullopt;
  return store::enum_named<PauseReason>(run.reason);
}

std::string_view name_of(PauseReason reason) { return store::enum_name(reason); }
std::string_view name_of(ApprovalStatus status) { return store::enum_name(status); }
std::string_view name_of(CommitKind kind) { return store::enum_name(kind); }
std::string_view name_of(WriteOp kind) { return store::enum_name(kind); }
std::string_view name_of(TaskStatus status) { return store::enum_name(status); }
std::string_view name_of(EffectClass effect_class) { return store::enum_name(effect_class); }
std::string_view name_of(EffectStatus status) { return store::enum_name(status); }
std::string_view name_of(OutboxStatus status) { return store::enum_name(status); }

}  // namespace belay
