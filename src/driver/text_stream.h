#pragma once
// driver/text_stream.h - what nodes of this process say while they run, and the readers that wait
// for it, or for the next commit.
//
// The text itself stays in the attempt's Context; a reader keeps how much of it it has had. So
// nothing is queued for a slow reader: it gets the rest in one piece.
//
// Threading: the executor's thread.

#include <functional>
#include <map>
#include <string>

#include "belay/context.h"
#include "belay/rows.h"

namespace belay {

class TextHub {
 public:
  // A reader's interest in one run, for as long as it lives.
  class Reader {
   public:
    Reader(TextHub& live, RunId run);
    ~Reader();
    Reader(const Reader&) = delete;
    Reader& operator=(const Reader&) = delete;

    // Something may have changed since the last call; what waits is woken then.
    void begin_look() { is_called_ = false; }
    // Waits until something has changed since begin_look(), or for `longest`.
    Task<Done> wait(Executor& executor, std::chrono::milliseconds longest);

   private:
    friend class TextHub;
    TextHub& live_;
    std::multimap<RunId, Reader*>::iterator place_;
    bool is_called_ = false;
    std::optional<Completion<Done>> arrival_;
  };

  // An attempt that has said something, for as long as its Context lives and its node runs.
  class TextProducer {
   public:
    TextProducer(TextHub& live, const Context& context, std::string checkpoint_ns);
    ~TextProducer();
    TextProducer(const TextProducer&) = delete;
    TextProducer& operator=(const TextProducer&) = delete;

    const Context& context() const { return context_; }
    const std::string& checkpoint_ns() const { return space_; }

   private:
    TextHub& live_;
    const Context& context_;
    std::string space_;
  };

  // Called after call() when an attempt of this process has said more; may be null.
  std::function<void(const RunRow&)> on_text;

  // The run has committed, or one of its attempts has said more.
  void wake(const RunId& run);
  // Those of a run, by their tasks.
  const std::map<TaskId, TextProducer*>& speakers(const RunId& run) const;

 private:
  std::multimap<RunId, Reader*> readers_;
  std::map<RunId, std::map<TaskId, TextProducer*>> speakers_;
  const std::map<TaskId, TextProducer*> nobody_;
};

}  // namespace belay
