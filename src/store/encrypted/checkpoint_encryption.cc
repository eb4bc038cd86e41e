// Encryption of values that are not envelopes but reveal plaintext: digests, and data of users and
// nodes in next tasks.

#include "store/encrypted/bench.h"
#include "store/encrypted/digest_mask.h"
#include "store/stored_digest.h"

namespace belay::encrypted {
namespace {

bool is_json(std::string_view tasks) { return tasks.starts_with('['); }

}  // namespace

Result<Digest> EnvelopeSealer::unmask(const TenantId& tenant, const store::Subject& subject,
                                      std::string_view bytes) {
  auto parts = masked_parts_of(bytes);
  if (!parts) return corrupt(subject, "is truncated");
  const NamedKey* key = encrypts() ? encryption_.keys.keys().find(parts->key_id) : nullptr;
  if (!key) return needs_key(subject, parts->key_id, "which is not in the key ring");
  BELAY_CHECK(check_authentic(!parts->code.empty(), subject));
  Digest digest{};
  Lease bench(*this);
  switch (encrypted::unmask((*bench).macs, *key, tenant, subject, *parts, digest)) {
    case Unmasked::well:
      return digest;
    case Unmasked::other_key:
      return needs_key(subject, parts->key_id, "and the key ring has another key with this id");
    case Unmasked::changed:
      break;
  }
  return corrupt(subject, "is not what was sealed: it, or its checkpoint, was changed");
}

std::string EnvelopeSealer::masked_now(const TenantId& tenant, const store::Subject& subject,
                                       const Digest& digest) {
  Lease bench(*this);
  return masked((*bench).macs, encryption_.keys.keys().active(), tenant, subject, digest);
}

Result<Done> EnvelopeSealer::seal(const TenantId& tenant, CheckpointRow& checkpoint) {
  if (!encrypts()) return Done{};
  checkpoint.masked_hash =
      masked_now(tenant, store::subject_of_chain(checkpoint), checkpoint.chain_hash);
  checkpoint.chain_hash = Digest{};
  if (!store::holds_content(checkpoint.next_tasks)) return Done{};
  checkpoint.next_tasks = json_envelope(checkpoint.next_tasks);
  return seal_here(tenant, store::subject_of_tasks(checkpoint), checkpoint.next_tasks);
}

Result<Done> EnvelopeSealer::open(const TenantId& tenant, CheckpointRow& checkpoint) {
  if (!checkpoint.masked_hash.empty()) {
    BELAY_TRY(checkpoint.chain_hash,
              unmask(tenant, store::subject_of_chain(checkpoint), checkpoint.masked_hash));
    checkpoint.masked_hash.clear();
  } else if (!may_be_plain_) {
    return check_authentic(false, store::subject_of_chain(checkpoint));
  }
  store::Subject subject = store::subject_of_tasks(checkpoint);
  if (is_json(checkpoint.next_tasks)) {
    return check_authentic(!store::holds_content(checkpoint.next_tasks), subject);
  }
  if (checkpoint.next_tasks.empty()) return Done{};
  BELAY_TRY(std::optional<Digest> blob, open(tenant, subject, checkpoint.next_tasks));
  if (blob) return corrupt(subject, "names a blob");
  BELAY_TRY(std::string_view text, json_in_envelope(checkpoint.next_tasks));
  checkpoint.next_tasks = std::string(text);
  return Done{};
}

Result<std::optional<std::string>> EnvelopeSealer::kept_under_active_key(
    const TenantId& tenant, const StoredEnvelope& stored) {
  using Kept = std::optional<std::string>;
  const store::Subject subject(stored.subject, stored.bound);
  const std::string& bytes = stored.envelope;
  if (stored.kind == StoredEnvelope::Kind::tasks) {
    if (is_json(bytes) && !store::holds_content(bytes)) return Kept();
    std::string envelope = is_json(bytes) ? json_envelope(bytes) : bytes;
    if (is_json(bytes)) {
      BELAY_CHECK(seal_here(tenant, subject, envelope));
      return Kept(std::move(envelope));
    }
    BELAY_TRY(Parts parts, parts_of(bytes, subject));
    if (is_under_active_key(parts)) return Kept();
    BELAY_TRY(envelope, under_active_key(tenant, subject, bytes));
    return Kept(std::move(envelope));
  }
  // The digest of an approval's payload need not be stored: the payload is in the same row.
  if (!store::is_subject_of_chain(subject.row)) return Kept("");
  Digest digest = store::digest_of(bytes);
  if (bytes.size() == digest.size()) {
    BELAY_CHECK(check_authentic(false, subject));
  } else {
    auto parts = masked_parts_of(bytes);
    bool is_active = parts && parts->key_id == encryption_.keys.keys().active().id;
    if (is_active && !parts->code.empty()) return Kept();
    BELAY_TRY(digest, unmask(tenant, subject, bytes));
  }
  return Kept(masked_now(tenant, subject, digest));
}

Result<std::optional<std::string>> EnvelopeSealer::key_of_kept(const TenantId& tenant,
                                                               const StoredEnvelope& stored) {
  using KeyId = std::optional<std::string>;
  const store::Subject subject(stored.subject, stored.bound);
  if (stored.kind == StoredEnvelope::Kind::tasks) {
    if (is_json(stored.envelope))
      return store::holds_content(stored.envelope) ? KeyId("") : KeyId();
    std::string envelope = stored.envelope;
    BELAY_TRY(Parts parts, parts_of(stored.envelope, subject));
    BELAY_CHECK(open(tenant, subject, envelope));
    return KeyId(parts.key_id);
  }
  if (stored.kind == StoredEnvelope::Kind::part) {
    if (stored.envelope.empty()) return KeyId("");
    BELAY_CHECK(texts_in(tenant, subject, stored.envelope));
    BELAY_TRY(Parts parts, parts_of(stored.envelope, subject));
    return KeyId(parts.key_id);
  }
  if (stored.envelope.size() == Digest{}.size()) return KeyId("");
  BELAY_CHECK(unmask(tenant, subject, stored.envelope));
  auto parts = masked_parts_of(stored.envelope);
  return KeyId(parts->code.empty() ? std::string_view() : parts->key_id);
}

}  // namespace belay::encrypted
