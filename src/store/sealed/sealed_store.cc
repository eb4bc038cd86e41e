#include <utility>

#include "belay/storage.h"
#include "store/envelope_subject.h"
#include "store/sealed/envelope_sealer.h"
#include "store/sealed/sealed_snapshot.h"

namespace belay {
namespace {

using sealed::EnvelopeSealer;

// Sealing happens on the caller's thread, so that the one that writes does not wait for it.
class SealedStore final : public Store {
 public:
  SealedStore(Store& inner, Random& random, Sealing sealing)
      : inner_(inner), sealer_(std::make_shared<EnvelopeSealer>(std::move(sealing), random)) {}

  // No coroutine: a frame for each commit would be for nothing.
  Task<Result<CommitOutcome>> commit(Commit commit) override {
    auto sealed = seal(commit);
    if (!sealed.ok()) return refused(std::move(sealed).error());
    return inner_.commit(std::move(commit));
  }

  Task<Result<Done>> read(Reader reader) override {
    return inner_.read([sealer = sealer_, reader = std::move(reader)](Snapshot& view) {
      sealed::SealedSnapshot opened(view, *sealer);
      return reader(opened);
    });
  }

  Result<SessionId> open_session() override { return inner_.open_session(); }
  void close_session(const SessionId& session) override { inner_.close_session(session); }
  Result<bool> is_alive(const SessionId& session) override { return inner_.is_alive(session); }
  Result<StoreStatistics> statistics() override { return inner_.statistics(); }
  Result<Done> compact() override { return inner_.compact(); }

 private:
  static Task<Result<CommitOutcome>> refused(Error failed) { co_return failed; }

  Result<Done> seal(Commit& commit) const {
    // What never changes of a run is stored by its first commit alone.
    bool is_first = commit.guard && commit.guard->seq == 0 && commit.guard->pending_for.is_null();
    BELAY_CHECK(seal(commit.tenant, is_first, commit.rows));
    if (!commit.when_expired) return Done{};
    return seal(commit.tenant, is_first, *commit.when_expired);
  }

  Result<Done> seal(const TenantId& tenant, bool is_first, CommitRows& rows) const {
    std::vector<BlobRow> blobs;
    if (rows.run) {
      // A later commit's is not stored: it is not even handed on.
      if (!is_first) rows.run->input.clear();
      BELAY_CHECK(seal(tenant, rows.run->input, blobs,
                       [&] { return store::subject_of_input(rows.run->run); }));
    }
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
    return Done{};
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
    // What was asked stays as it was asked: a decision's copy of it is not handed on.
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

  Store& inner_;
  // Shared with reads: their answer may be worked out after this store has gone.
  const std::shared_ptr<EnvelopeSealer> sealer_;
};

}  // namespace

std::unique_ptr<Store> seal_store(Store& inner, Random& random, Sealing sealing) {
  return std::make_unique<SealedStore>(inner, random, std::move(sealing));
}

}  // namespace belay
