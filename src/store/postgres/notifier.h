#pragma once
// store/postgres/notifier.h - wakes processes on one database by LISTEN and NOTIFY.
//
// One thread with its own connection; both start at the first use. Each queue of a schema has a
// channel. Notifications within 50 ms are sent together, one per queue, without a payload. While
// there is no connection, notifications are lost; after a reconnect every listener is called once.
//
// If a pooler assigns another connection to every transaction, no notification arrives, without any
// other effect: use the address of the server itself.
//
// Threading: any method from any thread; listeners are called on the notifier's thread.

#include <map>
#include <mutex>
#include <set>
#include <string>
#include <thread>

#include "belay/hints.h"
#include "store/postgres/address.h"
#include "store/postgres/connection.h"

namespace belay::postgres {

// Returns the channel of a queue in a schema, of fixed length whatever the queue's name.
std::string channel_of(std::string_view schema, std::string_view queue);

class Notifier final : public WorkNotifier {
 public:
  explicit Notifier(Address address);
  Notifier(const Notifier&) = delete;
  Notifier& operator=(const Notifier&) = delete;
  // Sends pending notifications if there is a connection or one can be opened now.
  ~Notifier() override;

  void notify(std::string_view queue) override;
  Subscription subscribe(std::string_view queue, std::function<void()> called) override;

  // Whether it listens to the channels of all subscriptions.
  bool is_listening() const;

 private:
  using Time = std::chrono::steady_clock::time_point;

  // The listeners. Shared with their subscriptions, which can outlive the notifier.
  struct Listeners {
    struct One {
      std::string channel;
      std::function<void()> called;
    };
    // Held during a call, so that a listener is never called after its subscription has ended.
    // Recursive: a listener can end its subscription while it is called.
    std::recursive_mutex mutex;
    std::map<std::uint64_t, One> all;
    std::uint64_t last = 0;
  };
  // A pipe that wakes the thread from poll().
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
  // Shared, because a subscription that outlives the notifier rings it.
  const std::shared_ptr<Bell> bell_ = std::make_shared<Bell>();

  mutable std::mutex mutex_;
  // Protected by mutex_.
  std::set<std::string> pending_;  // channels that must be notified
  std::set<std::string> heard_;    // channels that this connection listens to
  bool is_stopping_ = false;

  // Used by the notifier's thread only.
  std::unique_ptr<Connection> connection_;
  std::chrono::milliseconds pause_{0};  // after the last failure
  Time connect_at_;
  Time tell_at_;

  std::thread thread_;
};

}  // namespace belay::postgres
