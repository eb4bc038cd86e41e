#include "redis/message_encryption.h"

#include <limits>

#include "store/encrypted/envelope_sealer.h"

namespace belay::redis {
namespace {

EncryptionOptions encryption_of(KeyRing keys) {
  EncryptionOptions encryption;
  encryption.keys = std::move(keys);
  encryption.compress = EncryptionOptions::Compress::with_key;
  encryption.blob_above = std::numeric_limits<std::size_t>::max();  // never a reference to a blob
  return encryption;
}

}  // namespace

MessageEncryption::MessageEncryption(KeyRing keys, Random& random)
    : sealer_(std::make_unique<encrypted::EnvelopeSealer>(encryption_of(std::move(keys)), random)) {
}
MessageEncryption::~MessageEncryption() = default;

bool MessageEncryption::encrypts() const { return sealer_->encrypts(); }

std::optional<std::string> MessageEncryption::seal(std::string_view subject,
                                                   std::string_view text) const {
  std::string envelope = json_envelope(text);
  std::vector<BlobRow> blobs;
  auto sealed = sealer_->seal(default_tenant(), subject, envelope, blobs);
  if (!sealed.ok() || !blobs.empty()) return std::nullopt;
  return envelope;
}

std::optional<std::string> MessageEncryption::open(std::string_view subject,
                                                   std::string_view bytes) const {
  std::string envelope(bytes);
  auto opened = sealer_->open(default_tenant(), subject, envelope);
  if (!opened.ok() || *opened) return std::nullopt;
  auto text = json_in_envelope(envelope);
  if (!text.ok()) return std::nullopt;
  return std::string(*text);
}

}  // namespace belay::redis
