#include "usage/recording_store.h"

#include <algorithm>

#include "engine/checkpoint.h"
#include "store/forwarding_store.h"

namespace belay::usage {
namespace {

void add_invocation(CommitRows& rows) {
  if (!rows.run || !rows.checkpoint) return;
  auto ended = invocation_of(*rows.run);
  if (!ended) return;
  auto write = record_write(*ended, UserId());
  if (write.ok()) rows.records.push_back(engine::record_put(*std::move(write)));
}

class RecordingStore final : public ForwardingStore {
 public:
  using ForwardingStore::ForwardingStore;

  Task<Result<CommitOutcome>> commit(Commit commit) override {
    add_invocation(commit.rows);
    if (commit.if_expired) add_invocation(*commit.if_expired);
    return inner().commit(std::move(commit));
  }
};

}  // namespace

std::optional<PendingInvocation> invocation_of(const RunRow& run) {
  if (!is_final(run.status) || run.status == RunStatus::cancelled) return std::nullopt;
  // The first commit of a run executes nothing: an ended run is a copy then.
  if (run.seq <= 1) return std::nullopt;
  PendingInvocation ended;
  ended.run = run.run.text();
  ended.agent = run.graph;
  ended.failed = run.status == RunStatus::failed;
  ended.latency_ms = std::max<std::int64_t>(run.worked_ms, 1);
  // The last attempt of a node that failed was not repeated. A limit of the run ends no attempt.
  bool ended_an_attempt = ended.failed && run.error_code != name_of(ErrorCode::exhausted);
  ended.retries = std::max<std::int64_t>(run.retry_count - (ended_an_attempt ? 1 : 0), 0);
  ended.ended_at = run.updated_at;
  return ended;
}

std::unique_ptr<Store> make_recording_store(Store& inner) {
  return std::make_unique<RecordingStore>(inner);
}

}  // namespace belay::usage
