#pragma once
// langgraph/classic_stream.h - ClassicStream: the events of a run as those of the classic stream of
// LangGraph's Agent Server.
//
//   ClassicStream stream(options);
//   EventOptions wanted{.kinds = stream.kinds()};
//   stream.begin(out);                                   // metadata
//   for (StreamEvent& event : events) stream.add(std::move(event), out);
//
// Ids. The events of a stream are numbered 0, 1, 2, ..., with a gap after each attempt that has
// failed, whose text can have used the numbers of the gap. The numbers depend only on the durable
// events of the run and on the requested modes: a client that rejoins, at any server and after any
// restart, gets the same events with the same numbers, and continues after the last one that it
// has received. The stream is therefore made again from its first event, and those that the client
// has received are left out.
//
// Text. The durable event of a streamed text has the whole text, and a stream has many parts of it.
// Both are divided at the same places: after each white space, and after 8 characters. The parts of
// a text in progress are numbered as they will be when it is durable, because the text of a
// superstep's only task comes first among the events of its commit. Other texts (of parallel tasks,
// and of subgraphs) are sent when they are durable, and the rest of a text with very many parts.
// The text of an attempt that fails is revoked: a client that rejoins does not get it, and its
// message has another id than that of the next attempt. A text that ends with its process is
// revoked, too, but its numbers are used again.
//
// Messages. The messages of the state that a commit adds and that were not streamed, such as the
// results of tools, are sent whole with the commit of their node; those of the input are not sent.
//
// Reducers. The engine stores the result of a custom reducer without a node. It is shown as a write
// of the node if the superstep had only one: of a list whose items have ids, the items that are new
// or changed.
//
// Order. The events of a commit are sent in the order of LangGraph: messages, custom, whole
// messages, updates, the ends of calls of tools and of tasks, the checkpoint, values, complete
// messages, the beginnings of tasks and of calls. A checkpoint is the first commit of a superstep,
// or the last one of a completed run; other commits are not visible, nor are those of a run that
// waits for the end of an earlier one.
//
// Calls of tools are those of the conversation that the state is shown as (conversation.h): a call
// starts with the commit of the reply that requests it, also if it then waits for an approval or
// for other calls, and ends with the commit of its result.
//
// Events of LangChain ("events") describe the run and all of its subgraphs: the run, each task and
// each text of a node as a chat model, and calls of tools.
//
// Threading: a value; pure.

#include <cstdint>
#include <functional>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "belay/event.h"
#include "conversation/conversation.h"
#include "langgraph/run_body.h"

namespace belay::langgraph {

struct ClassicEvent {
  std::string name;
  Value data;
  std::uint64_t id = 0;
  // Not sent. Of the start of a call: the id of the message with it, and the text of the message.
  std::string message = {}, text = {};
};
using ClassicEvents = std::vector<ClassicEvent>;

// Returns the event as text of the stream.
std::string sse_text(const ClassicEvent& event);

// Returns the end of the part of a text that begins at `from`; nullopt if more text can belong to
// it. `is_whole`: no more text follows. REQUIRES: from < text.size().
std::optional<std::size_t> end_of_part(std::string_view text, std::size_t from, bool is_whole);

struct ClassicOptions {
  StreamModes modes{};
  bool subgraphs = false;  // also the events of subgraphs, named "mode|namespace"
  std::string run_id{}, thread_id{}, graph_id{}, assistant_id{};
  // The stream begins with the decision that continues a paused run, within a superstep.
  bool is_resumed = false;
  // Also the messages of the state that were not streamed.
  bool whole_messages = false;
  // Returns the values that are shown for a state of the run's own graph; null: the state.
  std::function<Value(Value state, bool has_ended)> shown = nullptr;
};

class ClassicStream {
 public:
  explicit ClassicStream(ClassicOptions options) : options_(std::move(options)) {}

  // The kinds of events that add() needs.
  std::vector<EventKind> kinds() const;
  void begin(ClassicEvents& out);
  // Sets the state of the run's own graph before the stream: its calls and its messages are not
  // sent.
  void know(const Value& state);
  // Sets the checkpoint before the first one that is sent, and its superstep if the stream begins
  // within it.
  void continue_after(std::string checkpoint, std::optional<std::int64_t> superstep);
  void add(StreamEvent&& event, ClassicEvents& out);
  // Ends the stream: with interrupts, if the run waits for them, or with an error.
  void interrupt(const Value::Array& interrupts, ClassicEvents& out);
  void fail(const std::string& name, const std::string& message, ClassicEvents& out);

 private:
  struct ClassicTask {
    TaskId id;
    std::string node;
    Value input;
  };
  struct ClassicCall {
    std::string name;
    ClassicTask task;  // that executes it, if that is known
    bool has_result = false;
  };
  // A text that is durable, until the end of its commit.
  struct ClassicText {
    StreamEvent place;
    std::string text;
  };
  // The run's own graph, or a subgraph task.
  struct ClassicFrame {
    std::optional<std::int64_t> superstep;
    std::vector<ClassicTask> begun, ended;
    std::map<TaskId, Value> results;
    Value state;
    Value state_before;  // the state changed: that before the commit
    Value values;        // as the state is shown
    bool has_new_values = false;
    std::string checkpoint;                    // the last one that was sent
    std::map<std::string, ClassicCall> calls;  // of tools, by id
    bool has_calls = false;                    // they are those of a state
    // Replies that were sent whole, because their texts follow with the end of a subgraph.
    std::set<std::string> whole;
    // Of the commit.
    std::vector<ClassicTask> updated;     // whose writes are in `results`
    Value::Object reduced;                // writes of the superstep as a whole, by channel
    Value::Array new_messages, complete;  // of the state; to send after the values
    std::vector<ClassicText> texts;
    std::vector<conversation::ChatEntry> replies, tool_results;
  };
  // The text of an attempt, as far as it was received before it is durable.
  struct Preview {
    TaskId task;
    int attempt = 0;
    std::string text;
    std::size_t sent = 0;     // bytes
    std::uint64_t first = 0;  // the number of its first part
  };

  bool wants(StreamMode mode) const { return options_.modes.contains(mode); }
  static constexpr std::uint64_t attempt_numbers = 1 << 16;  // see "Ids"

  bool wants_messages() const {
    return wants(StreamMode::messages) || wants(StreamMode::messages_tuple);
  }
  bool sends_whole_messages() const { return options_.whole_messages && wants_messages(); }
  bool shows_states() const;
  bool reads_writes() const;
  bool is_sent(const std::string& space) const { return space.empty() || options_.subgraphs; }
  bool wants_calls() const { return wants(StreamMode::tools) || wants(StreamMode::events); }
  static std::string message_id(const StreamEvent& event);
  static Value ai_message(const StreamEvent& event, std::string_view text);
  void send(std::string_view name, const std::string& space, Value data, ClassicEvents& out);
  void send_debug(std::string_view type, const StreamEvent& event, Value payload,
                  ClassicEvents& out);
  void send_held(ClassicEvents& out);
  void add_text(StreamEvent&& event, ClassicEvents& out);
  void preview_text(const StreamEvent& event, ClassicEvents& out);
  void send_parts(const StreamEvent& event, std::string_view text, std::size_t& from, bool is_whole,
                  ClassicEvents& out);
  void send_part(const StreamEvent& event, std::string_view text, std::size_t from,
                 std::size_t until, ClassicEvents& out);
  void revoke_preview();
  void note_text(const StreamEvent& event, const std::string& text);
  void find_new_messages(ClassicFrame& frame, const Value& values) const;
  bool was_streamed(const Value& message);
  void send_new_messages(const std::string& space, ClassicFrame& frame, ClassicEvents& out);
  void send_complete(const std::string& space, ClassicFrame& frame, ClassicEvents& out);
  StreamEvent place_of_message(const std::string& space, const ClassicFrame& frame,
                               const std::string& id) const;
  void add_update(const StreamEvent& event);
  void add_reduced(ClassicFrame& frame);
  void send_updates(const std::string& space, ClassicFrame& frame, ClassicEvents& out);
  void add_task(StreamEvent&& event);
  void end_tasks(const StreamEvent& event, ClassicFrame& frame, ClassicEvents& out);
  void add_checkpoint(const StreamEvent& event, ClassicEvents& out);
  void show_state(ClassicFrame& frame, bool is_root, bool is_last);
  void send_checkpoint(const StreamEvent& event, ClassicFrame& frame, ClassicEvents& out);
  void begin_tasks(const StreamEvent& event, ClassicFrame& frame, ClassicEvents& out);
  void read_calls(ClassicFrame& frame);
  void end_calls(const std::string& space, ClassicFrame& frame, ClassicEvents& out);
  void begin_calls(const std::string& space, ClassicFrame& frame, ClassicEvents& out);
  void send_result(const std::string& space, ClassicFrame& frame,
                   const conversation::ChatEntry& result, ClassicEvents& out);
  void send_call(Value::Object data, const std::string& space, const std::string& id,
                 const ClassicCall& call, const conversation::ChatEntry& reply, ClassicEvents& out);
  void send_event(std::string_view what, std::string_view name, std::string run,
                  const StreamEvent& place, Value data, ClassicEvents& out);
  void send_run_event(std::string_view what, Value data, ClassicEvents& out);
  void send_task_event(std::string_view what, const std::string& space, const ClassicTask& task,
                       Value data, ClassicEvents& out);
  void send_task_end(const std::string& space, const ClassicTask& task, const Value& writes,
                     ClassicEvents& out);
  void send_model_event(std::string_view what, const StreamEvent& place, const std::string& message,
                        Value data, ClassicEvents& out);
  void end_models(const std::string& space, ClassicFrame& frame, ClassicEvents& out);
  static Value node_path(const std::string& node);
  Value message_metadata(const StreamEvent& event);
  Value config_of(const std::string& space, const std::string& checkpoint) const;
  Value reference_of(const std::string& space, const std::string& checkpoint) const;

  const ClassicOptions options_;
  std::uint64_t next_ = 0;
  std::map<std::string, ClassicFrame> frames_;  // by namespace
  std::optional<TaskId> only_task_;             // of the newest superstep of the run's own graph
  std::optional<Preview> preview_;
  std::set<std::string> sent_messages_;      // ids
  std::vector<std::string> streamed_texts_;  // of a commit, with its subgraphs
  std::vector<StreamEvent> held_;  // custom events, until the texts of their commit are sent
};

}  // namespace belay::langgraph
