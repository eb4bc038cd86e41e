// Reads all values of a tenant page by page, to re-encrypt or to inspect them. Pages are read, and
// the new values computed, on the store's reader threads, so that the caller's thread stays free.
//
// A Rewrite applies only if the stored bytes are still those that were read: if another commit
// changes a value meanwhile, the new value is not overwritten; the next pass finds it.

#include <utility>

#include "belay/limits.h"
#include "belay/storage.h"
#include "store/encrypted/envelope_sealer.h"

namespace belay {
namespace {

using encrypted::EnvelopeSealer;
using encrypted::Parts;

constexpr std::size_t kPageRows = limits::bounded(64);
constexpr std::size_t kCommitBytes = 256u << 10;
// Each pass finds the values that were written during the previous one. If all processes use the
// new key ring, the second pass finds none.
constexpr int kPassesMax = 10;

// The part of a page that one commit rewrites.
struct Portion {
  std::vector<Rewrite> rewrites;
  std::uint64_t envelopes = 0;  // among them
  std::vector<BlobRow> blobs;
  std::size_t bytes = 0;
};

struct Page {
  std::uint64_t rows = 0;
  std::uint64_t looked_at = 0;  // envelopes
  std::uint64_t last_place = 0;
  std::vector<Portion> portions;
};

EnvelopeFilter page_after(const TenantId& tenant, std::uint64_t after) {
  EnvelopeFilter filter;
  filter.tenant = tenant;
  filter.after = after;
  filter.limit = kPageRows;
  filter.every_kind = true;
  return filter;
}

store::Subject subject_of(const StoredEnvelope& stored) { return {stored.subject, stored.bound}; }

// Returns the plaintext envelope to which a reference refers.
Result<std::string> followed(Snapshot& view, EnvelopeSealer& sealer, const TenantId& tenant,
                             const StoredEnvelope& stored, const Digest& id) {
  BELAY_TRY(std::vector<BlobRow> blobs, view.blobs(tenant, {id}));
  if (blobs.empty()) {
    return encrypted::corrupt(stored.subject,
                              "names the blob " + to_hex(id) + ", which does not exist");
  }
  return sealer.open_blob(tenant, stored.envelope, blobs.front());
}

// The id of a plaintext blob is a hash of its text, with which guesses could be tested. A plaintext
// reference therefore gets a new blob, and no row refers to the old one any more.
Result<std::string> renamed(Snapshot& view, EnvelopeSealer& sealer, const TenantId& tenant,
                            const StoredEnvelope& stored, std::vector<BlobRow>& blobs) {
  std::string reference = stored.envelope;
  BELAY_TRY(std::optional<Digest> id, sealer.open(tenant, subject_of(stored), reference));
  BELAY_ASSERT(id.has_value());
  BELAY_TRY(std::string envelope, followed(view, sealer, tenant, stored, *id));
  BELAY_CHECK(sealer.seal(tenant, subject_of(stored), envelope, blobs));
  return envelope;
}

// For an effect that has no result yet.
Result<std::optional<std::string>> sealed_nothing(EnvelopeSealer& sealer, const TenantId& tenant,
                                                  const StoredEnvelope& stored) {
  std::string envelope;
  std::vector<BlobRow> no_blobs;
  // Fails if the ring does not accept plaintext: the row might have been inserted.
  BELAY_CHECK(sealer.open(tenant, subject_of(stored), envelope));
  BELAY_CHECK(sealer.seal(tenant, subject_of(stored), envelope, no_blobs));
  return std::optional(std::move(envelope));
}

// Returns the bytes that replace the stored ones; nullopt if these need no change.
Result<std::optional<std::string>> rewritten(Snapshot& view, EnvelopeSealer& sealer,
                                             const TenantId& tenant, const StoredEnvelope& stored,
                                             std::vector<BlobRow>& blobs) {
  using Kept = std::optional<std::string>;
  if (stored.envelope.empty() && stored.bound.empty()) return Kept();
  if (stored.kind != StoredEnvelope::Kind::envelope) {
    return sealer.kept_under_active_key(tenant, stored);
  }
  if (stored.envelope.empty()) return sealed_nothing(sealer, tenant, stored);
  BELAY_TRY(Parts parts, encrypted::parts_of(stored.envelope, stored.subject));
  if (sealer.is_under_active_key(parts)) return Kept();
  if (parts.is_reference && !parts.is_encrypted) {
    BELAY_TRY(std::string envelope, renamed(view, sealer, tenant, stored, blobs));
    return Kept(std::move(envelope));
  }
  BELAY_TRY(std::string envelope,
            sealer.under_active_key(tenant, subject_of(stored), stored.envelope));
  return Kept(std::move(envelope));
}

Result<Page> rewrite_page(Snapshot& view, EnvelopeSealer& sealer, const TenantId& tenant,
                          std::uint64_t after) {
  BELAY_TRY(std::vector<StoredEnvelope> rows, view.envelopes(page_after(tenant, after)));
  Page page;
  page.rows = rows.size();
  for (const StoredEnvelope& stored : rows) {
    bool is_envelope = stored.kind == StoredEnvelope::Kind::envelope;
    page.looked_at += is_envelope;
    page.last_place = stored.position;
    if (page.portions.empty() || page.portions.back().bytes >= kCommitBytes) {
      page.portions.emplace_back();
    }
    Portion& portion = page.portions.back();
    std::optional<Rewrite> rewrite;
    if (stored.kind == StoredEnvelope::Kind::part) {
      BELAY_TRY(rewrite, sealer.part_under_active_key(tenant, stored));
    } else {
      BELAY_TRY(std::optional<std::string> kept,
                rewritten(view, sealer, tenant, stored, portion.blobs));
      if (kept) rewrite = Rewrite{stored.position, store::digest_of(stored), *std::move(kept)};
    }
    if (!rewrite) continue;
    portion.bytes += rewrite->envelope.size();
    portion.envelopes += is_envelope;
    portion.rewrites.push_back(*std::move(rewrite));
  }
  return page;
}

struct Written {
  bool anything = false;
  std::uint64_t envelopes = 0;
};

Task<Result<Written>> write_page(Store& inner, TenantId tenant, Page page) {
  Written written;
  for (Portion& portion : page.portions) {
    if (portion.rewrites.empty()) continue;
    Commit commit;
    commit.tenant = tenant;
    written.anything = true;
    written.envelopes += portion.envelopes;
    commit.rows.rewrites = std::move(portion.rewrites);
    commit.rows.blobs = std::move(portion.blobs);
    auto outcome = co_await inner.commit(std::move(commit));
    if (!outcome.ok()) co_return std::move(outcome).error();
  }
  co_return written;
}

Task<Result<Written>> one_pass(Store& inner, std::shared_ptr<EnvelopeSealer> sealer,
                               TenantId tenant, std::uint64_t& looked_at) {
  Written all;
  std::uint64_t after = 0;
  while (true) {
    std::function<Result<Page>(Snapshot&)> reader = [sealer, tenant, after](Snapshot& view) {
      return rewrite_page(view, *sealer, tenant, after);
    };
    BELAY_CO_TRY(Page page, co_await read<Page>(inner, std::move(reader)));
    if (page.rows == 0) co_return all;
    looked_at += page.looked_at;
    after = page.last_place;
    BELAY_CO_TRY(Written written, co_await write_page(inner, tenant, std::move(page)));
    all.anything = all.anything || written.anything;
    all.envelopes += written.envelopes;
  }
}

// Adds a digest or next tasks to the report.
Result<Done> look_at_kept(EnvelopeSealer& sealer, const TenantId& tenant,
                          const StoredEnvelope& stored, EncryptionReport& report) {
  if (!sealer.encrypts()) return Done{};
  BELAY_TRY(std::optional<std::string> key_id, sealer.key_of_kept(tenant, stored));
  if (!key_id) return Done{};
  ++(key_id->empty() ? report.plaintext_digests : report.keys[*key_id]);
  return Done{};
}

// Adds one envelope to the report.
Result<Done> look_at(Snapshot& view, EnvelopeSealer& sealer, const TenantId& tenant,
                     const StoredEnvelope& stored, EncryptionReport& report) {
  if (stored.kind != StoredEnvelope::Kind::envelope) {
    return look_at_kept(sealer, tenant, stored, report);
  }
  if (stored.envelope.empty()) {
    report.plaintext_digests += sealer.encrypts();
    return Done{};
  }
  BELAY_TRY(Parts parts, encrypted::parts_of(stored.envelope, stored.subject));
  ++report.types[std::string(parts.type)];
  ++report.keys[std::string(parts.key_id)];
  report.plaintext_digests += parts.is_old && !stored.bound.empty();
  std::string envelope = stored.envelope;
  BELAY_TRY(std::optional<Digest> id, sealer.open(tenant, subject_of(stored), envelope));
  if (id) BELAY_CHECK(followed(view, sealer, tenant, stored, *id));
  return Done{};
}

struct LookedAt {
  std::uint64_t last_place = 0;
  std::uint64_t count = 0;
  EncryptionReport report;
};

Result<LookedAt> look_at_page(Snapshot& view, EnvelopeSealer& sealer, const TenantId& tenant,
                              LookedAt so_far) {
  BELAY_TRY(std::vector<StoredEnvelope> rows,
            view.envelopes(page_after(tenant, so_far.last_place)));
  so_far.count = rows.size();
  for (const StoredEnvelope& stored : rows) {
    so_far.last_place = stored.position;
    bool is_part = stored.kind == StoredEnvelope::Kind::part;
    if (stored.envelope.empty() && stored.bound.empty() && !is_part) continue;
    auto looked = look_at(view, sealer, tenant, stored, so_far.report);
    if (looked.ok()) continue;
    if (so_far.report.unreadable++ == 0) so_far.report.first_fault = looked.error().message;
  }
  return so_far;
}

}  // namespace

Task<Result<ReencryptReport>> reencrypt(Store& inner, Random& random, EncryptionOptions encryption,
                                        TenantId tenant) {
  if (encryption.keys.empty()) {
    co_return error(ErrorCode::invalid, "No encryption key is set. Name one.");
  }
  auto sealer = std::make_shared<EnvelopeSealer>(std::move(encryption), random);
  ReencryptReport report;
  while (!report.complete && report.passes < kPassesMax) {
    ++report.passes;
    BELAY_CO_TRY(Written written, co_await one_pass(inner, sealer, tenant, report.looked_at));
    report.rewritten += written.envelopes;
    report.complete = !written.anything;
  }
  co_return report;
}

Task<Result<EncryptionReport>> inspect_encryption(Store& inner, Random& random,
                                                  EncryptionOptions encryption, TenantId tenant) {
  auto sealer = std::make_shared<EnvelopeSealer>(std::move(encryption), random);
  LookedAt so_far;
  while (true) {
    std::function<Result<LookedAt>(Snapshot&)> reader = [sealer, tenant, so_far](Snapshot& view) {
      return look_at_page(view, *sealer, tenant, so_far);
    };
    BELAY_CO_TRY(so_far, co_await read<LookedAt>(inner, std::move(reader)));
    if (so_far.count == 0) co_return std::move(so_far.report);
  }
}

}  // namespace belay
