#pragma once
// redis/channels.h - who hears which channel; and the connection that listens, once somebody does.

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
  // What is being called has returned by then.
  void remove(std::uint64_t id);
  // As if its channel had said so; nothing where it is gone.
  void call(std::uint64_t id, std::string_view text);
  // No more is heard.
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
  // Recursive: a listener may add another one.
  std::recursive_mutex mutex_;
  std::map<std::uint64_t, Listener> listeners_;
  std::set<std::string> confirmed_;  // by Redis, on this connection
  std::uint64_t last_id_ = 0;
  bool is_closed_ = false;
  std::unique_ptr<RedisConnection> link_;
};

}  // namespace belay::redis
