#pragma once
// redis/client.h - what Belay asks of a Redis: commands, and channels to say things on and to hear.
//
// Nothing here is the truth of anything. A call fails at once while Redis is away, and soon when it
// is slow; whoever calls goes on without it. What comes back may be old, or somebody else's:
// whoever uses it compares it with what the store says.
//
// Threading: any. What is heard is called on a thread of the client, and must not block.

#include <functional>
#include <memory>

#include "belay/task.h"
#include "redis/redis_connection.h"

namespace belay::redis {

struct ClientOptions {
  LinkOptions link;
  std::string prefix = "belay:";  // of every key and channel
};

class Channels;

// Hears a channel for as long as it lives. May outlive the client; don't destroy it in what it
// calls.
class ChannelSubscription {
 public:
  ChannelSubscription() = default;
  ChannelSubscription(std::shared_ptr<Channels> channels, std::uint64_t id)
      : channels_(std::move(channels)), id_(id) {}
  ChannelSubscription(ChannelSubscription&& other) noexcept
      : channels_(std::exchange(other.channels_, nullptr)), id_(other.id_) {}
  ChannelSubscription& operator=(ChannelSubscription&& other) noexcept {
    std::swap(channels_, other.channels_);
    std::swap(id_, other.id_);
    return *this;
  }
  ~ChannelSubscription();

 private:
  std::shared_ptr<Channels> channels_;
  std::uint64_t id_ = 0;
};

class Client {
 public:
  using Heard = std::function<void(std::string_view)>;

  // Connects by itself, now and whenever it must. `random` outlives it.
  Client(ClientOptions options, Random& random);
  Client(const Client&) = delete;
  Client& operator=(const Client&) = delete;
  ~Client();

  // `unavailable` without a reply, `invalid` for one that is an error.
  Task<Result<Reply>> call(Command command);
  // The same for a thread that may wait: as long as a reply may take, and no longer.
  Result<Reply> call_and_wait(const Command& command);
  // Nobody waits for what comes of it. Dropped while Redis is away, or too much waits for it.
  void send(const Command& command);

  // Says something to whoever hears the channel now.
  void publish(std::string_view channel, std::string_view text);
  ChannelSubscription subscribe(std::string_view channel, Heard heard);
  // Hears first what a key of the channel's name holds by now, where one can be asked for it.
  ChannelSubscription subscribe_with_kept(std::string_view channel, Heard heard);

  // With the prefix.
  std::string name(std::string_view rest) const { return options_.prefix + std::string(rest); }
  const Address& address() const { return options_.link.address; }

  bool is_up() const { return commands_.is_up(); }
  std::string trouble() const { return commands_.trouble(); }
  // Waits until it is up; until its first connection has been made or has failed.
  bool wait_until_up(std::chrono::milliseconds longest) const;
  bool wait_for_first_try(std::chrono::milliseconds longest) const;
  // Whether what is said on the subscribed channels is heard by now.
  bool hears() const;

 private:
  const ClientOptions options_;
  std::shared_ptr<Channels> channels_;
  RedisConnection commands_;
};

}  // namespace belay::redis
