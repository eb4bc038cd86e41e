#include "redis/message_encryption.h"

#include <limits>

#include "store/encrypted/envelope_encryption.h"

namespace belay::redis {
namespace {

EncryptionOptions sealing_of(KeyRing keys) {
  EncryptionOptions sealing;
  sealing.keys = std::move(keys);
  sealing.compress = EncryptionOptions::Compress::with_key;
  sealing.blob_above = std::numeric_limits<std::size_t>::max();  // there is no place for blobs
  return sealing;
}

}  // namespace

TextSeal::TextSeal(KeyRing keys, Random& random)
    : sealer_(std::make_unique<sealed::EnvelopeSealer>(sealing_of(std::move(keys)), random)) {}
TextSeal::~TextSeal() = default;

bool TextSeal::encrypts() const { return sealer_->encrypts(); }

std::optional<std::string> TextSeal::seal(std::string_view subject, std::string_view text) const {
  std::string envelope = json_envelope(text);
  std::vector<BlobRow> blobs;
  auto sealed = sealer_->seal(default_tenant(), subject, envelope, blobs);
  if (!sealed.ok() || !blobs.empty()) return std::nullopt;
  return envelope;
}

std::optional<std::string> TextSeal::open(std::string_view subject, std::string_view bytes) const {
  std::string envelope(bytes);
  auto opened = sealer_->open(default_tenant(), subject, envelope);
  if (!opened.ok() || *opened) return std::nullopt;
  auto text = json_in_envelope(envelope);
  if (!text.ok()) return std::nullopt;
  return std::string(*text);
}

}  // namespace belay::redis
