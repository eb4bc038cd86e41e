#pragma once
// belay/storage.h - what is done to what a store keeps: values are compressed, encrypted and, when
// large, stored once, on their way into any store and back; threads that have ended are forgotten.
//
// make_encrypted_store() wraps a Store: the program reads and writes plaintext, the stored values
// are encrypted. With a key, all text of people, models and nodes is encrypted, and no row can be
// changed without the key. docs/storage.md has the formats, byte for byte, and lists which parts
// stay readable (ids, names, statuses, times) and that removal of rows is not detected.
//
// Keys: 32 bytes each, with an id. The first of a ring seals whatever is written from now on; the
// others open what was written before. Each tenant's key is derived from it (HKDF-SHA-256), so an
// envelope of one tenant does not open as another's. An envelope is bound to its row: moved to
// another one it does not open.
//
// What reading answers:
//   corrupt  bytes or rows that were changed, truncated or moved, or are plaintext under a key
//   invalid  the key that an envelope names is not in the ring, or is another one of that name
// Nothing that fails to open is ever handed on.
//
// Nonces are 192 random bits: the number of values under one key is not limited. If keys are real,
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

// Keys by id. A value: copies share the keys, whose memory is overwritten with the last of them.
class KeyRing {
 public:
  KeyRing() = default;  // no key: nothing is encrypted

  // One key a line, "id:key", the key as 64 hexadecimal digits or 44 characters of base64; the
  // first is the active one. Empty lines, and those that begin with '#', do not count. An id has
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
  // Values of at least `compress_from` bytes are compressed (zstd, level 1) when that saves a
  // tenth. `always` keeps a long thread below 1.2 times its own bytes; `with_key` and `never` leave
  // a store without a key readable with SQL. docs/storage.md has the figures. What was compressed
  // can be read whatever stands here.
  enum class Compress { always, with_key, never };
  Compress compress = Compress::always;
  std::size_t compress_from = 256;
  // Values of more bytes than this are stored once, however many rows hold them.
  std::size_t blob_above = 64u << 10;
};

// The store `inner`, seen through `encryption`. Both `inner` and `random` outlive it; several may
// be on one store. Snapshot::envelopes() and Commit's rewrites pass as they are: they are about
// what is stored.
std::unique_ptr<Store> make_encrypted_store(Store& inner, Random& random,
                                            EncryptionOptions encryption);

struct ReencryptReport {
  std::uint64_t looked_at = 0;  // envelopes, in all passes
  std::uint64_t rewritten = 0;  // handed to the store
  int passes = 0;
  // The last pass found nothing left to do: every envelope is under the active key, and each other
  // key can be taken out of the ring. False: others still write with an old ring; call it again.
  bool complete = false;
};

// Brings everything that a tenant has stored under the active key: what is under another key of
// `encryption`, and with accept_plain what is in plain. `invalid` without a key, `corrupt` at the
// first value in plain that is not accepted: what somebody slipped into the file must not become
// genuine.
//
// `inner` is the store itself, not one that make_encrypted_store() gave. Others may write
// meanwhile: an envelope that has changed since it was read is left to the next pass. May be
// stopped anywhere (destroy the task, end the process) and begun again: what is done is skipped.
// Works in small commits, so that others hardly wait. Fails with what reading fails with; what was
// done stays.
Task<Result<ReencryptReport>> reencrypt(Store& inner, Random& random, EncryptionOptions encryption,
                                        TenantId tenant);

struct EncryptionReport {
  std::map<std::string, std::uint64_t> types;  // envelopes by their type
  std::map<std::string, std::uint64_t> keys;   // and digests by key id; those in plain under ""
  // With a key: rows, digests and envelopes without a seal over their content. They are rejected
  // until reencrypt() has processed them with accept_plain.
  std::uint64_t plaintext_digests = 0;
  std::uint64_t unreadable = 0;
  std::string first_fault;  // why the first of them can't be read
};

// Opens every envelope of a tenant, and says what there is. `inner` as for reencrypt().
Task<Result<EncryptionReport>> inspect_encryption(Store& inner, Random& random,
                                                  EncryptionOptions encryption, TenantId tenant);

struct BlobReport {
  std::uint64_t blobs = 0;    // that there were
  std::uint64_t deleted = 0;  // of them
};

// Forgets the large values that nothing names any more, since their threads are forgotten or have
// been re-encrypted. `inner` as for reencrypt(). Others may write meanwhile: what they name again
// stays. Fails with `corrupt` or `invalid`, and forgets nothing, where what is stored can't be
// read.
Task<Result<BlobReport>> delete_unused_blobs(Store& inner, Random& random,
                                             EncryptionOptions encryption, TenantId tenant);

// How long threads are kept once they have ended.
//
// A thread has ended when none of its runs goes on or waits; what waits for a person, a timer or a
// session is kept for as long as it waits. A thread that is preserved (CommitRows::preserve) is
// kept, and so is one with messages that are still to be delivered. What an agent has saved as
// records is the agent's, and stays.
struct RetentionPolicy {
  std::chrono::hours keep_finished{24 * 30};  // since a thread's last commit
  bool dry_run = false;                       // only say what would be forgotten
};

struct RetentionReport {
  std::uint64_t threads = 0;    // forgotten
  std::uint64_t runs = 0;       // forgotten
  std::uint64_t preserved = 0;  // threads that would be forgotten, were they not preserved
};

// Forgets what the policy does not keep, in commits of some 1,000 rows each. Stopped half-way, it
// has forgotten some runs whole and of one perhaps its oldest commits; calling it again goes on.
// `store` outlives the task.
Task<Result<RetentionReport>> apply_retention(Store& store, TenantId tenant, RetentionPolicy policy,
                                              Instant now);

}  // namespace belay
