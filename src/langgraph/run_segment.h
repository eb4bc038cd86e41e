#pragma once
// langgraph/run_segment.h - RunSegment: the events of a run of the protocol, which are a part of
// those of a run of the service; and the way in which it ends.
//
// The segment ends where the run of the service ends, or waits for a person: it then has the
// interrupts that were open at that commit. Its end depends only on durable rows: each reader, at
// any time, finds the same events and the same end.
//
// Threading: the executor's thread. The service must outlive the segment.

#include <deque>
#include <set>

#include "langgraph/run_records.h"

namespace belay::langgraph {

enum class SegmentEnd {
  none,  // it has not ended
  completed,
  cancelled,
  failed,       // see `error_name` and `message`
  interrupted,  // it waits for the decisions of `interrupts`
  held,         // it waits at a breakpoint
};

class RunSegment {
 public:
  RunSegment(Service& service, Principal who, const ProtocolRun& run);

  // Interrupts that the end of the run has closed count as open at the commit where it waited.
  void count_closed() { counts_closed_ = true; }
  // Opens the reader of events of these kinds, and of those that the segment needs.
  Task<Result<Done>> open(std::vector<EventKind> kinds);
  // Returns the next events of these kinds; none at the end. REQUIRES: open().
  Task<Result<std::vector<StreamEvent>>> next();

  SegmentEnd end() const { return end_; }
  // The state of the run's own graph at the last commit before the segment; null if the segment
  // begins with the run, or does not read states.
  const Value& state_before() const { return state_before_; }
  // The checkpoint before the segment (the first commit of its superstep), and this superstep;
  // empty if the segment begins with the run.
  const std::string& checkpoint_before() const { return checkpoint_before_; }
  std::optional<std::int64_t> superstep_before() const { return superstep_before_; }
  const Value::Array& interrupts() const { return interrupts_; }
  const std::string& error_name() const { return error_name_; }
  const std::string& message() const { return message_; }
  // The commit of the end, and its time.
  std::uint64_t end_seq() const { return end_seq_; }
  Instant ended_at() const { return ended_at_; }

 private:
  Task<Result<Done>> read_some(std::vector<StreamEvent>& wanted);
  Task<Result<Done>> notice(const StreamEvent& event);
  Task<Result<Done>> pause(const StreamEvent& event);
  void finish(const StreamEvent& event);
  void notice_before(const StreamEvent& event);

  Service& service_;
  const Principal who_;
  const ThreadId thread_;
  const RunId run_;
  const std::uint64_t after_;
  std::set<std::string> answered_;
  bool counts_closed_ = false;
  std::set<EventKind> kinds_;
  std::unique_ptr<EventReader> reader_;
  std::vector<InterruptId> asked_;
  std::string status_;  // of the newest commit
  SegmentEnd end_ = SegmentEnd::none;
  Value state_before_;
  std::string checkpoint_before_;
  std::optional<std::int64_t> superstep_before_;
  Value::Array interrupts_;
  std::string error_name_, message_;
  std::uint64_t end_seq_ = 0;
  Instant ended_at_{};
};

// Returns the name that clients of LangGraph expect for an error of a run, and removes it from the
// message: the first word of one such as "LimitError: There are no seats.", which the node chose;
// else the code.
std::string take_error_name(std::string_view code, std::string& message);

}  // namespace belay::langgraph
