#pragma once
// driver/remote_text.h - what nodes of this process say while they run, told to readers in others;
// and what is heard of theirs.
//
// A piece of text says where it belongs: run, epoch, seq, task, attempt, and the bytes before it. A
// reader takes it if that is what its own look into the store says is under way, and if nothing is
// missing before it; of an attempt of which a piece was lost it waits for the commit.
//
// Threading: the executor's thread.

#include <deque>
#include <map>
#include <mutex>
#include <set>

#include "belay/hints.h"
#include "driver/commit_events.h"
#include "driver/text_stream.h"

namespace belay {

class TextFanOut {
 public:
  // `broadcast` may be null: then nothing is told, nor heard.
  TextFanOut(Broadcast* broadcast, Executor& executor, TextHub& live, SessionId self)
      : broadcast_(broadcast), executor_(executor), live_(live), self_(self) {}
  TextFanOut(const TextFanOut&) = delete;
  TextFanOut& operator=(const TextFanOut&) = delete;
  ~TextFanOut();

  // An attempt of that run has said more. What comes close together is told in one piece.
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

// What one reader hears of a run from other processes.
class RemoteTextReader {
 public:
  // `live` is called once something has come; so is whoever waits there.
  RemoteTextReader(Broadcast* broadcast, Executor& executor, std::shared_ptr<TextHub> live,
                   RunId run, SessionId self);

  // What is new, and goes with what the reader knows of the run.
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
  std::deque<Piece> held_;  // some of them ahead of what the reader knows
  std::uint64_t epoch_ = 0;
  std::map<TaskId, ReceivedText> heard_;
  Subscription listening_;
};

}  // namespace belay
