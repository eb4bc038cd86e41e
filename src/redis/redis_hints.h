#pragma once
// redis/redis_hints.h - hints between processes over Redis's channels: PREFIXwake:QUEUE and others.

#include <map>

#include "belay/hints.h"
#include "redis/client.h"
#include "redis/message_encryption.h"

namespace belay::redis {

// Sends the first notification immediately; combines further ones within 50 ms into one.
class RedisNotifier final : public WorkNotifier {
 public:
  // `client` and `executor` must outlive this object. Threading: the executor's thread, also for
  // the destructor.
  RedisNotifier(Client& client, Executor& executor) : client_(client), executor_(executor) {}
  RedisNotifier(const RedisNotifier&) = delete;
  RedisNotifier& operator=(const RedisNotifier&) = delete;
  ~RedisNotifier() override;

  void notify(std::string_view queue) override;
  Subscription subscribe(std::string_view queue, std::function<void()> called) override;

 private:
  struct Pause {
    Executor::TimerId timer = 0;
    bool is_told_again = false;
  };

  void tell(const std::string& queue);

  Client& client_;
  Executor& executor_;
  std::map<std::string, Pause, std::less<>> pauses_;  // queues with a recent notification
};

class RedisBroadcast final : public Broadcast {
 public:
  RedisBroadcast(Client& client, std::shared_ptr<const MessageEncryption> seal)
      : client_(client), seal_(std::move(seal)) {}

  void publish(std::string_view channel, std::string text) override;
  Subscription subscribe(std::string_view channel, std::function<void(std::string)> heard) override;
  void publish_retained(std::string_view channel, std::string text,
                        std::chrono::milliseconds kept_for) override;
  Subscription subscribe_retained(std::string_view channel,
                                  std::function<void(std::string)> heard) override;

 private:
  Client::Heard opened(std::string_view channel, std::function<void(std::string)> heard) const;

  Client& client_;
  const std::shared_ptr<const MessageEncryption> seal_;
};

}  // namespace belay::redis
