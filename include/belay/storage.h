#pragma once
// belay/storage.h - compression, encryption, blobs and retention, for any store.
//
// make_encrypted_store() wraps a Store: the program reads and writes plaintext, the stored values
// are encrypted. With a key, all text of users, models and nodes is encrypted, and no row can be
// changed without the key. docs/storage.md has the formats, byte for byte, and lists which parts
// stay readable (ids, names, statuses, times) and that removal of rows is not detected.
//
// Keys: 32 bytes each, with an id. The first key of a ring, the active key, encrypts all values
// that are written; the others decrypt older values. Each tenant's key is derived from it
// (HKDF-SHA-256): an envelope of one tenant cannot be decrypted as another's. An envelope is bound
// to its row: in another row it cannot be decrypted.
//
// Errors of reads:
//   corrupt  bytes or rows were changed, truncated or moved, or are plaintext although a key is set
//   invalid  the key of an envelope is not in the ring, or the ring has another key of that id
// A value that fails authentication is never returned.
//
// Nonces are 192 random bits: the number of values under one key is not limited. With real keys,
// the Random must be the system's: two values under the same nonce reveal both.

#include <array>
#include <cstdint>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include "belay/store.h"

namespace belay {

namespace encrypted {
class Keys;
}

// Keys by id. Copies share the keys; their memory is overwritten when the last copy is destroyed.
class KeyRing {
 public:
  KeyRing() = default;  // no key: nothing is encrypted

  // Reads one key per line, "id:key", the key as 64 hexadecimal digits or 44 characters of base64;
  // the first is the active key. Empty lines, and lines that begin with '#', are ignored. An id has
  // 1 to 32 letters, digits, '.', '_' or '-'. `invalid` names the line and never shows a key. The
  // text is overwritten.
  static Result<KeyRing> from_text(std::string text);

  bool empty() const { return !keys_; }
  std::vector<std::string> ids() const;  // the active one first

  // For src/store/encrypted. REQUIRES: !empty().
  const encrypted::Keys& keys() const { return *keys_; }

 private:
  std::shared_ptr<const encrypted::Keys> keys_;
};

struct EncryptionOptions {
  KeyRing keys;
  // With a key: plaintext values and rows without a seal are accepted too. Only for encrypting a
  // store that was written without a key or by an older Belay: as long as it is set, any process
  // that can write to the file can insert anything. For the same reason it is an option of the
  // reader and is not recorded in the store.
  bool accept_plaintext = false;
  // Values of at least `compress_from` bytes are compressed (zstd, level 1) if that saves a tenth.
  // `always` keeps a long thread below 1.2 times its own bytes; with `with_key` and `never`, a
  // store without a key stays readable with SQL. docs/storage.md has the figures. Compressed values
  // can be read with each of these settings.
  enum class Compress { always, with_key, never };
  Compress compress = Compress::always;
  std::size_t compress_from = 256;
  // Values with more bytes than this are stored once, as a blob that any number of rows refer to.
  std::size_t blob_above = 64u << 10;
};

// Wraps the store `inner`. `inner` and `random` must outlive it; one store can have several such
// wrappers. Snapshot::envelopes() and CommitRows::rewrites are passed through unchanged: they
// concern the stored form.
std::unique_ptr<Store> make_encrypted_store(Store& inner, Random& random,
                                            EncryptionOptions encryption);

struct ReencryptReport {
  std::uint64_t looked_at = 0;  // envelopes read, in all passes
  std::uint64_t rewritten = 0;  // envelopes written
  int passes = 0;
  // The last pass had nothing to rewrite: every envelope is under the active key, and the other
  // keys can be removed from the ring. False: other processes still write with an old ring; call
  // reencrypt() again.
  bool complete = false;
};

// Re-encrypts all stored values of a tenant under the active key: those under another key of
// `encryption` and, with accept_plaintext, plaintext. `invalid` without a key; `corrupt` at the
// first plaintext value that is not accepted, because a value inserted into the file without a key
// must not become valid.
//
// `inner` must be the store itself, not the result of make_encrypted_store(). Other processes can
// write meanwhile: an envelope that changed since it was read is left to the next pass. Can be
// stopped at any point (destroy the coroutine, end the process) and started again: it skips
// finished values. Commits are small, so that other writers wait only briefly. Fails with the
// errors of reads; finished commits stay.
Task<Result<ReencryptReport>> reencrypt(Store& inner, Random& random, EncryptionOptions encryption,
                                        TenantId tenant);

struct EncryptionReport {
  std::map<std::string, std::uint64_t> types;  // envelopes by their type
  std::map<std::string, std::uint64_t> keys;   // envelopes and digests by key id; plaintext: ""
  // With a key: rows, digests and envelopes without a seal over their content. They are rejected
  // until reencrypt() has processed them with accept_plaintext.
  std::uint64_t plaintext_digests = 0;
  std::uint64_t unreadable = 0;
  std::string first_fault;  // why the first of them could not be read
};

// Decrypts every envelope of a tenant and reports types, keys and faults. `inner` as for
// reencrypt().
Task<Result<EncryptionReport>> inspect_encryption(Store& inner, Random& random,
                                                  EncryptionOptions encryption, TenantId tenant);

struct BlobReport {
  std::uint64_t blobs = 0;    // before the deletion
  std::uint64_t deleted = 0;  // of these
};

// Deletes the blobs that no row refers to any more, because their threads were deleted or
// re-encrypted. `inner` as for reencrypt(). Other processes can write meanwhile: a blob to which
// they refer again is not deleted. Fails with `corrupt` or `invalid`, and deletes nothing, if a
// stored value cannot be read.
Task<Result<BlobReport>> delete_unused_blobs(Store& inner, Random& random,
                                             EncryptionOptions encryption, TenantId tenant);

// Defines how long ended threads are kept.
//
// A thread has ended if all of its runs have ended; a thread with a queued, running, paused or
// quarantined run is kept. So are preserved threads (CommitRows::preserve) and threads with
// waiting messages. A thread whose expires_at has passed is deleted as soon as its runs have ended.
// Records belong to the agent: only those that have expired are deleted.
struct RetentionPolicy {
  std::chrono::hours keep_finished{24 * 30};  // since a thread's last commit
  bool dry_run = false;                       // report only, delete nothing
};

struct RetentionReport {
  std::uint64_t threads = 0;    // deleted
  std::uint64_t runs = 0;       // deleted
  std::uint64_t preserved = 0;  // threads that were kept only because they are preserved
  std::uint64_t records = 0;    // expired records, deleted
};

// Deletes the threads that the policy does not keep, and expired records, in commits of about 1,000
// rows. If it is stopped, some runs are deleted, and one run might have lost only its oldest
// commits; the next call continues. `store` must outlive the coroutine.
Task<Result<RetentionReport>> apply_retention(Store& store, TenantId tenant, RetentionPolicy policy,
                                              Instant now);

struct ThreadDeletion {
  std::uint64_t runs = 0;  // deleted
};
// The runs of a thread that a deletion keeps.
enum class KeptRuns {
  none,
  newest,  // the newest one that has started: the thread keeps its state
};

// Deletes a thread: all of its runs with their commits, values, events, approvals, effects and
// messages, and its own state. Records that its runs have saved remain; large values of an
// encrypted store remain until delete_unused_blobs(). The thread's name and its idempotency keys
// are free again.
//
// Fails with `not_found` for an unknown thread, and with `conflict` if one of its runs has not
// ended, one of its messages waits for delivery, or it is preserved: nothing is deleted then.
// Commits and interruption as for apply_retention(), oldest runs first; a run that is started
// meanwhile remains, with `conflict`. `store` must outlive the coroutine.
//
// With KeptRuns::newest, the thread and its newest run remain, with all commits of that run.
Task<Result<ThreadDeletion>> delete_thread(Store& store, TenantId tenant, ThreadId thread,
                                           KeptRuns kept = KeptRuns::none);

}  // namespace belay
