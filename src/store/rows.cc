#include "belay/rows.h"

#include <cstdint>

#include "belay/value.h"
#include "store/enum_names.h"

namespace belay {
namespace {

constexpr std::size_t length_bytes = 4;

std::uint32_t length_at_front(std::string_view envelope) {
  std::uint32_t length = 0;
  for (std::size_t i = 0; i < length_bytes; ++i) {
    length |= static_cast<std::uint32_t>(static_cast<unsigned char>(envelope[i])) << (8 * i);
  }
  return length;
}

}  // namespace

std::string json_envelope(std::string_view json) {
  static constexpr std::string_view front("\x04\0\0\0json", 8);
  std::string envelope;
  envelope.reserve(front.size() + json.size());
  envelope += front;
  envelope += json;
  return envelope;
}

Result<std::string_view> json_in_envelope(std::string_view envelope) {
  if (envelope.size() < length_bytes ||
      envelope.size() - length_bytes < length_at_front(envelope)) {
    return error(ErrorCode::corrupt, "A stored value is cut off: its envelope has " +
                                         std::to_string(envelope.size()) +
                                         " bytes; restore the store from a backup.");
  }
  std::string_view rest = envelope.substr(length_bytes);
  std::string_view type = rest.substr(0, length_at_front(envelope));
  if (type == "json") return rest.substr(type.size());
  if (type.size() > 100 || first_invalid_utf8(type)) {
    return error(ErrorCode::corrupt,
                 "A stored value's envelope names no type; restore the store from a backup.");
  }
  return error(ErrorCode::invalid, "A stored value is of type \"" + std::string(type) +
                                       "\", which this Belay can't read; use a newer one.");
}

std::string_view name_of(RunStatus status) { return store::enum_name(status); }
std::string_view name_of(ApprovalStatus status) { return store::enum_name(status); }
std::string_view name_of(CommitKind kind) { return store::enum_name(kind); }
std::string_view name_of(ValueKind kind) { return store::enum_name(kind); }
std::string_view name_of(TaskStatus status) { return store::enum_name(status); }
std::string_view name_of(EffectClass effect_class) { return store::enum_name(effect_class); }
std::string_view name_of(EffectStatus status) { return store::enum_name(status); }
std::string_view name_of(OutboxStatus status) { return store::enum_name(status); }

}  // namespace belay
