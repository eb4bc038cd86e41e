#include "store/postgres/notifier.h"

#include <fcntl.h>
#include <poll.h>
#include <unistd.h>

#include <algorithm>
#include <system_error>

#include "base/start_thread.h"
#include "belay/store.h"

namespace belay::postgres {
namespace {

using std::chrono::milliseconds;
using std::chrono::steady_clock;

constexpr milliseconds between_notifies{50};
constexpr milliseconds first_retry_pause{100};
constexpr milliseconds longest_retry_pause{5'000};
// LISTEN and NOTIFY need no long work: if a server takes longer, it is unavailable.
constexpr milliseconds patience{5'000};
// The longest wait without work. A lost connection ends it earlier (TCP keepalive).
constexpr milliseconds longest_idle_wait{60'000};

// The address with a shorter connect_timeout than the store's: notifications are only hints.
Address hasty(Address address) {
  for (auto& [name, value] : address.parameters) {
    if (name == "connect_timeout") value = "2";
    if (name == "application_name" && value == "belay") value = "belay notifier";
  }
  return address;
}

}  // namespace

std::string channel_of(std::string_view schema, std::string_view queue) {
  std::string whole(schema);
  whole += '\0';  // separates: no name of a schema contains it
  whole += queue;
  return "belay_wake_" + to_hex(sha256(whole)).substr(0, 32);
}

Notifier::Bell::Bell() {
  if (::pipe2(ends_, O_NONBLOCK | O_CLOEXEC) != 0) ends_[0] = ends_[1] = -1;
}

Notifier::Bell::~Bell() {
  for (int end : ends_) {
    if (end >= 0) ::close(end);
  }
}

// A full pipe wakes the thread as well: the failed write can be ignored.
void Notifier::Bell::ring() {
  char one = 1;
  if (::write(ends_[1], &one, 1) < 0) return;
}

void Notifier::Bell::silence() {
  char some[64];
  while (::read(ends_[0], some, sizeof some) > 0) {
  }
}

Notifier::Notifier(Address address) : address_(hasty(std::move(address))) {}

Notifier::~Notifier() {
  {
    std::lock_guard lock(mutex_);
    is_stopping_ = true;
  }
  bell_->ring();
  if (thread_.joinable()) thread_.join();
}

// If there is no thread, or no pipe to wake it, no notifications are sent or received: workers then
// find runs by polling.
void Notifier::start() {
  if (thread_.joinable() || bell_->socket() < 0) return;
  try {
    thread_ = start_thread([this] { serve(); });
  } catch (const std::system_error&) {
    pending_.clear();
  }
}

void Notifier::notify(std::string_view queue) {
  std::lock_guard lock(mutex_);
  bool is_first = pending_.empty();
  pending_.insert(channel_of(address_.schema, queue));
  start();
  if (is_first) bell_->ring();
}

Subscription Notifier::subscribe(std::string_view queue, std::function<void()> called) {
  std::uint64_t id = 0;
  {
    std::lock_guard lock(listeners_->mutex);
    id = ++listeners_->last;
    listeners_->all[id] = {channel_of(address_.schema, queue), std::move(called)};
  }
  {
    std::lock_guard lock(mutex_);
    start();
  }
  bell_->ring();
  return Subscription(bell_.get(), [listeners = listeners_, bell = bell_, id](void*) {
    {
      std::lock_guard lock(listeners->mutex);
      listeners->all.erase(id);
    }
    bell->ring();
  });
}

std::set<std::string> Notifier::wanted() const {
  std::set<std::string> channels;
  std::lock_guard lock(listeners_->mutex);
  for (const auto& [id, one] : listeners_->all) channels.insert(one.channel);
  return channels;
}

bool Notifier::is_listening() const {
  std::set<std::string> channels = wanted();
  std::lock_guard lock(mutex_);
  return channels == heard_;
}

void Notifier::call(const std::vector<std::string>& channels) {
  std::set<std::string> told(channels.begin(), channels.end());
  std::lock_guard lock(listeners_->mutex);
  std::vector<std::uint64_t> ids;
  for (const auto& [id, one] : listeners_->all) {
    if (told.contains(one.channel)) ids.push_back(id);
  }
  for (std::uint64_t id : ids) {
    auto found = listeners_->all.find(id);
    if (found == listeners_->all.end()) continue;
    auto called = found->second.called;
    called();
  }
}

void Notifier::call_everybody() {
  std::set<std::string> all = wanted();
  call({all.begin(), all.end()});
}

bool Notifier::connect() {
  if (connection_) return !connection_->is_lost();
  if (steady_clock::now() < connect_at_) return false;
  auto opened = Connection::open(address_);
  if (!opened.ok()) return false;
  connection_ = *std::move(opened);
  connection_->set_patience(patience);
  return true;
}

// Pending notifications are dropped: workers find the runs by polling.
void Notifier::give_up_connection() {
  bool has_failed = connection_ || steady_clock::now() >= connect_at_;
  connection_.reset();
  if (has_failed) {
    pause_ = std::clamp(pause_ * 2, first_retry_pause, longest_retry_pause);
    connect_at_ = steady_clock::now() + pause_;
  }
  std::lock_guard lock(mutex_);
  pending_.clear();
  heard_.clear();
}

// Returns false if the connection failed. The names of channels need no quotes (channel_of()).
bool Notifier::listen() {
  std::set<std::string> channels = wanted(), heard;
  {
    std::lock_guard lock(mutex_);
    heard = heard_;
  }
  if (channels == heard) return true;
  for (const std::string& channel : channels) {
    if (!heard.contains(channel)) connection_->send("LISTEN " + channel);
  }
  for (const std::string& channel : heard) {
    if (!channels.contains(channel)) connection_->send("UNLISTEN " + channel);
  }
  auto done = connection_->sync();
  if (!done.ok()) return false;
  bool is_more = !std::includes(heard.begin(), heard.end(), channels.begin(), channels.end());
  {
    std::lock_guard lock(mutex_);
    heard_ = std::move(channels);
  }
  // Notifications before LISTEN took effect did not arrive: call all listeners.
  if (is_more) call_everybody();
  return true;
}

bool Notifier::tell(Time now) {
  std::set<std::string> channels;
  {
    std::lock_guard lock(mutex_);
    if (now < tell_at_ && !is_stopping_) return true;
    channels.swap(pending_);
  }
  if (channels.empty()) return true;
  tell_at_ = now + between_notifies;
  Column names(Type::text);
  for (const std::string& channel : channels) names.add(std::string_view(channel));
  // A hint need not be durable. For this transaction only, because a pooler can assign the
  // connection to other clients.
  connection_->send("SELECT set_config('synchronous_commit', 'off', true)");
  auto told = connection_->query("SELECT pg_notify(channel, '') FROM unnest($1) AS channel",
                                 Parameters().add(names));
  return told.ok();
}

milliseconds Notifier::until_next(Time now) const {
  auto left = [now](Time when) {
    return std::max(std::chrono::ceil<milliseconds>(when - now), milliseconds(0));
  };
  if (!connection_) return left(connect_at_);
  std::lock_guard lock(mutex_);
  return pending_.empty() ? longest_idle_wait : left(tell_at_);
}

void Notifier::wait(milliseconds longest) {
  pollfd sockets[2] = {{bell_->socket(), POLLIN, 0}, {-1, POLLIN, 0}};
  if (connection_) sockets[1].fd = connection_->socket();
  (void)::poll(sockets, 2, static_cast<int>(longest.count()));
  bell_->silence();
  if (connection_ && sockets[1].revents != 0) {
    (void)connection_->wait_for_notifications(milliseconds(0));
  }
}

void Notifier::serve() {
  while (true) {
    bool is_last = false;
    {
      std::lock_guard lock(mutex_);
      is_last = is_stopping_;
      if (is_last && pending_.empty()) return;
    }
    bool is_up = connect();
    if (is_up) is_up = (is_last || listen()) && tell(steady_clock::now());
    if (is_last) return;
    if (is_up) {
      pause_ = milliseconds(0);
      call(connection_->take_notifications());
    } else {
      give_up_connection();
    }
    wait(until_next(steady_clock::now()));
  }
}

}  // namespace belay::postgres

namespace belay {

Result<std::unique_ptr<WorkNotifier>> open_postgres_wake_up(const std::string& url,
                                                            const std::string& notify_url) {
  BELAY_TRY(postgres::Address store, postgres::address_from(url));
  postgres::Address address = store;
  if (!notify_url.empty()) {
    BELAY_TRY(address, postgres::address_from(notify_url));
    address.schema = store.schema;
  }
  std::unique_ptr<WorkNotifier> wake_up = std::make_unique<postgres::Notifier>(std::move(address));
  return wake_up;
}

}  // namespace belay
