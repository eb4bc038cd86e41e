#pragma once
// redis/channels.h - the subscriptions of a client, and the connection that they share.
//
// The connection is opened by the first subscription.

#include <map>
#include <memory>
#include <mutex>
#include <set>

#include "redis/client.h"

namespace belay::redis {

class Channels {
 public:
  Channels(LinkOptions options, Random& random) : options_(std::move(options)), random_(random) {}

  std::uint64_t add(std::string channel, Client::Heard heard);
  // Waits until a running call of the listener has returned.
  void remove(std::uint64_t id);
  // Calls the listener as if its channel had received `text`; does nothing if it was removed.
  void call(std::uint64_t id, std::string_view text);
  // No listener is called afterwards.
  void close();
  bool hears();

 private:
  struct Listener {
    std::string channel;
    Client::Heard heard;
  };

  std::vector<Command> subscribe_all();
  void hear(const Reply& reply);
  bool is_heard(const std::string& channel) const;  // REQUIRES: mutex_

  const LinkOptions options_;
  Random& random_;
  // Recursive: a listener can add another one.
  std::recursive_mutex mutex_;
  std::map<std::uint64_t, Listener> listeners_;
  std::set<std::string> confirmed_;  // channels that Redis has confirmed on this connection
  std::uint64_t last_id_ = 0;
  bool is_closed_ = false;
  std::unique_ptr<RedisConnection> link_;
};

}  // namespace belay::redis
