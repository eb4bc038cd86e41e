#pragma once
// langgraph/v2_events.h - V2Events: the events of a run of the service as those of the streaming
// protocol that the hooks of @langchain/react use.
//
//   V2Events events(options, row);
//   for (StreamEvent& event : read) events.add(std::move(event), out);
//
// They are made from those of the classic stream (classic_stream.h), with all of its modes, and
// from the statuses and approvals of the run:
//
//   classic                       protocol
//   values, updates, tasks        the same; values without interrupts
//   custom                        custom {name, payload}
//   checkpoints                   checkpoints {id, parent_id, step, source}
//   messages (parts of a text)    messages: start, deltas, finish
//   tools                         tools; and the calls in the message of the reply
//   status                        lifecycle: running, completed, failed, interrupted
//   an approval                   input.requested, input.answered
//   the first event of a subgraph, and the end of its task    lifecycle: started, completed
//
// A message that is whole is finished with its commit, after the calls of tools that it contains.
// There is no reasoning: Belay does not keep that of a model.
//
// Numbers. The seq of an event is its run's ordinal in the thread, and its place in the run: it
// increases over all runs of the thread, is the same for each reader, in any process and after any
// restart, and has gaps. Only the text of an attempt that fails has numbers that are used again.
// The event_id is unique for the event: clients drop repeated ones.
//
// If the first run of a thread is deleted, by a rollback, the run that replaces it has the ordinal
// 0 again. The numbers of a first run therefore begin with the time of its start, 2 for each
// microsecond, and those of the new run continue after those of the old one, unless the old one had
// more than 7 events of the classic stream per millisecond. The same holds for a thread that is
// deleted and started again while it had one run. The numbers of later runs are above those of all
// first runs.
//
// Threading: a value; pure.

#include <set>

#include "langgraph/classic_stream.h"

namespace belay::langgraph {

using V2Space = std::vector<std::string>;  // a namespace; empty: the run's own graph

struct V2Event {
  std::string method;
  V2Space space;
  std::string node;
  Value data;
  Instant at{};
  std::uint64_t seq = 0;
  std::string id;
};
using V2EventList = std::vector<V2Event>;

// The document of the event, and its text as a server-sent event.
Value v2_document(const V2Event& event);
std::string v2_sse_text(const V2Event& event);

// The numbers of the events of the run are greater than this, and those of the runs before it are
// not.
std::uint64_t v2_seq_before(const RunRow& run);
// The ordinal of the run of an event with the number.
std::int64_t v2_ordinal_of(std::uint64_t seq);

class V2Events {
 public:
  // `options`: without modes and subgraphs, which are all.
  V2Events(ClassicOptions options, const RunRow& run);

  static std::vector<EventKind> kinds();
  // Sets the checkpoint before the first one of the run.
  void continue_after(std::string checkpoint);
  // Ignores the request of an approval: see request().
  void add(StreamEvent&& event, V2EventList& out);
  // Adds the request of an approval. `interrupt`: interrupt_document() of its row.
  void request(const StreamEvent& asked, const Value& interrupt, V2EventList& out);

 private:
  struct WholeMessage {
    std::string id, node;
    int blocks = 0;
    bool has_calls = false;
  };
  enum class RunPhase { none, running, interrupted, ended };

  V2Event& send(std::string method, std::string_view space, Value data, std::string id,
                V2EventList& out);
  void send_lifecycle(std::string_view name, std::string_view space, Value::Object more,
                      V2EventList& out);
  void begin(const StreamEvent& event, V2EventList& out);
  void enter_space(const std::string& space, V2EventList& out);
  void pause(const StreamEvent& event, V2EventList& out);
  void add_status(const StreamEvent& event, V2EventList& out);
  void add_answer(const StreamEvent& event, V2EventList& out);
  void add_classic(const ClassicEvent& event, V2EventList& out);
  void add_part(const ClassicEvent& event, std::string_view space, V2EventList& out);
  void end_message(const StreamEvent& event, V2EventList& out);
  void add_call(const ClassicEvent& event, std::string_view space, V2EventList& out);
  void add_call_block(const ClassicEvent& event, std::string_view space, V2EventList& out);
  void add_whole_text(const ClassicEvent& event, std::string_view space, WholeMessage& message,
                      V2EventList& out);
  void finish_messages(const std::string& space, V2EventList& out);
  void end_task(const StreamEvent& event, V2EventList& out);

  const std::string run_, graph_;
  ClassicStream classic_;
  const std::uint64_t first_seq_;
  std::uint64_t number_ = 0;  // of the newest classic event
  std::uint64_t place_ = 0;   // of the next event among those that belong to it
  Instant now_{};
  RunPhase phase_ = RunPhase::none;
  int lifecycles_ = 0;
  std::string status_;                           // of the newest commit
  std::set<std::string> open_;                   // interrupts
  std::set<std::string, std::less<>> spaces_;    // of subgraphs that have started
  std::map<std::string, std::string> messages_;  // by namespace: the message that has started
  std::map<std::string, std::vector<WholeMessage>, std::less<>> whole_;  // of this commit
  std::set<std::string, std::less<>> sent_;  // messages that were sent before their texts
};

}  // namespace belay::langgraph
