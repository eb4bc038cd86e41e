#include "store/sealed/envelope_sealer.h"

#include <algorithm>
#include <cstring>

#include "store/envelope_subject.h"
#include "store/sealed/cipher.h"
#include "store/sealed/compression.h"

namespace belay::sealed {
namespace {

// Benches that wait for their next use: about as many as threads read and write at once.
constexpr std::size_t kIdleMax = 8;
// A bench that has grown beyond this for a large value gives the memory back.
constexpr std::size_t kScratchBytesMax = 1u << 20;

std::string_view bytes_of(const Digest& digest) {
  return {reinterpret_cast<const char*>(digest.data()), digest.size()};
}

Error unexpectedly_plain(std::string_view subject) {
  return error(ErrorCode::corrupt,
               "The stored " + std::string(subject) +
                   " was stored in plain although a key is configured; if it is from before there "
                   "was a key, encrypt the store, else restore it from a backup.");
}

// Of an envelope that is to be sealed.
Result<Parts> plain_parts_of(std::string_view envelope, std::string_view subject) {
  auto parts = parts_of(envelope, subject);
  if (parts.ok() && parts->is_plain()) return parts;
  return error(ErrorCode::invalid, "The " + std::string(subject) +
                                       " that is to be stored is no plain envelope; make it with "
                                       "json_envelope().");
}

}  // namespace

struct EnvelopeSealer::Bench {
  explicit Bench(Random& random) : cipher(random) {}
  ~Bench() { forget(); }
  Bench(const Bench&) = delete;
  Bench& operator=(const Bench&) = delete;

  void forget() {
    overwrite(scratch.data(), scratch.size());
    scratch.clear();
    if (scratch.capacity() > kScratchBytesMax) scratch.shrink_to_fit();
  }

  Compression compression;
  Cipher cipher;
  std::string scratch;  // plain or compressed text on its way
};

class EnvelopeSealer::Lease {
 public:
  explicit Lease(EnvelopeSealer& sealer) : sealer_(sealer) {
    std::lock_guard lock(sealer_.mutex_);
    if (sealer_.idle_.empty()) {
      bench_ = std::make_unique<Bench>(sealer_.random_);
      return;
    }
    bench_ = std::move(sealer_.idle_.back());
    sealer_.idle_.pop_back();
  }
  ~Lease() {
    bench_->forget();
    std::lock_guard lock(sealer_.mutex_);
    if (sealer_.idle_.size() < kIdleMax) sealer_.idle_.push_back(std::move(bench_));
  }
  Lease(const Lease&) = delete;
  Lease& operator=(const Lease&) = delete;

  Bench& operator*() { return *bench_; }

 private:
  EnvelopeSealer& sealer_;
  std::unique_ptr<Bench> bench_;
};

EnvelopeSealer::EnvelopeSealer(Sealing sealing, Random& random)
    : sealing_(std::move(sealing)),
      random_(random),
      may_be_plain_(sealing_.keys.empty() || sealing_.accept_plain),
      leaves_small_alone_(sealing_.keys.empty() && sealing_.compress != Sealing::Compress::always) {
}

EnvelopeSealer::~EnvelopeSealer() = default;

bool EnvelopeSealer::compresses(std::string_view data) const {
  if (data.size() < sealing_.compress_from || data.size() > kFrameBytesMax) return false;
  if (sealing_.compress == Sealing::Compress::with_key) return !sealing_.keys.empty();
  return sealing_.compress == Sealing::Compress::always;
}

Digest EnvelopeSealer::blob_id(const TenantId& tenant, std::string_view envelope) const {
  if (sealing_.keys.empty()) return sha256(envelope);
  return blob_mac(sealing_.keys.keys().active(), tenant, envelope);
}

Error EnvelopeSealer::needs_key(std::string_view subject, std::string_view key_id,
                                std::string_view why) const {
  std::string key(key_id);
  return error(ErrorCode::invalid, "The stored " + std::string(subject) +
                                       " is encrypted with the key \"" + key + "\", " +
                                       std::string(why) + "; put the right line \"" + key +
                                       ":...\" into the keys, below the active one.");
}

Result<std::string> EnvelopeSealer::sealed(Bench& bench, const TenantId& tenant,
                                           std::string_view subject, std::string type,
                                           std::string_view data) {
  bool is_bare = type.find('+') == type.npos;
  if (is_bare && compresses(data) && bench.compression.compress(data, bench.scratch)) {
    type += kZstdStep;
    data = bench.scratch;
  }
  if (sealing_.keys.empty()) {
    std::string envelope = envelope_front(type, data.size());
    envelope += data;
    return envelope;
  }
  if (data.size() > kSealedBytesMax) {
    return error(ErrorCode::invalid, "The " + std::string(subject) + " has " +
                                         std::to_string(data.size()) + " bytes; at most " +
                                         std::to_string(kSealedBytesMax) + " can be encrypted.");
  }
  const NamedKey& key = sealing_.keys.keys().active();
  type += kSealStep;
  type += key.id;
  std::string envelope = envelope_front(type, data.size() + kSealedMore);
  bench.cipher.seal(key, Binding{tenant, subject, type}, data, envelope);
  return envelope;
}

Result<Done> EnvelopeSealer::seal(const TenantId& tenant, std::string_view subject,
                                  std::string& envelope, std::vector<BlobRow>& blobs) {
  if (leaves_as_it_is(envelope)) return Done{};
  BELAY_TRY(Parts parts, plain_parts_of(envelope, subject));
  if (parts.data.size() <= sealing_.blob_above) {
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

Result<Done> EnvelopeSealer::seal_here(const TenantId& tenant, std::string_view subject,
                                       std::string& envelope) {
  BELAY_TRY(Parts parts, plain_parts_of(envelope, subject));
  Lease bench(*this);
  BELAY_TRY(envelope, sealed(*bench, tenant, subject, std::string(parts.type), parts.data));
  return Done{};
}

Result<std::string_view> EnvelopeSealer::decrypted(Bench& bench, const TenantId& tenant,
                                                   std::string_view subject, const Parts& parts) {
  const NamedKey* key = sealing_.keys.empty() ? nullptr : sealing_.keys.keys().find(parts.key_id);
  if (!key) return needs_key(subject, parts.key_id, "which was not given");
  bench.forget();
  Binding binding{tenant, subject, parts.type};
  switch (bench.cipher.open(*key, binding, parts.data, bench.scratch)) {
    case Cipher::Opened::well:
      return std::string_view(bench.scratch);
    case Cipher::Opened::other_key:
      return needs_key(subject, parts.key_id,
                       "and the one that was given under that id is another");
    case Cipher::Opened::changed:
      break;
  }
  return corrupt(subject, "does not open: its bytes were changed, or are another row's");
}

Result<std::optional<Digest>> EnvelopeSealer::open(const TenantId& tenant, std::string_view subject,
                                                   std::string& envelope) {
  if (is_open(envelope)) return std::optional<Digest>();
  BELAY_TRY(Parts parts, parts_of(envelope, subject));
  if (!parts.is_encrypted && !may_be_plain_) {
    return unexpectedly_plain(subject);
  }
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
  std::string subject = store::subject_of_blob(blob.id);
  std::string envelope = blob.envelope;
  BELAY_TRY(Parts stored, parts_of(envelope, subject));
  bool is_encrypted = stored.is_encrypted;
  BELAY_TRY(std::optional<Digest> other, open(tenant, subject, envelope));
  BELAY_TRY(Parts parts, parts_of(envelope, subject));
  BELAY_TRY(Parts naming, parts_of(reference, subject));
  if (other || !parts.is_plain() || parts.base != naming.base) {
    return corrupt(subject, "is not what the row that names it says");
  }
  // An encrypted one is bound to its id by the key.
  if (!is_encrypted && sha256(envelope) != blob.id) {
    return corrupt(subject, "is not what its name says");
  }
  return envelope;
}

bool EnvelopeSealer::is_about_keys(std::string_view envelope, const Error& why) const {
  auto parts = parts_of(envelope, {});
  if (!parts.ok()) return false;
  return parts->is_encrypted ? why.code == ErrorCode::invalid : !may_be_plain_;
}

bool EnvelopeSealer::is_under_active_key(const Parts& parts) const {
  return parts.is_encrypted && !sealing_.keys.empty() &&
         parts.key_id == sealing_.keys.keys().active().id;
}

Result<std::string> EnvelopeSealer::under_active_key(const TenantId& tenant,
                                                     std::string_view subject,
                                                     std::string_view envelope) {
  BELAY_TRY(Parts parts, parts_of(envelope, subject));
  if (!parts.is_encrypted && !may_be_plain_) return unexpectedly_plain(subject);
  Lease bench(*this);
  Lease other(*this);  // what the first has decrypted must not be written over
  std::string_view data = parts.data;
  std::string_view type = parts.type;
  if (parts.is_encrypted) {
    BELAY_TRY(data, decrypted(*bench, tenant, subject, parts));
    type = type.substr(0, type.size() - kSealStep.size() - parts.key_id.size());
  }
  return sealed(*other, tenant, subject, std::string(type), data);
}

}  // namespace belay::sealed
