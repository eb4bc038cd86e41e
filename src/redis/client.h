#pragma once
// redis/client.h - a client of Redis: commands, publications and subscriptions.
//
// Redis is never authoritative. A call fails immediately if Redis is unavailable, and after a short
// timeout if it is slow; callers then continue without it. A reply can be outdated or written by
// another program: callers must check it against the store.
//
// Threading: any. Listeners are called on a thread of the client and must not block.

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

// A subscription to a channel, which its destructor ends. Can outlive the client. Must not be
// destroyed by its own listener.
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

  // Connects in the background, and again after each loss. `random` must outlive the client.
  Client(ClientOptions options, Random& random);
  Client(const Client&) = delete;
  Client& operator=(const Client&) = delete;
  ~Client();

  // Fails with `unavailable` without a reply, with `invalid` if the reply is an error.
  Task<Result<Reply>> call(Command command);
  // The same, blocking, for at most the reply timeout.
  Result<Reply> call_and_wait(const Command& command);
  // Ignores the reply. Drops the command while Redis is unavailable or the queue is full.
  void send(const Command& command);

  // Sends a message to the current subscribers of the channel.
  void publish(std::string_view channel, std::string_view text);
  ChannelSubscription subscribe(std::string_view channel, Heard heard);
  // The same, but the listener first receives the value of the key with the channel's name, if it
  // can be read.
  ChannelSubscription subscribe_with_kept(std::string_view channel, Heard heard);

  // Returns the name with the prefix.
  std::string name(std::string_view rest) const { return options_.prefix + std::string(rest); }
  const Address& address() const { return options_.link.address; }

  bool is_up() const { return commands_.is_up(); }
  std::string trouble() const { return commands_.trouble(); }
  // Wait until the client is connected; until its first attempt to connect has succeeded or failed.
  bool wait_until_up(std::chrono::milliseconds longest) const;
  bool wait_for_first_try(std::chrono::milliseconds longest) const;
  // Whether Redis has confirmed all subscriptions.
  bool hears() const;

 private:
  const ClientOptions options_;
  std::shared_ptr<Channels> channels_;
  RedisConnection commands_;
};

}  // namespace belay::redis
