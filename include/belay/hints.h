#pragma once
// belay/hints.h - advisory messages, shared counters and caches between the processes of a store.
//
// They save time or cost and never decide correctness: each can be lost, late, repeated or wrong,
// and the result is the same without them, because a process always reads the store.
//
// Threading: call every method on the executor's thread. The callbacks `heard` and `called` are
// called on any thread and must not block. No method fails: a hint that cannot be sent is dropped.

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

// A registered callback. Once it is destroyed, the callback is not called again.
using Subscription = std::shared_ptr<void>;

// Notifies workers that a queue might contain runs to claim.
class WorkNotifier {
 public:
  virtual ~WorkNotifier() = default;
  // Can be called for each run that is queued: calls in quick succession are sent as one.
  virtual void notify(std::string_view queue) = 0;
  virtual Subscription subscribe(std::string_view queue, std::function<void()> called) = 0;
};

// Sends short texts on named channels to all current subscribers, including this process.
class Broadcast {
 public:
  virtual ~Broadcast() = default;
  virtual void publish(std::string_view channel, std::string text) = 0;
  virtual Subscription subscribe(std::string_view channel,
                                 std::function<void(std::string)> heard) = 0;

  // The same for a text that is stored for a limited time: later subscribers receive it too. These
  // implementations store nothing.
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

// Limits the actions per minute of all processes that use the same name. Each process counts its
// own actions as well; a shared limit can therefore only delay them further.
class SharedRateLimit {
 public:
  virtual ~SharedRateLimit() = default;
  // Returns zero if the action is permitted and counted; otherwise the time until the next try, at
  // most a minute. nullopt: unknown.
  virtual Task<std::optional<std::chrono::milliseconds>> acquire(std::string name,
                                                                 std::size_t per_minute) = 0;
  // Decreases the count by one, because the counted action did not happen. After a minute the count
  // no longer matters, and therefore the result reports no failure.
  virtual Task<Done> give_back(std::string name, std::size_t per_minute) = 0;
};

// A cache of model replies, by the SHA-256 of all parts of the request that determine the reply.
// Only returns replies to the same request, stored by a process with the same keys.
class SharedReplyCache {
 public:
  virtual ~SharedReplyCache() = default;
  virtual Task<std::optional<std::string>> get(Digest request) = 0;
  virtual void put(const Digest& request, std::string answer, std::chrono::milliseconds ttl) = 0;
  virtual void erase(const Digest& request) = 0;
};

// A cache of short texts by key. Readers compare each text with the store: it can be lost, late,
// old or damaged. get() returns nullopt within milliseconds if the cache is unavailable.
class SharedTextCache {
 public:
  virtual ~SharedTextCache() = default;
  virtual Task<std::optional<std::string>> get(std::string key) = 0;
  // Stores nothing if the key is empty or over 1 KiB, the text over 1 MiB, or `ttl` not positive.
  virtual void put(const std::string& key, std::string text, std::chrono::milliseconds ttl) = 0;
  virtual void erase(const std::string& key) = 0;
};

// Both must outlive the runtime; null: not available.
struct Hints {
  WorkNotifier* work_notifier = nullptr;
  // For the text that nodes stream, and for opened circuits.
  Broadcast* broadcast = nullptr;
};

}  // namespace belay
