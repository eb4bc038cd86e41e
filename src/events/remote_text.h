#pragma once
// events/remote_text.h - sends streamed text to readers in other processes, and receives theirs.
//
// Each delta contains its position: run, epoch, seq, task, attempt, and offset in bytes. A reader
// accepts a delta if, according to its own read of the store, the task is running, and if no delta
// before it is missing. If a delta of an attempt is lost, the reader waits for the commit, which
// contains the whole text.
//
// Threading: the executor's thread.

#include <deque>
#include <map>
#include <mutex>
#include <set>

#include "belay/hints.h"
#include "events/commit_events.h"
#include "events/text_stream.h"

namespace belay {

class TextFanOut {
 public:
  // `broadcast` can be null: then no text is sent.
  TextFanOut(Broadcast* broadcast, Executor& executor, TextHub& live, SessionId self)
      : broadcast_(broadcast), executor_(executor), live_(live), self_(self) {}
  TextFanOut(const TextFanOut&) = delete;
  TextFanOut& operator=(const TextFanOut&) = delete;
  ~TextFanOut();

  // An attempt of that run has streamed more text. Text of a short interval is sent as one delta.
  void published(const RunRow& run);

 private:
  struct SentText {
    int attempt = 0;
    std::size_t bytes = 0;
  };
  struct Speaking {
    std::uint64_t epoch = 0;
    std::uint64_t seq = 0;
    std::map<TaskId, SentText> told;
  };

  void tell_all();
  void publish(const RunId& run, Speaking& speaking);

  Broadcast* const broadcast_;
  Executor& executor_;
  TextHub& live_;
  const SessionId self_;
  std::map<RunId, Speaking> speaking_;
  std::optional<Executor::TimerId> timer_;
};

// Receives the text of one run from other processes, for one reader.
class RemoteTextReader {
 public:
  // Wakes the readers of the run in `live` when a delta arrives.
  RemoteTextReader(Broadcast* broadcast, Executor& executor, std::shared_ptr<TextHub> live,
                   RunId run, SessionId self);

  // Returns the new deltas that match the reader's position in the run.
  std::vector<StreamEvent> take(const EventCursor& place, const ThreadId& thread);

 private:
  struct Inbox {
    std::mutex mutex;
    std::deque<std::string> texts;
    std::size_t bytes = 0;
  };
  struct Piece {
    SessionId sender;
    std::uint64_t epoch = 0;
    std::uint64_t seq = 0;
    std::string text;
    StreamEvent event;
  };
  struct ReceivedText {
    int attempt = 0;
    std::size_t bytes = 0;
    bool has_gap = false;
  };

  static std::optional<Piece> piece_from(std::string_view text);
  void receive();
  bool is_under_way(const Piece& piece, const EventCursor& place) const;
  bool goes_on(Piece& piece);

  const RunId run_;
  const SessionId self_;
  std::shared_ptr<Inbox> inbox_ = std::make_shared<Inbox>();
  std::deque<Piece> held_;  // deltas not returned yet, for example of commits not read yet
  std::uint64_t epoch_ = 0;
  std::map<TaskId, ReceivedText> heard_;
  Subscription listening_;
};

}  // namespace belay
