#pragma once
// belay/hints.h - what processes on one store tell each other, count or keep together, so that they
// are sooner or spare something. All of it may be lost, late, doubled or wrong: the store is asked
// whatever is said, and without any of it a process does what it would have done by itself.
//
// Threading: everything on the executor's thread; `heard` and `called` come on any thread and must
// not block. Nothing here fails: what can't be said is left unsaid.

#include <chrono>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <utility>

#include "belay/ids.h"
#include "belay/task.h"

namespace belay {

// Keeps somebody listening for as long as it lives; once it is gone nothing more is called.
using Subscription = std::shared_ptr<void>;

// That there may be something to take up.
class WorkNotifier {
 public:
  virtual ~WorkNotifier() = default;
  // May be called for each run that is put into a queue: what comes close together is said once.
  virtual void notify(std::string_view queue) = 0;
  virtual Subscription subscribe(std::string_view queue, std::function<void()> called) = 0;
};

// Short texts on named channels, to whoever hears them at that moment, this process included.
class Broadcast {
 public:
  virtual ~Broadcast() = default;
  virtual void publish(std::string_view channel, std::string text) = 0;
  virtual Subscription subscribe(std::string_view channel,
                                 std::function<void(std::string)> heard) = 0;

  // The same for what holds for a while: who begins to hear within that time hears it as well,
  // where there is a place to keep it; these have none.
  virtual void publish_retained(std::string_view channel, std::string text,
                                std::chrono::milliseconds kept_for) {
    (void)kept_for;
    publish(channel, std::move(text));
  }
  virtual Subscription subscribe_retained(std::string_view channel,
                                          std::function<void(std::string)> heard) {
    return subscribe(channel, std::move(heard));
  }
};

// How often something may be begun in a minute, counted by all processes that name it alike. Each
// counts for itself as well, so that it can only be made to wait.
class SharedRateLimit {
 public:
  virtual ~SharedRateLimit() = default;
  // Zero: once more is counted. Else how long until it may be asked again, at most a minute.
  // Nothing: it is not known.
  virtual Task<std::optional<std::chrono::milliseconds>> acquire(std::string name,
                                                                 std::size_t per_minute) = 0;
  // Decreases the count by one, because the counted action did not happen. After a minute the count
  // no longer matters, and therefore the result reports no failure.
  virtual Task<Done> give_back(std::string name, std::size_t per_minute) = 0;
};

// Answers of models, by the SHA-256 of all that decides them. Nothing is found but what was kept
// for just that request, by somebody with the same keys.
class SharedReplyCache {
 public:
  virtual ~SharedReplyCache() = default;
  virtual Task<std::optional<std::string>> get(Digest request) = 0;
  virtual void put(const Digest& request, std::string answer, std::chrono::milliseconds ttl) = 0;
  virtual void erase(const Digest& request) = 0;
};

// Both outlive the runtime; null: there is none.
struct Hints {
  WorkNotifier* work_notifier = nullptr;
  // Text that nodes stream, for readers in other processes; circuits that have opened.
  Broadcast* broadcast = nullptr;
};

}  // namespace belay
