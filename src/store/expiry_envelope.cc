#include "belay/detail/expiry_envelope.h"

#include "store/envelope.h"
#include "store/envelope_type.h"

namespace belay::detail {
namespace {

constexpr std::int64_t first_index = std::int64_t{1} << 62;

std::string length_bytes(std::size_t size) {
  std::string bytes;
  for (int shift = 0; shift < 32; shift += 8) bytes += static_cast<char>(size >> shift & 0xff);
  return bytes;
}

}  // namespace

std::string expiry_envelope(std::string_view message, std::string_view json) {
  std::string envelope = store::front_of_type(expiry_type);
  envelope += length_bytes(message.size());
  envelope += message;
  envelope += json;
  return envelope;
}

Result<PayloadParts> with_expiry_message(std::string_view envelope) {
  auto parts = store::split_envelope(envelope);
  if (!parts || parts->type != expiry_type) {
    BELAY_TRY(std::string_view json, json_in_envelope(envelope));
    return PayloadParts{{}, json};
  }
  // The data has the form of an envelope, with the message instead of a type.
  auto data = store::split_envelope(parts->data);
  if (data && !data->type.empty()) return PayloadParts{data->type, data->data};
  return error(ErrorCode::corrupt,
               "The payload of an approval is truncated. Restore the store from a backup.");
}

std::int64_t expiry_message_index(const InterruptId& interrupt) {
  std::int64_t index = 0;
  for (std::size_t i = 8; i < 16; ++i) index = (index & 0x3fffffffffffff) << 8 | interrupt.bytes[i];
  return first_index | (index & (first_index - 1));
}

bool is_expiry_message(const OutboxRow& message) { return message.index >= first_index; }

}  // namespace belay::detail
