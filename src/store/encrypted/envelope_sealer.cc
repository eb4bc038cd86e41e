#include "store/encrypted/envelope_sealer.h"

#include <algorithm>
#include <cstring>

#include "store/encrypted/bench.h"

namespace belay::encrypted {
namespace {

std::string_view bytes_of(const Digest& digest) {
  return {reinterpret_cast<const char*>(digest.data()), digest.size()};
}

Error unexpectedly_plain(const store::Subject& subject) {
  return error(
      ErrorCode::corrupt,
      "The stored " + subject.row +
          " is plaintext although a key is configured. If it was stored before a key was set, or "
          "by an older Belay, encrypt the store; otherwise restore it from a backup.");
}

// Parses an envelope before encryption; fails if it is not plaintext.
Result<Parts> plain_parts_of(std::string_view envelope, const store::Subject& subject) {
  auto parts = parts_of(envelope, subject);
  if (parts.ok() && parts->is_plain()) return parts;
  return error(ErrorCode::invalid,
               "The " + subject.row +
                   " to be stored is not a plaintext envelope. Create it with json_envelope().");
}

}  // namespace

EnvelopeSealer::EnvelopeSealer(EncryptionOptions encryption, Random& random)
    : encryption_(std::move(encryption)),
      random_(random),
      may_be_plain_(encryption_.keys.empty() || encryption_.accept_plaintext),
      leaves_small_alone_(encryption_.keys.empty() &&
                          encryption_.compress != EncryptionOptions::Compress::always) {}

EnvelopeSealer::~EnvelopeSealer() = default;

bool EnvelopeSealer::compresses(std::string_view data) const {
  if (data.size() < encryption_.compress_from || data.size() > kFrameBytesMax) return false;
  if (encryption_.compress == EncryptionOptions::Compress::with_key)
    return !encryption_.keys.empty();
  return encryption_.compress == EncryptionOptions::Compress::always;
}

Digest EnvelopeSealer::blob_id(const TenantId& tenant, std::string_view envelope) {
  if (encryption_.keys.empty()) return sha256(envelope);
  Lease bench(*this);
  return (*bench).macs.of(encryption_.keys.keys().active(), KeyUse::blobs, tenant, envelope);
}

Result<Done> EnvelopeSealer::check_authentic(bool is_authentic,
                                             const store::Subject& subject) const {
  if (is_authentic || may_be_plain_) return Done{};
  return unexpectedly_plain(subject);
}

Error EnvelopeSealer::needs_key(const store::Subject& subject, std::string_view key_id,
                                std::string_view why) const {
  std::string key(key_id);
  return error(ErrorCode::invalid, "The stored " + subject.row + " is encrypted with the key \"" +
                                       key + "\", " + std::string(why) + ". Add the line \"" + key +
                                       ":...\" to the keys, below the active one.");
}

Result<std::string> EnvelopeSealer::sealed(Bench& bench, const TenantId& tenant,
                                           const store::Subject& subject, std::string type,
                                           std::string_view data) {
  bool is_bare = type.find('+') == type.npos;
  if (is_bare && compresses(data) && bench.compression.compress(data, bench.scratch)) {
    type += kZstdStep;
    data = bench.scratch;
  }
  if (encryption_.keys.empty()) {
    std::string envelope = envelope_front(type, data.size());
    envelope += data;
    return envelope;
  }
  if (data.size() > kSealedBytesMax) {
    return error(ErrorCode::invalid, "The " + subject.row + " has " + std::to_string(data.size()) +
                                         " bytes; at most " + std::to_string(kSealedBytesMax) +
                                         " can be encrypted.");
  }
  const NamedKey& key = encryption_.keys.keys().active();
  type += kSealStep;
  type += key.id;
  std::string envelope = envelope_front(type, data.size() + kSealedMore);
  bench.cipher.seal(key, Binding{tenant, subject, type}, data, envelope);
  return envelope;
}

Result<Done> EnvelopeSealer::seal(const TenantId& tenant, const store::Subject& subject,
                                  std::string& envelope, std::vector<BlobRow>& blobs) {
  bool is_nothing = envelope.empty() && (subject.bound.empty() || !encrypts());
  if (is_nothing || leaves_as_it_is(envelope)) return Done{};
  if (envelope.empty()) envelope = envelope_front(kRowBase, 0);
  BELAY_TRY(Parts parts, plain_parts_of(envelope, subject));
  if (parts.data.size() <= encryption_.blob_above) {
    if (leaves_small_alone_) return Done{};
    Lease bench(*this);
    BELAY_TRY(envelope, sealed(*bench, tenant, subject, std::string(parts.base), parts.data));
    return Done{};
  }
  std::string type = std::string(parts.base) + std::string(kBlobStep);
  BlobRow blob{blob_id(tenant, envelope), std::move(envelope)};
  Digest id = blob.id;
  auto same = [&](const BlobRow& other) { return other.id == id; };
  if (std::none_of(blobs.begin(), blobs.end(), same)) {
    BELAY_CHECK(seal_blob(tenant, blob));
    blobs.push_back(std::move(blob));
  }
  Lease bench(*this);
  BELAY_TRY(envelope, sealed(*bench, tenant, subject, std::move(type), bytes_of(id)));
  return Done{};
}

Result<Done> EnvelopeSealer::seal_blob(const TenantId& tenant, BlobRow& blob) {
  if (blob.envelope.empty() || leaves_small_alone_) return Done{};
  return seal_here(tenant, store::subject_of_blob(blob.id), blob.envelope);
}

Result<Done> EnvelopeSealer::seal_here(const TenantId& tenant, const store::Subject& subject,
                                       std::string& envelope) {
  BELAY_TRY(Parts parts, plain_parts_of(envelope, subject));
  Lease bench(*this);
  BELAY_TRY(envelope, sealed(*bench, tenant, subject, std::string(parts.type), parts.data));
  return Done{};
}

Result<std::string_view> EnvelopeSealer::decrypted(Bench& bench, const TenantId& tenant,
                                                   const store::Subject& subject,
                                                   const Parts& parts) {
  const NamedKey* key =
      encryption_.keys.empty() ? nullptr : encryption_.keys.keys().find(parts.key_id);
  if (!key) return needs_key(subject, parts.key_id, "which is not in the key ring");
  bench.forget();
  Binding binding{tenant, subject, parts.type};
  Method method = parts.is_old ? Method::aes256gcm : Method::xaes256gcm;
  switch (bench.cipher.open(method, *key, binding, parts.data, bench.scratch)) {
    case Cipher::Opened::well:
      return std::string_view(bench.scratch);
    case Cipher::Opened::other_key:
      return needs_key(subject, parts.key_id, "and the key ring has another key with this id");
    case Cipher::Opened::changed:
      break;
  }
  return corrupt(subject, "cannot be decrypted: its bytes were changed, or belong to another row");
}

Result<std::optional<Digest>> EnvelopeSealer::open(const TenantId& tenant,
                                                   const store::Subject& subject,
                                                   std::string& envelope) {
  if (is_open(envelope)) return std::optional<Digest>();
  if (envelope.empty()) {
    BELAY_CHECK(check_authentic(subject.bound.empty(), subject));
    return std::optional<Digest>();
  }
  BELAY_TRY(Parts parts, parts_of(envelope, subject));
  bool binds_all = parts.is_encrypted && (!parts.is_old || subject.bound.empty());
  BELAY_CHECK(check_authentic(binds_all, subject));
  if (parts.is_plain()) return std::optional<Digest>();
  Lease bench(*this);
  std::string_view data = parts.data;
  if (parts.is_encrypted) {
    BELAY_TRY(data, decrypted(*bench, tenant, subject, parts));
  }
  if (parts.is_reference) {
    Digest id;
    if (data.size() != id.size()) return corrupt(subject, "names no blob");
    std::memcpy(id.data(), data.data(), id.size());
    return std::optional<Digest>(id);
  }
  if (parts.base == kRowBase && data.empty()) {
    envelope.clear();
    return std::optional<Digest>();
  }
  std::string opened = envelope_front(parts.base, parts.is_compressed ? 0 : data.size());
  if (!parts.is_compressed) {
    opened += data;
  } else if (!(*bench).compression.decompress(data, opened)) {
    return corrupt(subject, "does not decompress, or claims to hold more than is allowed");
  }
  envelope = std::move(opened);
  return std::optional<Digest>();
}

Result<std::string> EnvelopeSealer::open_blob(const TenantId& tenant, std::string_view reference,
                                              const BlobRow& blob) {
  store::Subject subject = store::subject_of_blob(blob.id);
  std::string envelope = blob.envelope;
  BELAY_TRY(Parts stored, parts_of(envelope, subject));
  bool is_encrypted = stored.is_encrypted;
  BELAY_TRY(std::optional<Digest> other, open(tenant, subject, envelope));
  BELAY_TRY(Parts parts, parts_of(envelope, subject));
  BELAY_TRY(Parts naming, parts_of(reference, subject));
  if (other || !parts.is_plain() || parts.base != naming.base) {
    return corrupt(subject, "does not match the row that refers to it");
  }
  // The seal of an encrypted blob binds it to its id.
  if (!is_encrypted && sha256(envelope) != blob.id) {
    return corrupt(subject, "does not match its digest");
  }
  return envelope;
}

bool EnvelopeSealer::is_about_keys(std::string_view envelope, const Error& why) const {
  if (envelope.empty()) return !may_be_plain_;
  auto parts = parts_of(envelope, {});
  if (!parts.ok()) return false;
  return parts->is_encrypted ? why.code == ErrorCode::invalid : !may_be_plain_;
}

bool EnvelopeSealer::is_under_active_key(const Parts& parts) const {
  return parts.is_encrypted && !parts.is_old && !encryption_.keys.empty() &&
         parts.key_id == encryption_.keys.keys().active().id;
}

Result<std::string> EnvelopeSealer::under_active_key(const TenantId& tenant,
                                                     const store::Subject& subject,
                                                     std::string_view envelope) {
  BELAY_TRY(Parts parts, parts_of(envelope, subject));
  bool binds_all = parts.is_encrypted && (!parts.is_old || subject.bound.empty());
  BELAY_CHECK(check_authentic(binds_all, subject));
  Lease bench(*this);
  Lease other(*this);  // a second bench: `data` is a view into the first
  std::string_view data = parts.data;
  if (parts.is_encrypted) {
    BELAY_TRY(data, decrypted(*bench, tenant, subject, parts));
  }
  return sealed(*other, tenant, subject, std::string(parts.type_inside()), data);
}

}  // namespace belay::encrypted
