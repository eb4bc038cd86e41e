#pragma once
// driver/live_fan_out.h - what nodes of this process say while they run, told to readers in others;
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
#include "driver/live_text.h"

namespace belay {

class LiveFanOut {
 public:
  // `broadcast` may be null: then nothing is told, nor heard.
  LiveFanOut(Broadcast* broadcast, Executor& executor, LiveText& live, SessionId self)
      : broadcast_(broadcast), executor_(executor), live_(live), self_(self) {}
  LiveFanOut(const LiveFanOut&) = delete;
  LiveFanOut& operator=(const LiveFanOut&) = delete;
  ~LiveFanOut();

  // An attempt of that run has said more. What comes close together is told in one piece.
  void said(const RunRow& run);

 private:
  struct Told {
    int attempt = 0;
    std::size_t bytes = 0;
  };
  struct Speaking {
    std::uint64_t epoch = 0;
    std::uint64_t seq = 0;
    std::map<TaskId, Told> told;
  };

  void tell_all();
  void tell(const RunId& run, Speaking& speaking);

  Broadcast* const broadcast_;
  Executor& executor_;
  LiveText& live_;
  const SessionId self_;
  std::map<RunId, Speaking> speaking_;
  std::optional<Executor::TimerId> timer_;
};

// What one reader hears of a run from other processes.
class FarText {
 public:
  // `live` is called once something has come; so is whoever waits there.
  FarText(Broadcast* broadcast, Executor& executor, std::shared_ptr<LiveText> live, RunId run,
          SessionId self);

  // What is new, and goes with what the reader knows of the run.
  std::vector<StreamEvent> take(const EventPlace& place, const ThreadId& thread);

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
  struct Heard {
    int attempt = 0;
    std::size_t bytes = 0;
    bool has_gap = false;
  };

  static std::optional<Piece> piece_from(std::string_view text);
  void receive();
  bool is_under_way(const Piece& piece, const EventPlace& place) const;
  bool goes_on(Piece& piece);

  const RunId run_;
  const SessionId self_;
  std::shared_ptr<Inbox> inbox_ = std::make_shared<Inbox>();
  std::deque<Piece> held_;  // some of them ahead of what the reader knows
  std::uint64_t epoch_ = 0;
  std::map<TaskId, Heard> heard_;
  Listening listening_;
};

}  // namespace belay
