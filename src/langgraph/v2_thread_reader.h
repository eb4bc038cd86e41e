#pragma once
// langgraph/v2_thread_reader.h - V2ThreadReader: the events of a thread, over all of its runs, also
// those that are started later by any process and through any door.
//
// With the seq of an event in each subscription, the reader continues after it. Without one, it
// begins with the newest run if that has not ended, or has ended a moment ago: clients open a
// stream before they start a run, and more of them later. The thread need not exist.
//
// A run can be replaced by another one with the same ordinal, or a smaller one: after its rollback,
// or the deletion of its run or its thread. The reader then continues with the new run, and with a
// run that no longer exists at the seq, it begins as without a seq.
//
// Threading: the executor's thread. The service must outlive the reader.

#include "langgraph/threads.h"
#include "langgraph/v2_subscription.h"

namespace belay::langgraph {

class V2ThreadReader {
 public:
  V2ThreadReader(AgentServer served, Service& service, Principal who, ThreadId thread,
                 std::vector<V2Subscription> wanted)
      : served_(std::move(served)),
        service_(service),
        who_(std::move(who)),
        thread_(std::move(thread)),
        wanted_(std::move(wanted)) {}

  // Waits for further events that a subscription matches, and returns them: at least one.
  Task<Result<V2EventList>> next();

 private:
  bool is_sent(const V2Event& event) const;
  // The seq that all subscriptions begin after; unset: one of them has none.
  std::optional<std::uint64_t> since() const;
  // Called when the numbers of the events begin again.
  void forget_since();
  bool is_next(const RunRow& row) const;
  Task<Result<Done>> find_first();
  Task<Result<std::optional<RunRow>>> find_next();
  Task<Result<Done>> read_run(RunRow row);
  Task<Result<Done>> read_some(V2EventList& out);
  Task<Result<Done>> add(StreamEvent event, V2EventList& out);
  Task<Result<Done>> find_parent(const StreamEvent& event);
  Task<Result<std::vector<RunRow>>> page(std::optional<RunId> before, std::size_t limit);

  const AgentServer served_;
  Service& service_;
  const Principal who_;
  const ThreadId thread_;
  std::vector<V2Subscription> wanted_;
  std::optional<std::int64_t> next_ordinal_;  // of the next run to read; unset: not known yet
  std::optional<std::uint64_t> looked_at_;    // the store's version at the last poll for a run
  RunRow row_;                                // of the newest run that is read, or is not wanted
  bool has_parent_ = false;                   // of its first checkpoint
  std::unique_ptr<EventReader> reader_;       // null: waits for a run
  std::optional<V2Events> events_;
};

}  // namespace belay::langgraph
