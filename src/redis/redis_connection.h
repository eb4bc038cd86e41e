#pragma once
// redis/redis_connection.h - one connection to Redis with its own thread, which reconnects.
//
// Commands are pipelined: sent without waiting for replies, which arrive in the same order. While
// there is no connection, or a reply is late, every command fails immediately: an unavailable or
// slow Redis costs its users only the first timeout. Reconnects with exponential, random backoff.
//
// Threading: any; callbacks and hooks are called on the connection's thread without its lock, or
// within start() if a command is rejected. They must not block.

#include <atomic>
#include <chrono>
#include <deque>
#include <functional>
#include <mutex>
#include <thread>

#include "base/circuit_breaker.h"
#include "redis/address.h"
#include "redis/reply.h"
#include "redis/socket.h"

namespace belay::redis {

struct LinkOptions {
  Address address;
  std::string ca_file;                             // trusted certificates for TLS: see TlsTrust
  std::chrono::milliseconds connect_timeout{500};  // until the replies to the first commands
  std::chrono::milliseconds reply_timeout{50};
  std::size_t commands_max = 4'096;  // without a reply yet; further ones are rejected
  std::size_t bytes_max = 8u << 20;  // of those commands
};

// For a connection with subscriptions: the commands to send after each connect, and the receiver of
// all replies.
struct RedisConnectionHooks {
  std::function<std::vector<Command>()> greet = nullptr;
  std::function<void(Reply)> hear = nullptr;
};

class RedisConnection {
 public:
  using Callback = std::function<void(Result<Reply>)>;

  // `random` must outlive this object.
  RedisConnection(LinkOptions options, Random& random, RedisConnectionHooks hooks = {});
  RedisConnection(const RedisConnection&) = delete;
  RedisConnection& operator=(const RedisConnection&) = delete;
  // Commands fail with `unavailable` if they have no reply yet.
  ~RedisConnection();

  // Sends a command and calls `ended`, if that is not null, with its reply. An error of Redis is
  // also a reply.
  void start(const Command& command, Callback ended);
  bool is_up() const { return is_up_; }
  // Whether the first attempt to connect has succeeded or failed.
  bool has_tried() const { return has_tried_; }
  // The reason why it is not connected, without the password; empty while it is.
  std::string trouble() const;

 private:
  using Moment = std::chrono::steady_clock::time_point;
  struct Waiting {
    Callback ended;  // null after it was called because the reply is late
    std::size_t bytes = 0;
    Moment late_at;
    CircuitBreaker::Pass pass;
    bool is_late = false;
  };
  struct New {
    std::string bytes;
    Waiting waiting;
  };

  bool listens() const { return static_cast<bool>(hooks_.hear); }
  void serve();
  void wait_for_news();
  void look_at_time();
  void begin_connecting(Moment now);
  void greet();
  void take_new();
  void take_replies();
  Result<Done> take_reply(Reply reply);
  Result<Done> take_greeting(const Reply& reply);
  void become_up();
  void tell_late(Moment now);
  void lose(const Error& why);
  Moment next_due() const;

  const LinkOptions options_;
  Random& random_;
  const RedisConnectionHooks hooks_;

  mutable std::mutex mutex_;
  // Protected by mutex_.
  std::deque<New> new_;
  std::size_t commands_ = 0;  // new ones, and those without a reply
  std::size_t bytes_ = 0;
  CircuitBreaker breaker_;
  std::string trouble_;

  std::atomic<bool> is_stopping_ = false;
  std::atomic<bool> is_up_ = false;
  std::atomic<bool> is_late_ = false;  // a reply is late
  std::atomic<bool> has_tried_ = false;

  // Used by the connection's thread only.
  Socket socket_;
  ReplyReader reader_;
  std::deque<Waiting> waiting_;  // sent commands without a reply, in order
  int greetings_ = 0;            // outstanding replies to the first commands
  bool is_login_next_ = false;   // the next of them is the reply to a password
  int failures_ = 0;             // consecutive failed connections
  Moment due_;                   // time to connect, to give up connecting, or to send a ping
  Moment heard_;

  Wakeup wakeup_;
  std::thread thread_;  // last: it uses everything above
};

// Returns "Redis answered: ..." with the first printable characters of the reply.
Error refusal(const Reply& reply);

}  // namespace belay::redis
