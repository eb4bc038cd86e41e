#pragma once
// server/mcp_subscription.h - SubscriptionStream: the changes of tasks, as notifications
// (`subscriptions/listen`).
//
// The first message acknowledges the tasks that exist. For each of them the current state follows,
// and then each change, in the form of tasks/get. The response, after the end of all tasks, ends
// the stream.
//
// Threading: the executor's thread.

#include <chrono>
#include <deque>
#include <memory>
#include <string>
#include <vector>

#include "belay/service.h"
#include "server/mcp_message.h"

namespace belay::server {

class SubscriptionStream final : public McpStream {
 public:
  // `filter`: the subset of the requested notifications that the stream sends. `slot`: released by
  // the destructor.
  SubscriptionStream(Service& service, Executor& executor, Principal who, McpMessage message,
                     Value filter, std::vector<RunRow> tasks, std::shared_ptr<void> slot);

  Task<std::optional<Value>> next() override;

 private:
  struct Watched {
    ThreadId thread;
    RunId run;
    RunStatus status{};
    bool is_changed = true;  // since it was read
    bool has_ended = false;
    std::string sent;                      // identifies the state that was sent
    std::optional<std::uint64_t> version;  // the store's, before it was read
    Spawned follower;
  };

  Task<Done> follow(Watched& task);
  Task<Done> paused(Watched& task);
  Task<std::optional<Value>> read(Watched& task);
  bool has_ended() const;
  Value tagged(std::string_view method, Value::Object params) const;

  Service& service_;
  Executor& executor_;
  const Principal who_;
  const McpMessage message_;
  Value filter_;
  const std::shared_ptr<void> slot_;
  bool is_acknowledged_ = false;
  bool has_replied_ = false;
  Completion<Done> wake_;
  std::deque<Watched> tasks_;  // last member: its coroutines use all members above
};

// The streams that are open, by user. Bounded for each of them.
class SubscriptionSlots {
 public:
  explicit SubscriptionSlots(std::size_t per_user_max)
      : per_user_max_(per_user_max), counts_(std::make_shared<Counts>()) {}
  // Returns a slot, which its destruction releases; null: the user has none left.
  std::shared_ptr<void> take(const std::string& user);

 private:
  using Counts = std::map<std::string, std::size_t>;
  const std::size_t per_user_max_;
  const std::shared_ptr<Counts> counts_;
};

}  // namespace belay::server
