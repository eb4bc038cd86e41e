#include "store/encrypted/envelope_parts.h"

#include <algorithm>
#include <cstdint>

#include "store/envelope.h"

namespace belay::encrypted {
namespace {

bool take(std::string_view& text, std::string_view front) {
  if (!text.starts_with(front)) return false;
  text.remove_prefix(front.size());
  return true;
}

}  // namespace

Error corrupt(const store::Subject& subject, std::string_view why) {
  return error(ErrorCode::corrupt, "The stored " + subject.row + " " + std::string(why) +
                                       ". Restore the store from a backup.");
}

Result<Parts> parts_of(std::string_view envelope, const store::Subject& subject) {
  auto split = store::split_envelope(envelope);
  if (!split) return corrupt(subject, "is truncated");
  Parts parts;
  parts.type = split->type;
  parts.data = split->data;
  if (parts.type.empty() || !store::may_be_type(parts.type)) {
    return corrupt(subject, "has no type");
  }
  std::string_view rest = parts.type;
  parts.base = rest.substr(0, rest.find('+'));
  rest.remove_prefix(parts.base.size());
  parts.is_reference = take(rest, kBlobStep);
  parts.is_compressed = !parts.is_reference && take(rest, kZstdStep);
  parts.is_encrypted = take(rest, kSealStep);
  parts.is_old = !parts.is_encrypted && take(rest, kOldSealStep);
  parts.is_encrypted = parts.is_encrypted || parts.is_old;
  if (parts.is_encrypted) parts.key_id = std::exchange(rest, {});
  if (rest.empty() && !parts.base.empty() && parts.is_encrypted != parts.key_id.empty()) {
    return parts;
  }
  return error(ErrorCode::invalid, "The stored " + subject.row + " is of type \"" +
                                       std::string(parts.type) +
                                       "\", which this Belay cannot read. Use a newer Belay.");
}

std::string envelope_front(std::string_view type, std::size_t data_bytes) {
  std::string envelope;
  envelope.reserve(store::envelope_length_bytes + type.size() + data_bytes);
  for (std::size_t i = 0; i < store::envelope_length_bytes; ++i) {
    envelope += static_cast<char>(type.size() >> (8 * i) & 0xff);
  }
  envelope += type;
  return envelope;
}

}  // namespace belay::encrypted
