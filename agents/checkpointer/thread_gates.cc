#include "agents/checkpointer/thread_gates.h"

#include "agents/checkpointer/checkpoint_records.h"

namespace belay::checkpointer {
namespace {

constexpr std::size_t kGateNameBytes = 2;  // hexadecimal digits: 256 gates for each user

ClosedGeneration mark_of(const ThreadGate& gate, Instant now) {
  ClosedGeneration mark;
  mark.gate = gate.gate;
  mark.generation = gate.generation;
  mark.closedAt = now;
  mark.closedBy = gate.removal;
  return mark;
}

// The time since the generation was closed; nullopt: it is open. With the version of the mark.
struct ClosedSince {
  std::optional<Instant> at;
  std::uint64_t version = 0;
};
Task<Result<ClosedSince>> closed_since(CheckpointAccess at, const ThreadGate& gate) {
  auto records = records_of(at.service, at.who, at.owner);
  std::string key = mark_of(gate, Instant()).key();
  BELAY_CO_TRY(auto mark, co_await records->get_versioned<ClosedGeneration>(std::move(key)));
  ClosedSince since;
  if (mark) since.at = mark->record.closedAt;
  if (mark) since.version = mark->version;
  co_return since;
}

}  // namespace

Error gate_is_closed() {
  Error closed =
      error(ErrorCode::unavailable,
            "Checkpoints of the thread are being removed or copied. Repeat the request.");
  closed.retry_after = kGateRetry;
  return closed;
}

Task<Result<ThreadGate>> read_gate(CheckpointAccess at, std::string thread) {
  auto records = records_of(at.service, at.who, at.owner);
  ThreadGate gate;
  gate.gate = key_of({thread}).substr(0, kGateNameBytes);
  std::string key = gate.gate;
  BELAY_CO_TRY(auto stored, co_await records->get_versioned<StoredGate>(std::move(key)));
  if (stored) gate.generation = stored->record.generation;
  if (stored) gate.version = stored->version;
  co_return std::move(gate);
}

RecordWrite open_condition(const ThreadGate& gate, const UserId& owner) {
  std::string key = mark_of(gate, Instant()).key();
  RecordWrite absent = record_erasure(ClosedGeneration::collection, owner, std::move(key));
  absent.expected_version = 0;
  return absent;
}

Task<Result<Done>> check_open(CheckpointAccess at, ThreadGate gate) {
  BELAY_CO_TRY(ClosedSince since, co_await closed_since(at, gate));
  if (!since.at) co_return Done{};
  BELAY_CO_TRY(RecordWrite opening, opening_of(gate, at.owner));
  if (at.clock.now() - *since.at < kClosedTime) co_return gate_is_closed();
  std::vector<RecordWrite> writes;
  writes.push_back(std::move(opening));
  auto opened = co_await at.service.save_records(at.who, std::move(writes));
  bool is_open = opened.ok() || opened.error().code == ErrorCode::conflict;
  if (is_open) co_return Done{};
  co_return std::move(opened);
}

Task<Result<ThreadGate>> close_gate(CheckpointAccess at, std::string thread, std::string removal) {
  BELAY_CO_TRY(ThreadGate gate, co_await read_gate(at, thread));
  BELAY_CO_TRY(ClosedSince since, co_await closed_since(at, gate));
  Instant now = at.clock.now();
  gate.removal = key_of({thread, removal, std::to_string(now.time_since_epoch().count())});
  if (since.at && now - *since.at < kClosedTime) co_return gate_is_closed();
  BELAY_CO_TRY(RecordWrite mark, record_write(mark_of(gate, now), at.owner));
  mark.expected_version = since.version;
  std::vector<RecordWrite> writes;
  writes.push_back(std::move(mark));
  auto closed = co_await at.service.save_records(at.who, std::move(writes));
  if (closed.ok()) co_return std::move(gate);
  if (closed.error().code == ErrorCode::conflict) co_return gate_is_closed();
  co_return std::move(closed).error();
}

Task<Result<ThreadGate>> close_gate_in_turn(CheckpointAccess at, std::string thread,
                                            std::string removal) {
  for (int attempt = 1;; ++attempt) {
    auto gate = co_await close_gate(at, thread, removal);
    if (gate.ok() || gate.error().code != ErrorCode::unavailable) co_return std::move(gate);
    if (attempt == limits::record_conflicts_max) co_return std::move(gate);
    co_await sleep_for(kRemovalTime);
  }
}

Result<RecordWrite> opening_of(const ThreadGate& gate, const UserId& owner) {
  StoredGate next;
  next.gate = gate.gate;
  next.generation = gate.generation + 1;
  next.openedBy = gate.removal;
  BELAY_TRY(RecordWrite write, record_write(next, owner));
  write.expected_version = gate.version;
  return write;
}

}  // namespace belay::checkpointer
