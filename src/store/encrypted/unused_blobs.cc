// Deletes blobs to which no row refers.
//
// The order of the steps must not change: list the blobs with their last put numbers; read all
// references; delete the blobs without one, unless their put number has changed. If the second step
// misses a reference, the reference was committed after the list was read, and its commit has
// increased the blob's put number.

#include <map>

#include "belay/limits.h"
#include "belay/storage.h"
#include "store/encrypted/envelope_sealer.h"

namespace belay {
namespace {

using encrypted::EnvelopeSealer;
using encrypted::Parts;

constexpr std::size_t kBlobsPage = limits::bounded(64);
constexpr std::size_t kForgottenAtOnce = 100;

using Puts = std::map<Digest, std::uint64_t>;  // blobs and their last put numbers

Task<Result<Puts>> list_blobs(Store& inner, TenantId tenant) {
  Puts all;
  Digest after{};
  while (true) {
    std::function<Result<std::vector<BlobUse>>(Snapshot&)> reader =
        [tenant, after](Snapshot& view) { return view.blob_uses(tenant, after); };
    BELAY_CO_TRY(std::vector<BlobUse> page,
                 co_await read<std::vector<BlobUse>>(inner, std::move(reader)));
    for (const BlobUse& use : page) all.emplace(use.id, use.last_put);
    if (page.size() < limits::page_rows_max) co_return std::move(all);
    after = page.back().id;
  }
}

struct Named {
  std::uint64_t last_place = 0;
  std::size_t count = 0;
  std::vector<Digest> blobs;
};

Result<Named> names_after(Snapshot& view, EnvelopeSealer& sealer, const TenantId& tenant,
                          std::uint64_t after) {
  EnvelopeFilter filter;
  filter.tenant = tenant;
  filter.after = after;
  filter.limit = kBlobsPage;
  BELAY_TRY(std::vector<StoredEnvelope> rows, view.envelopes(filter));
  Named named;
  named.count = rows.size();
  for (StoredEnvelope& stored : rows) {
    named.last_place = stored.position;
    if (stored.envelope.empty()) continue;
    BELAY_TRY(Parts parts, encrypted::parts_of(stored.envelope, stored.subject));
    if (!parts.is_reference) continue;
    BELAY_TRY(std::optional<Digest> id,
              sealer.open(tenant, {stored.subject, stored.bound}, stored.envelope));
    if (id) named.blobs.push_back(*id);
  }
  return named;
}

Task<Result<Done>> forget(Store& inner, TenantId tenant, std::vector<BlobUse> unused) {
  Commit commit;
  commit.tenant = std::move(tenant);
  commit.rows.delete_blobs = std::move(unused);
  auto outcome = co_await inner.commit(std::move(commit));
  if (!outcome.ok()) co_return std::move(outcome).error();
  co_return Done{};
}

}  // namespace

Task<Result<BlobReport>> delete_unused_blobs(Store& inner, Random& random,
                                             EncryptionOptions encryption, TenantId tenant) {
  auto sealer = std::make_shared<EnvelopeSealer>(std::move(encryption), random);
  BELAY_CO_TRY(Puts unnamed, co_await list_blobs(inner, tenant));
  BlobReport report;
  report.blobs = unnamed.size();
  std::uint64_t after = 0;
  while (!unnamed.empty()) {
    std::function<Result<Named>(Snapshot&)> reader = [sealer, tenant, after](Snapshot& view) {
      return names_after(view, *sealer, tenant, after);
    };
    BELAY_CO_TRY(Named named, co_await read<Named>(inner, std::move(reader)));
    if (named.count == 0) break;
    after = named.last_place;
    for (const Digest& id : named.blobs) unnamed.erase(id);
  }
  std::vector<BlobUse> unused;
  for (const auto& [id, last_put] : unnamed) {
    unused.push_back({id, last_put});
    ++report.deleted;
    if (unused.size() < kForgottenAtOnce) continue;
    BELAY_CO_CHECK(co_await forget(inner, tenant, std::move(unused)));
    unused.clear();
  }
  if (!unused.empty()) BELAY_CO_CHECK(co_await forget(inner, tenant, std::move(unused)));
  co_return report;
}

}  // namespace belay
