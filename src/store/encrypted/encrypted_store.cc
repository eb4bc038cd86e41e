#include <utility>

#include "belay/storage.h"
#include "store/commit_check.h"
#include "store/encrypted/encrypted_snapshot.h"
#include "store/encrypted/envelope_sealer.h"
#include "store/envelope_subject.h"
#include "store/forwarding_store.h"

namespace belay {
namespace {

using encrypted::EnvelopeSealer;

// Encrypts on the thread of the caller, so that the writer's thread does not wait for it.
class EncryptedStore final : public ForwardingStore {
 public:
  EncryptedStore(Store& inner, Random& random, EncryptionOptions encryption)
      : ForwardingStore(inner),
        sealer_(std::make_shared<EnvelopeSealer>(std::move(encryption), random)) {}

  // Not a coroutine, to avoid a frame for each commit.
  Task<Result<CommitOutcome>> commit(Commit commit) override {
    // Checked first, because a sealed text can no longer be checked.
    auto sealed = sealer_->encrypts() ? store::check_commit(commit) : Done{};
    if (sealed.ok()) sealed = seal(commit);
    if (!sealed.ok()) return refused(std::move(sealed).error());
    if (commit.approval_guard && sealer_->encrypts()) {
      return commit_guarded(inner(), sealer_, std::move(commit));
    }
    return inner().commit(std::move(commit));
  }

  // Returns damaged rows too: the worker that claims one reads it alone and gets the error.
  Task<Result<std::vector<RunRow>>> poll_runs(PollFilter filter) override {
    return opened_offers(inner().poll_runs(std::move(filter)), sealer_);
  }

  Task<Result<Done>> read(Reader reader) override {
    return inner().read([sealer = sealer_, reader = std::move(reader)](Snapshot& view) {
      encrypted::EncryptedSnapshot opened(view, *sealer);
      return reader(opened);
    });
  }

 private:
  static Task<Result<CommitOutcome>> refused(Error failed) { co_return failed; }

  static Task<Result<std::vector<RunRow>>> opened_offers(Task<Result<std::vector<RunRow>>> claiming,
                                                         std::shared_ptr<EnvelopeSealer> sealer) {
    BELAY_CO_TRY(std::vector<RunRow> rows, co_await std::move(claiming));
    for (RunRow& row : rows) encrypted::open_offer(*sealer, row);
    co_return std::move(rows);
  }

  // The inner store has no digest of an approval's payload, or has that of an older Belay; the
  // guard must contain exactly this stored value. The payload never changes. Re-encryption removes
  // an old digest, once.
  static Task<Result<CommitOutcome>> commit_guarded(Store& inner,
                                                    std::shared_ptr<EnvelopeSealer> sealer,
                                                    Commit commit) {
    std::optional<Digest> quoted;
    while (true) {
      std::function<Result<Digest>(Snapshot&)> reader =
          [sealer, tenant = commit.tenant, guard = *commit.approval_guard](Snapshot& view) {
            return quote(view, *sealer, tenant, guard);
          };
      BELAY_CO_TRY(Digest kept, co_await belay::read<Digest>(inner, std::move(reader)));
      if (quoted == kept) co_return CommitOutcome::approval_closed;
      quoted = kept;
      Commit attempt = commit;
      attempt.approval_guard->payload_hash = kept;
      BELAY_CO_TRY(CommitOutcome outcome, co_await inner.commit(std::move(attempt)));
      if (outcome != CommitOutcome::approval_closed) co_return outcome;
    }
  }

  // Returns the stored value of the payload's digest if the payload is the one that the guard
  // requires; otherwise a value that does not match it.
  static Result<Digest> quote(Snapshot& view, EnvelopeSealer& sealer, const TenantId& tenant,
                              const ApprovalGuard& guard) {
    ApprovalFilter filter;
    filter.tenant = tenant;
    filter.interrupt = guard.interrupt;
    BELAY_TRY(std::vector<ApprovalRow> stored, view.approvals(filter));
    if (stored.empty()) return guard.payload_hash;
    Digest kept = stored.front().payload_hash;
    Digest shown = kept;
    // A commit must not rely on an approval if it is damaged or was changed without the key.
    BELAY_TRY(auto opened, encrypted::EncryptedSnapshot(view, sealer).approvals(filter));
    if (!opened.empty()) shown = opened.front().payload_hash;
    if (shown != guard.payload_hash) kept[0] ^= 0xff;
    return kept;
  }

  Result<Done> seal(Commit& commit) const {
    // Values of a run that never change are stored only by its first commit.
    bool is_first =
        commit.run_guard && commit.run_guard->seq == 0 && commit.run_guard->pending_for.is_null();
    BELAY_CHECK(seal(commit.tenant, is_first, commit.rows));
    if (!commit.if_expired) return Done{};
    return seal(commit.tenant, is_first, *commit.if_expired);
  }

  Result<Done> seal(const TenantId& tenant, bool is_first, CommitRows& rows) const {
    std::vector<BlobRow> blobs;
    if (rows.run) {
      // A later commit does not store the input: do not pass it on.
      if (!is_first) rows.run->input.clear();
      BELAY_CHECK(seal(tenant, rows.run->input, blobs,
                       [&] { return store::subject_of_input(rows.run->run); }));
    }
    for (CheckpointRow& earlier : rows.earlier) BELAY_CHECK(sealer_->seal(tenant, earlier));
    if (rows.checkpoint) BELAY_CHECK(sealer_->seal(tenant, *rows.checkpoint));
    for (CheckpointRow& inner : rows.inner_checkpoints) BELAY_CHECK(sealer_->seal(tenant, inner));
    BELAY_CHECK(forget_digests(rows));
    BELAY_CHECK(seal_approvals(tenant, rows, blobs));
    for (RecordPut& put : rows.records) {
      BELAY_CHECK(seal(tenant, put.envelope, blobs, [&] {
        return store::subject_of_record(put.collection, put.user, put.key);
      }));
    }
    BELAY_CHECK(seal_each(tenant, rows.values, blobs));
    BELAY_CHECK(seal_each(tenant, rows.tasks, blobs));
    BELAY_CHECK(seal_each(tenant, rows.effects, blobs));
    BELAY_CHECK(seal_each(tenant, rows.outbox, blobs));
    for (BlobRow& blob : rows.blobs) BELAY_CHECK(sealer_->seal_blob(tenant, blob));
    for (BlobRow& blob : blobs) rows.blobs.push_back(std::move(blob));
    return sealer_->encrypts() ? seal_parts(tenant, is_first, rows) : Done{};
  }

  // Sealed last: the values bound to a row must be the ones that the store will contain.
  Result<Done> seal_parts(const TenantId& tenant, bool is_first, CommitRows& rows) const {
    if (rows.thread) BELAY_CHECK(sealer_->seal(tenant, store::part_of(*rows.thread)));
    if (rows.thread_edit) {
      BELAY_CHECK(sealer_->seal(tenant, store::part_of(rows.thread_edit->row)));
    }
    if (rows.run) {
      BELAY_CHECK(sealer_->seal(tenant, store::part_of(*rows.run)));
      if (is_first) BELAY_CHECK(sealer_->seal(tenant, store::start_part_of(*rows.run)));
      rows.run->options.clear();
    }
    for (EventRow& event : rows.events) BELAY_CHECK(sealer_->seal(tenant, store::part_of(event)));
    for (ApprovalRow& row : rows.opened) {
      BELAY_CHECK(sealer_->seal(tenant, store::question_part_of(row)));
      if (!store::is_decided(row.status) && row.edited.empty()) continue;
      BELAY_CHECK(sealer_->seal(tenant, store::decision_part_of(row)));
    }
    if (rows.decided) {
      rows.decided->question.clear();
      BELAY_CHECK(sealer_->seal(tenant, store::decision_part_of(*rows.decided)));
    }
    for (OutboxRow& row : rows.outbox) BELAY_CHECK(sealer_->seal(tenant, store::part_of(row)));
    for (RecordPut& put : rows.records) BELAY_CHECK(seal_index(tenant, put));
    return Done{};
  }

  Result<Done> seal_index(const TenantId& tenant, RecordPut& put) const {
    if (put.indexed.empty()) return Done{};
    std::vector<std::string> names_and_values;
    for (auto& [name, value] : put.indexed) {
      names_and_values.push_back(name);
      names_and_values.push_back(value);
      value = sealer_->index_value(tenant, {put.collection, put.user, name, value});
    }
    return sealer_->seal(tenant, store::index_part_of(put.collection, put.user, put.key,
                                                      names_and_values, put.seal));
  }

  // Readers compute the digest from the payload: restore_digest() in encrypted_snapshot.cc.
  Result<Done> forget_digests(CommitRows& rows) const {
    if (!sealer_->encrypts()) return Done{};
    for (ApprovalRow& row : rows.opened) {
      BELAY_CHECK(forget_digest(row, row.payload, row.payload_hash));
      BELAY_CHECK(forget_digest(row, row.edited, row.edited_hash));
    }
    if (!rows.decided) return Done{};
    return forget_digest(*rows.decided, rows.decided->edited, rows.decided->edited_hash);
  }

  static Result<Done> forget_digest(const ApprovalRow& row, const std::string& envelope,
                                    Digest& digest) {
    if (envelope.empty()) {
      digest = Digest{};
      return Done{};
    }
    BELAY_TRY(std::string_view text, json_in_envelope(envelope));
    if (sha256(text) == digest) {
      digest = Digest{};
      return Done{};
    }
    return error(ErrorCode::invalid, "The approval " + row.interrupt.text() +
                                         " has a digest that does not match its payload. Compute "
                                         "it with sha256() of the JSON text.");
  }

  Result<Done> seal_approvals(const TenantId& tenant, CommitRows& rows,
                              std::vector<BlobRow>& blobs) const {
    for (ApprovalRow& row : rows.opened) {
      BELAY_CHECK(seal(tenant, row.payload, blobs,
                       [&] { return store::subject_of_payload(row.interrupt); }));
      BELAY_CHECK(
          seal(tenant, row.edited, blobs, [&] { return store::subject_of_edited(row.interrupt); }));
    }
    if (!rows.decided) return Done{};
    // A decision does not change the stored payload: do not pass its copy on.
    rows.decided->payload.clear();
    return seal(tenant, rows.decided->edited, blobs,
                [&] { return store::subject_of_edited(rows.decided->interrupt); });
  }

  template <typename Row>
  Result<Done> seal_each(const TenantId& tenant, std::vector<Row>& rows,
                         std::vector<BlobRow>& blobs) const {
    for (Row& row : rows) {
      BELAY_CHECK(seal(tenant, row.envelope, blobs, [&] { return store::subject_of(row); }));
    }
    return Done{};
  }

  template <typename Subject>
  Result<Done> seal(const TenantId& tenant, std::string& envelope, std::vector<BlobRow>& blobs,
                    const Subject& subject) const {
    if (sealer_->leaves_as_it_is(envelope)) return Done{};
    return sealer_->seal(tenant, subject(), envelope, blobs);
  }

  // Shared with reads, which can end after this store is destroyed.
  const std::shared_ptr<EnvelopeSealer> sealer_;
};

}  // namespace

std::unique_ptr<Store> make_encrypted_store(Store& inner, Random& random,
                                            EncryptionOptions encryption) {
  return std::make_unique<EncryptedStore>(inner, random, std::move(encryption));
}

}  // namespace belay
