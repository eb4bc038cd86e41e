#pragma once
// store/encrypted/envelope_sealer.h - encrypts envelopes for a store, and decrypts stored ones.
//
// Threading: any method, from any thread, concurrently.
//
// Zero bytes are not an envelope and stay unchanged in both directions: an erased record. A reader
// that requires an envelope rejects them itself. But if a status or a similar value is bound to
// them, as in an effect without a result yet, a key seals even zero bytes.

#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "belay/storage.h"
#include "store/encrypted/envelope_parts.h"
#include "store/row_part.h"

namespace belay::encrypted {

class EnvelopeSealer {
 public:
  EnvelopeSealer(EncryptionOptions encryption, Random& random);
  ~EnvelopeSealer();

  // True if open() would not change the envelope, so that the caller need not compute its subject.
  bool is_open(std::string_view envelope) const {
    return may_be_plain_ && (envelope.empty() || is_plain_json(envelope));
  }

  // True if seal() would not change the envelope.
  bool leaves_as_it_is(std::string_view envelope) const {
    return leaves_small_alone_ && envelope.size() <= encryption_.blob_above;
  }

  // Encrypts a plaintext envelope in place. Adds a large one to `blobs` and replaces it by a
  // reference. Fails with `invalid` for bytes that are not a plaintext envelope.
  Result<Done> seal(const TenantId& tenant, const store::Subject& subject, std::string& envelope,
                    std::vector<BlobRow>& blobs);
  // The same for a blob: it is never a reference.
  Result<Done> seal_blob(const TenantId& tenant, BlobRow& blob);

  // Decrypts an envelope in place. Returns the blob's id for a reference, which is not changed.
  Result<std::optional<Digest>> open(const TenantId& tenant, const store::Subject& subject,
                                     std::string& envelope);
  // Returns the decrypted envelope of the blob of `reference`, after a check that it is this blob.
  Result<std::string> open_blob(const TenantId& tenant, std::string_view reference,
                                const BlobRow& blob);

  // Whether opening failed with `why` because of missing keys, not because of the bytes.
  bool is_about_keys(std::string_view envelope, const Error& why) const;

  // In part_encryption.cc. With a key: moves the part's texts into its seal, bound to the other
  // values of the row.
  Result<Done> seal(const TenantId& tenant, const store::RowPart& part);
  // Reverses seal(); `corrupt` if the row was changed, or lacks a seal although there is a key.
  Result<Done> open(const TenantId& tenant, const store::RowPart& part);
  // Returns all texts that a seal contains.
  Result<std::vector<std::string>> texts_in(const TenantId& tenant, const store::Subject& subject,
                                            std::string_view seal);
  // Returns the part re-encrypted under the active key; nullopt if it already is.
  Result<std::optional<Rewrite>> part_under_active_key(const TenantId& tenant,
                                                       const StoredEnvelope& stored);
  // Returns the value by which an indexed field is searched: itself, or with a key a code of it.
  std::string index_value(const TenantId& tenant, const store::RecordField& field);
  // Returns all values under which it might be stored.
  std::vector<std::string> index_values(const TenantId& tenant, const store::RecordField& field);

  // True if a part of a row without a seal is rejected.
  bool needs_seals() const { return !may_be_plain_; }

  // Whether there is a key; then no digest of plaintext is stored either.
  bool encrypts() const { return !encryption_.keys.empty(); }

  // With a key: masks the chain hash, and encrypts next tasks that contain data of users or nodes.
  Result<Done> seal(const TenantId& tenant, CheckpointRow& checkpoint);
  // Reverses seal(). A checkpoint stored by an older Belay is rejected like plaintext.
  Result<Done> open(const TenantId& tenant, CheckpointRow& checkpoint);
  // Returns a stored digest, or next tasks, in the form for the active key; nullopt if they already
  // have it.
  Result<std::optional<std::string>> kept_under_active_key(const TenantId& tenant,
                                                           const StoredEnvelope& stored);
  // Returns the id of the key by which a stored digest, or next tasks, are encrypted; empty without
  // one; nullopt if they contain nothing to encrypt.
  Result<std::optional<std::string>> key_of_kept(const TenantId& tenant,
                                                 const StoredEnvelope& stored);
  // Returns the digest that `bytes` contain. The message of an Error contains `subject`.
  Result<Digest> unmask(const TenantId& tenant, const store::Subject& subject,
                        std::string_view bytes);

  // Whether the envelope is encrypted with the active key.
  bool is_under_active_key(const Parts& parts) const;
  // Returns the envelope encrypted under the active key, and compressed if it was not.
  Result<std::string> under_active_key(const TenantId& tenant, const store::Subject& subject,
                                       std::string_view envelope);

 private:
  // The working memory of one call; the next call reuses it.
  struct Bench;
  class Lease;

  bool compresses(std::string_view data) const;
  // Encrypts a plaintext envelope of any size in place.
  Result<Done> seal_here(const TenantId& tenant, const store::Subject& subject,
                         std::string& envelope);
  // Returns an envelope of `data`, which already has the steps of `type`, compressed and encrypted
  // as `encryption_` requires.
  Result<std::string> sealed(Bench& bench, const TenantId& tenant, const store::Subject& subject,
                             std::string type, std::string_view data);
  // Decrypts into the bench; the view is valid until the bench is used again.
  Result<std::string_view> decrypted(Bench& bench, const TenantId& tenant,
                                     const store::Subject& subject, const Parts& parts);
  Digest blob_id(const TenantId& tenant, std::string_view envelope);
  // Returns a chain hash as it is stored under the active key.
  std::string masked_now(const TenantId& tenant, const store::Subject& subject,
                         const Digest& digest);
  // Fails if the bytes are not authenticated and unauthenticated bytes are not accepted.
  Result<Done> check_authentic(bool is_authentic, const store::Subject& subject) const;
  Error needs_key(const store::Subject& subject, std::string_view key_id,
                  std::string_view why) const;

  const EncryptionOptions encryption_;
  Random& random_;
  const bool may_be_plain_;
  const bool leaves_small_alone_;

  std::mutex mutex_;
  std::vector<std::unique_ptr<Bench>> idle_;  // protected by mutex_
};

}  // namespace belay::encrypted
