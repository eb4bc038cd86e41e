#pragma once
// agents/checkpointer/thread_gates.h - keeps saves, removals and copies of a thread apart.
//
// A save can refer to values of earlier saves, which a removal erases. Each save therefore reads
// the generation of its thread's gate before anything else, and its commit expects that the
// generation was not closed. A removal closes the generation, then reads the thread, and erases
// records in the commit that opens the next generation. Of a removal that was stopped, the gate
// stays closed for kClosedTime: then any save or removal opens it, and the commit of the stopped
// one fails. A copy closes the gate of its target like a removal, and expects, like a save, that
// the gate of its source was not closed.

#include <chrono>

#include "agents/checkpointer/checkpoint_access.h"
#include "belay/collection.h"

namespace belay::checkpointer {

// Threads share gates, so that removed threads leave no records of their number.
struct StoredGate {
  static constexpr std::string_view collection = "langgraph_gates";

  std::string gate{};
  std::int64_t generation = 0;
  std::string openedBy{};  // see ThreadGate

  std::string key() const { return gate; }
  static auto indexed() { return std::tuple(); }
};

// Exists from the close of a generation on, for longer than any save takes.
struct ClosedGeneration {
  static constexpr std::string_view collection = "langgraph_closed_gates";

  std::string gate{};
  std::int64_t generation = 0;
  Instant closedAt{};
  std::string closedBy{};

  std::string key() const { return gate + '.' + std::to_string(generation); }
  Instant expires_at() const { return closedAt + std::chrono::hours(24); }
  static auto indexed() { return std::tuple(); }
};

inline constexpr std::chrono::minutes kClosedTime{1};
inline constexpr std::chrono::milliseconds kGateRetry{100};

struct ThreadGate {
  std::string gate;
  std::int64_t generation = 0;
  std::uint64_t version = 0;  // of its record
  // The removal that has closed it; empty: none. A commit counts as applied if the store has equal
  // records: only calls with the same effect have equal names.
  std::string removal{};
};

// The interval at which a save, or another removal, waits for the end of a removal.
inline constexpr std::chrono::milliseconds kRemovalTime{50};

// Returns the gate of a thread. Read it before the records that a save depends on.
Task<Result<ThreadGate>> read_gate(CheckpointAccess at, std::string thread);
// The condition of a save's commit: its generation was not closed.
RecordWrite open_condition(const ThreadGate& gate, const UserId& owner);
// After a commit with the condition failed: `unavailable` while a removal is in progress.
Task<Result<Done>> check_open(CheckpointAccess at, ThreadGate gate);

// Closes the gate of a thread for a removal, whose name is that of the removed objects;
// `unavailable` if another one is in progress.
Task<Result<ThreadGate>> close_gate(CheckpointAccess at, std::string thread, std::string removal);
// The same; waits while another removal is in progress.
Task<Result<ThreadGate>> close_gate_in_turn(CheckpointAccess at, std::string thread,
                                            std::string removal);
// The write that opens the next generation; it fails if another call has opened it.
Result<RecordWrite> opening_of(const ThreadGate& gate, const UserId& owner);

// The answer to a call that can be repeated soon.
Error gate_is_closed();

}  // namespace belay::checkpointer
