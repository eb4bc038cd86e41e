#pragma once
// store/encrypted/envelope_sealer.h - seals envelopes on their way into a store, and opens them on
// their way out. Any thread, many at once.
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

  // Whether opening it would change nothing, so that its subject need not be made.
  bool is_open(std::string_view envelope) const {
    return may_be_plain_ && (envelope.empty() || is_plain_json(envelope));
  }

  // The same of encryption.
  bool leaves_as_it_is(std::string_view envelope) const {
    return leaves_small_alone_ && envelope.size() <= encryption_.blob_above;
  }

  // Seals a plain envelope, in its place. A large one goes into `blobs`, and a reference stays.
  // `invalid` for bytes that are no plain envelope.
  Result<Done> seal(const TenantId& tenant, const store::Subject& subject, std::string& envelope,
                    std::vector<BlobRow>& blobs);
  // The same for a blob: it is never a reference.
  Result<Done> seal_blob(const TenantId& tenant, BlobRow& blob);

  // Opens an envelope, in its place. Of a reference, which is left as it was, the blob's id.
  Result<std::optional<Digest>> open(const TenantId& tenant, const store::Subject& subject,
                                     std::string& envelope);
  // What `reference` stands for: the blob's envelope, opened, and known to be what was named.
  Result<std::string> open_blob(const TenantId& tenant, std::string_view reference,
                                const BlobRow& blob);

  // Whether opening it failed with `why` for want of the right keys, rather than for its bytes.
  bool is_about_keys(std::string_view envelope, const Error& why) const;

  // part_seal.cc. With a key: moves the part's texts into its seal, bound to the rest of the row.
  Result<Done> seal(const TenantId& tenant, const store::RowPart& part);
  // Reverses seal(); `corrupt` if the row was changed, or lacks a seal although there is a key.
  Result<Done> open(const TenantId& tenant, const store::RowPart& part);
  // Returns all texts that a seal contains.
  Result<std::vector<std::string>> texts_in(const TenantId& tenant, const store::Subject& subject,
                                            std::string_view seal);
  // Returns the part under the active key; nothing if it is already under it.
  Result<std::optional<Rewrite>> part_under_active_key(const TenantId& tenant,
                                                       const StoredEnvelope& stored);
  // Returns the value by which an indexed field is searched: itself, or with a key a code of it.
  std::string index_value(const TenantId& tenant, const store::RecordField& field);
  // Returns all values under which it might be stored.
  std::vector<std::string> index_values(const TenantId& tenant, const store::RecordField& field);

  // True if a part of a row without a seal is rejected.
  bool needs_seals() const { return !may_be_plain_; }

  // Whether there is a key, so that no digest of plain text is kept either.
  bool encrypts() const { return !encryption_.keys.empty(); }

  // With a key: masks the chain hash, and seals next tasks that hold what people or nodes wrote.
  Result<Done> seal(const TenantId& tenant, CheckpointRow& checkpoint);
  // Reverses seal(). A checkpoint stored by an older Belay is rejected like plaintext.
  Result<Done> open(const TenantId& tenant, CheckpointRow& checkpoint);
  // A stored digest, or next tasks, as they are to be kept under the active key; nothing where they
  // are so already.
  Result<std::optional<std::string>> kept_under_active_key(const TenantId& tenant,
                                                           const StoredEnvelope& stored);
  // The id of the key that it opens with, empty for none; nothing if there is nothing to hide in
  // it.
  Result<std::optional<std::string>> key_of_kept(const TenantId& tenant,
                                                 const StoredEnvelope& stored);
  // The digest that `bytes` are; `subject` is named.
  Result<Digest> unmask(const TenantId& tenant, const store::Subject& subject,
                        std::string_view bytes);

  // Whether it is sealed with the active key.
  bool is_under_active_key(const Parts& parts) const;
  // The same under the active key. What was not compressed and can be is, and nothing else changes.
  Result<std::string> under_active_key(const TenantId& tenant, const store::Subject& subject,
                                       std::string_view envelope);

 private:
  // What one thread works with at a time: it is handed on to the next.
  struct Bench;
  class Lease;

  bool compresses(std::string_view data) const;
  // Seals a plain envelope, whatever its size, in its place.
  Result<Done> seal_here(const TenantId& tenant, const store::Subject& subject,
                         std::string& envelope);
  // `data`, to which `type` has been done, compressed and encrypted as `encryption_` wants it.
  Result<std::string> sealed(Bench& bench, const TenantId& tenant, const store::Subject& subject,
                             std::string type, std::string_view data);
  // What was encrypted: into the bench, where the view stays good until its next use.
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
