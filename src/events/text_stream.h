#pragma once
// events/text_stream.h - the text that nodes of this process stream, and the readers of it.
//
// Readers wait here for more text, or for the next commit of their run.
//
// The text is stored only in the attempt's Context, and each reader stores how much of it it has
// returned. No text is queued for a slow reader: it receives the rest in one delta.
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
  // The registration of a reader for one run, until it is destroyed.
  class Reader {
   public:
    Reader(TextHub& live, RunId run);
    ~Reader();
    Reader(const Reader&) = delete;
    Reader& operator=(const Reader&) = delete;

    // Call before reading: clears the notification, so that a change during the read is not missed.
    void begin_look() { is_called_ = false; }
    // Waits until wake() was called for the run after begin_look(), at most for `longest`.
    Task<Done> wait(Executor& executor, std::chrono::milliseconds longest);

   private:
    friend class TextHub;
    TextHub& live_;
    std::multimap<RunId, Reader*>::iterator place_;
    bool is_called_ = false;
    std::optional<Completion<Done>> arrival_;
  };

  // The registration of an attempt that has streamed text. Must not outlive its Context.
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

  // Called after wake() when an attempt of this process has streamed more text; may be null.
  std::function<void(const RunRow&)> on_text;

  // Wakes the readers of the run: it has committed, or an attempt has streamed more text.
  void wake(const RunId& run);
  // Returns the attempts of a run that stream text, by task.
  const std::map<TaskId, TextProducer*>& speakers(const RunId& run) const;

 private:
  std::multimap<RunId, Reader*> readers_;
  std::map<RunId, std::map<TaskId, TextProducer*>> speakers_;
  const std::map<TaskId, TextProducer*> nobody_;
};

}  // namespace belay
