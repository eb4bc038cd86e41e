#pragma once
// store/postgres/notifier.h - wakes processes on one database by LISTEN and NOTIFY.
//
// One thread with a connection of its own, made when first it is needed. What is told within a
// twentieth of a second goes out together, once a queue, without a payload: each queue of a schema
// has a channel. While there is no connection, what is told is lost and what was listened to is
// called once it is back.
//
// Behind a pooler that gives every transaction another connection nothing is heard, and nothing
// else goes wrong: name the server itself then.
//
// Threading: any method from any thread; what is called, on the notifier's.

#include <map>
#include <mutex>
#include <set>
#include <string>
#include <thread>

#include "belay/hints.h"
#include "store/postgres/address.h"
#include "store/postgres/connection.h"

namespace belay::postgres {

// The channel of a queue in a schema: one name for each, however long the queue's is.
std::string channel_of(std::string_view schema, std::string_view queue);

class Notifier final : public WorkNotifier {
 public:
  explicit Notifier(Address address);
  Notifier(const Notifier&) = delete;
  Notifier& operator=(const Notifier&) = delete;
  // Says what is still to be said, where there is a connection or one can be had at once.
  ~Notifier() override;

  void notify(std::string_view queue) override;
  Subscription subscribe(std::string_view queue, std::function<void()> called) override;

  // Whether it listens to all that somebody has subscribed to.
  bool is_listening() const;

 private:
  using Time = std::chrono::steady_clock::time_point;

  // Those who are to be called; they may leave when the notifier has gone.
  struct Listeners {
    struct One {
      std::string channel;
      std::function<void()> called;
    };
    // Held while somebody is called, so that whoever has left is not. Recursive: who is called
    // may leave.
    std::recursive_mutex mutex;
    std::map<std::uint64_t, One> all;
    std::uint64_t last = 0;
  };
  // A pipe through which the thread is told that there is something to do.
  class Bell {
   public:
    Bell();
    Bell(const Bell&) = delete;
    Bell& operator=(const Bell&) = delete;
    ~Bell();
    int socket() const { return ends_[0]; }
    void ring();
    void silence();

   private:
    int ends_[2] = {-1, -1};
  };

  void start();  // REQUIRES: mutex_
  void serve();
  bool connect();
  void give_up_connection();
  bool listen();
  bool tell(Time now);
  void call(const std::vector<std::string>& channels);
  void call_everybody();
  std::set<std::string> wanted() const;
  std::chrono::milliseconds until_next(Time now) const;
  void wait(std::chrono::milliseconds longest);

  const Address address_;
  const std::shared_ptr<Listeners> listeners_ = std::make_shared<Listeners>();
  // It may be rung by a listener that leaves after the notifier.
  const std::shared_ptr<Bell> bell_ = std::make_shared<Bell>();

  mutable std::mutex mutex_;
  // Protected by mutex_.
  std::set<std::string> pending_;  // channels that are to be told
  std::set<std::string> heard_;    // on this connection
  bool is_stopping_ = false;

  // The thread's own.
  std::unique_ptr<Connection> connection_;
  std::chrono::milliseconds pause_{0};  // after the last failure
  Time connect_at_;
  Time tell_at_;

  std::thread thread_;
};

}  // namespace belay::postgres
