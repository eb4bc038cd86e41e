#pragma once
// ag_ui/event_translator.h - EventTranslator: the events of a run as those of AG-UI 1.0.
//
// A run of AG-UI is a segment of a run of the service: from its start, or from the decisions of
// `resume`, to its end or to the next pause with open approvals. The translator reads the events of
// the whole run and returns those of one segment, without the ones that the client has received.
//
//     tasks        STEP_STARTED, STEP_FINISHED; of a failed attempt CUSTOM "belay:attempt_failed"
//     messages     TEXT_MESSAGE_START, _CONTENT, _END; the id of the message is that of the task,
//                  from the second attempt on "TASK-ATTEMPT", and ".SEQ" in a segment after SEQ
//     values       STATE_SNAPSHOT, then STATE_DELTA; and the new entries of the conversation: calls
//                  of tools, their results, and texts that were not streamed
//     custom       CUSTOM
//     status       RUN_FINISHED (success, cancelled, interrupt), RUN_ERROR; before a success, the
//                  MESSAGES_SNAPSHOT of a thread whose state is a conversation
//
// Events with the same position are the same in every stream, in any process. Only the division of
// a text into TEXT_MESSAGE_CONTENT differs: a text in progress is sent in pieces, and the part of
// the durable text that was not sent follows when it exists. If the attempt has failed, its message
// ends without the rest. A text whose durable form follows the pause is ended by the pause, and is
// a whole message of the next segment.
//
// After the end of a process, another one repeats the attempt, and streams another text. If this
// does not begin with the text that was sent, the message of the latter ends with
// `metadata.belay.isReplaced`, and the new text is a message with another id. The position has the
// number of such messages, so that the ids are the same in a stream that continues.
//
// Threading: none; one stream.

#include <functional>
#include <map>
#include <set>
#include <vector>

#include "ag_ui/stream_position.h"
#include "belay/service.h"
#include "conversation/conversation.h"

namespace belay::ag_ui {

struct Segment {
  std::string thread;
  std::string run_id;                    // of the client
  RunId run;                             // of the service
  std::uint64_t after = 0;               // the commit that it starts after; 0: the run's start
  std::set<InterruptId> answered = {};   // by its request, and not left open
  std::set<InterruptId> left_open = {};  // answered by one vote of several
  // The request has only voted: the segment begins and ends at the pause `after`.
  bool has_only_votes = false;
  Instant voted_at{};    // its last vote
  Instant decided_at{};  // if all that it answers was decided before: the last decision of these
};

struct AgUiEvent {
  StreamPosition position;
  Value event;
};
using AgUiEvents = std::vector<AgUiEvent>;

// Returns the entries of the conversation for a state.
using EntriesOf =
    std::function<std::vector<conversation::ChatEntry>(const Value& state, bool ended)>;

// The kinds of events that a translator reads.
std::vector<EventKind> translated_kinds();

class EventTranslator {
 public:
  // `received`: the position of the client; unset: it has received nothing.
  EventTranslator(Segment segment, EntriesOf entries_of, std::optional<StreamPosition> received);

  // Returns the events before those of the run.
  AgUiEvents begin();
  // To be called with all events of the run, in order.
  AgUiEvents translate(const StreamEvent& event);

  // True after a pause of the segment, while approvals might be open: those of asked(). The ones
  // that the segment answers are not among them.
  bool has_paused() const { return has_paused_; }
  const std::vector<InterruptId>& asked() const { return asked_; }
  // True if the approval was open at this time, in the view of the segment: not if it was decided
  // before the last of those that the segment answers.
  bool is_open_at(const ApprovalRow& approval, Instant pause) const;
  // Ends the segment at the pause, with these approvals, of which there is at least one.
  AgUiEvents interrupted(const StreamEvent& pause, const std::vector<ApprovalRow>& open);

  bool has_ended() const { return has_ended_; }

 private:
  std::string message_id(const TaskId& task, int attempt) const;
  void emit(Value event);
  void emit_text(const std::string& id, const std::string& text);
  void begin_segment();
  void begin_at_pause(const StreamEvent& event);
  void end_open_text(OpenTexts::iterator text);
  void replace_open_text(OpenTexts::iterator text);
  void end_void_text(const StreamEvent& event);
  void end_open_parts();
  // The part of the text of an attempt in progress that this stream has read.
  struct LiveText {
    int attempt = 0;
    std::uint64_t bytes = 0;
    std::string held = {};    // not compared yet with the text that the client has received
    bool is_checked = false;  // it begins with that text
  };
  OpenTexts::iterator begin_text(const StreamEvent& event);
  void take_delta(const StreamEvent& event);
  void send_text(OpenTexts::iterator open, std::string_view text, std::uint64_t offset);
  void take_text(const StreamEvent& event);
  void take_values(const StreamEvent& event);
  void take_entries(bool ended);
  void take_entry(const conversation::ChatEntry& entry);
  void take_task(const StreamEvent& event);
  void take_failed_attempt(const StreamEvent& event);
  void take_approval(const StreamEvent& event);
  void take_status(const StreamEvent& event);
  bool is_before_segment(const EventId& event) const { return event.seq <= segment_.after; }

  const Segment segment_;
  const EntriesOf entries_of_;
  const std::optional<StreamPosition> received_;
  AgUiEvents out_;
  StreamPosition position_;      // of the last event
  std::uint64_t next_part_ = 0;  // of the event that is being translated
  Value at_;                     // its time
  bool is_silent_ = false;       // it belongs to an earlier segment
  bool has_begun_ = false;
  bool has_paused_ = false;
  bool has_ended_ = false;
  Value state_;  // null: no values yet
  std::set<std::string> known_entries_;
  std::set<std::string> known_calls_;
  std::map<Digest, std::string> streamed_;                       // texts, and their messages
  std::vector<std::pair<std::string, std::string>> open_steps_;  // task, and the name of its step
  std::vector<InterruptId> asked_;
  std::map<TaskId, LiveText> live_;
};

}  // namespace belay::ag_ui
