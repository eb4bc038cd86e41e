#pragma once
// redis/redis_connection.h - one connection to Redis, kept up by a thread of its own: commands go
// out one after another without waiting, replies come back in that order.
//
// While there is no connection, or a reply is late, every command fails at once: a Redis that is
// away or slow costs its users nothing but the first wait. It connects again by itself, after
// longer and longer pauses of a random part.
//
// Threading: any; `Ended` and the hooks are called on the link's thread, outside of its lock, or
// within start() where a command is refused. They must not block.

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
  std::string ca_file;                             // whom TLS believes: see TlsTrust
  std::chrono::milliseconds connect_timeout{500};  // until Redis has greeted us
  std::chrono::milliseconds reply_timeout{50};
  std::size_t commands_max = 4'096;  // without a reply yet; more are refused
  std::size_t bytes_max = 8u << 20;  // of those commands
};

// Of a link that listens: what it says once it is connected, and who hears what comes.
struct RedisConnectionHooks {
  std::function<std::vector<Command>()> greet = nullptr;
  std::function<void(Reply)> hear = nullptr;
};

class RedisConnection {
 public:
  using Callback = std::function<void(Result<Reply>)>;

  // `random` outlives it.
  RedisConnection(LinkOptions options, Random& random, RedisConnectionHooks hooks = {});
  RedisConnection(const RedisConnection&) = delete;
  RedisConnection& operator=(const RedisConnection&) = delete;
  // What has no reply yet is told `unavailable`.
  ~RedisConnection();

  // `ended` may be null: then nobody is told. An error that Redis answers is a reply, too.
  void start(const Command& command, Callback ended);
  bool is_up() const { return is_up_; }
  // Whether a first connection has been made, or has failed.
  bool has_tried() const { return has_tried_; }
  // Why it is not up, in a sentence without the password; empty while it is.
  std::string trouble() const;

 private:
  using Moment = std::chrono::steady_clock::time_point;
  struct Waiting {
    Callback ended;  // null once it was told that the reply is late
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
  std::size_t commands_ = 0;  // new ones, and those that wait
  std::size_t bytes_ = 0;
  CircuitBreaker breaker_;
  std::string trouble_;

  std::atomic<bool> is_stopping_ = false;
  std::atomic<bool> is_up_ = false;
  std::atomic<bool> is_late_ = false;  // a reply is
  std::atomic<bool> has_tried_ = false;

  // The thread's own.
  Socket socket_;
  ReplyReader reader_;
  std::deque<Waiting> waiting_;  // for replies, in order
  int greetings_ = 0;            // replies until it is up
  bool is_login_next_ = false;   // the next greeting answers a password
  int failures_ = 0;             // connections in a row that came to nothing
  Moment due_;                   // to connect, to have connected, or to ask whether it lives
  Moment heard_;

  Wakeup wakeup_;
  std::thread thread_;  // last: it uses everything above
};

// "Redis answered: ...": its first words, fit for a line.
Error refusal(const Reply& reply);

}  // namespace belay::redis
