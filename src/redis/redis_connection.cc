#include "redis/redis_connection.h"

#include <algorithm>

#include "base/start_thread.h"

namespace belay::redis {
namespace {

using std::chrono::milliseconds;
using std::chrono::steady_clock;

constexpr milliseconds pause_least{20};
constexpr milliseconds pause_most{5'000};
constexpr int pause_doublings_max = 8;
// The time without any received bytes after which a connection is closed: if a reply is late, and
// if the connection only listens.
constexpr int silence_in_timeouts = 10;
constexpr milliseconds silence_least{500};
constexpr milliseconds listening_silence_max{10'000};
constexpr milliseconds listening_answer_max{2'000};
constexpr std::size_t shown_bytes_max = 100;

DependencyOptions breaker_options() {
  DependencyOptions options;
  options.failure_threshold = 5;
  options.open_duration = milliseconds(1'000);
  return options;
}

// The circuit breaker takes wall-clock times but uses only their differences.
Instant as_instant(steady_clock::time_point at) {
  return Instant(std::chrono::duration_cast<Instant::duration>(at.time_since_epoch()));
}

Error away(const std::string& why) {
  return error(ErrorCode::unavailable, "Redis is unavailable: " + why + ".");
}

}  // namespace

Error refusal(const Reply& reply) {
  std::string shown = reply.text.substr(0, shown_bytes_max);
  for (char& letter : shown) {
    if (letter < ' ' || letter > '~') letter = '?';
  }
  return error(ErrorCode::invalid, "Redis responded: " + shown + ".");
}

RedisConnection::RedisConnection(LinkOptions options, Random& random, RedisConnectionHooks hooks)
    : options_(std::move(options)),
      random_(random),
      hooks_(std::move(hooks)),
      breaker_(breaker_options()),
      trouble_("no connection has been established yet") {
  thread_ = start_thread([this] { serve(); });
}

RedisConnection::~RedisConnection() {
  is_stopping_ = true;
  wakeup_.wake();
  thread_.join();
}

std::string RedisConnection::trouble() const {
  std::lock_guard lock(mutex_);
  return is_up_ ? "" : trouble_;
}

void RedisConnection::start(const Command& command, Callback ended) {
  std::string bytes = to_bytes(command);
  std::string refused;
  auto now = steady_clock::now();
  {
    std::unique_lock lock(mutex_);
    std::optional<CircuitBreaker::Pass> pass;
    if (!is_up_) {
      refused = trouble_;
    } else if (is_late_) {
      refused = "a reply is late";
    } else if (commands_ >= options_.commands_max || bytes_ + bytes.size() > options_.bytes_max) {
      refused = "its queue of requests is full";
    } else if (pass = breaker_.enter(as_instant(now)); !pass) {
      refused = "its replies were late";
    } else {
      Waiting waiting{std::move(ended), bytes.size(), now + options_.reply_timeout, *pass};
      ++commands_;
      bytes_ += waiting.bytes;
      new_.push_back({std::move(bytes), std::move(waiting)});
      lock.unlock();
      return wakeup_.wake();
    }
  }
  if (ended) ended(away(refused));
}

void RedisConnection::serve() {
  due_ = steady_clock::now();
  while (!is_stopping_) {
    look_at_time();
    take_new();
    if (auto went = socket_.go_on(); !went.ok()) lose(went.error());
    wait_for_news();
    wakeup_.clear();
    take_replies();
  }
  // Sends the commands that were started before the end.
  take_new();
  [[maybe_unused]] auto said = socket_.go_on();
  lose(error(ErrorCode::unavailable, "the connection was closed here"));
}

void RedisConnection::wait_for_news() {
  auto now = steady_clock::now();
  auto left = std::chrono::ceil<milliseconds>(next_due() - now);
  socket_.wait(wakeup_, std::clamp(left, milliseconds(0), pause_most));
}

RedisConnection::Moment RedisConnection::next_due() const {
  Moment due = due_;
  if (is_up_ && !listens()) due = Moment::max();
  for (const Waiting& each : waiting_) {
    if (each.is_late) continue;
    due = std::min(due, each.late_at);
    break;
  }
  if (is_late_) due = std::min(due, steady_clock::now() + options_.reply_timeout);
  return std::min(due, steady_clock::now() + pause_most);
}

void RedisConnection::look_at_time() {
  auto now = steady_clock::now();
  if (socket_.state() == Socket::State::closed) {
    if (now >= due_) begin_connecting(now);
    return;
  }
  if (!is_up_) {
    if (now >= due_) lose(socket_.silence());
    return;
  }
  if (!listens()) return tell_late(now);
  if (now < due_) return;
  if (now - heard_ >= listening_silence_max + listening_answer_max) {
    return lose(error(ErrorCode::unavailable, "it stopped responding"));
  }
  socket_.send(to_bytes({"PING"}));
  due_ = now + listening_answer_max;
}

void RedisConnection::begin_connecting(Moment now) {
  due_ = now + options_.connect_timeout;
  reader_ = ReplyReader();
  auto begun = socket_.begin(options_.address, options_.ca_file);
  if (!begun.ok()) return lose(begun.error());
  greet();
}

// Queues the first commands; they are sent when the connection is established. The reply to the
// last one shows that the connection can be used.
void RedisConnection::greet() {
  const Address& address = options_.address;
  greetings_ = 1;
  is_login_next_ = !address.password.empty();
  if (is_login_next_) {
    Command login{"AUTH"};
    if (!address.user.empty()) login.push_back(address.user);
    login.push_back(address.password);
    socket_.send(to_bytes(login));
    ++greetings_;
  }
  if (address.database != 0) {
    socket_.send(to_bytes({"SELECT", std::to_string(address.database)}));
    ++greetings_;
  }
  socket_.send(to_bytes({"PING"}));
}

void RedisConnection::take_new() {
  if (!is_up_) return;
  std::deque<New> fresh;
  {
    std::lock_guard lock(mutex_);
    fresh.swap(new_);
  }
  for (New& each : fresh) {
    socket_.send(each.bytes);
    waiting_.push_back(std::move(each.waiting));
  }
  if (!listens()) return;
  // Replies to subscriptions arrive among the messages, not in the order of commands.
  std::lock_guard lock(mutex_);
  for (const Waiting& each : waiting_) {
    bytes_ -= each.bytes;
    breaker_.ended(each.pass, CircuitBreaker::Verdict::worked, as_instant(steady_clock::now()));
  }
  commands_ -= waiting_.size();
  waiting_.clear();
}

void RedisConnection::take_replies() {
  auto came = socket_.receive();
  if (!came.ok()) return lose(came.error());
  if (came->empty()) return;
  heard_ = steady_clock::now();
  reader_.feed(*came);
  while (true) {
    auto reply = reader_.next();
    if (!reply.ok()) return lose(reply.error());
    if (!*reply) return;
    if (auto taken = take_reply(**std::move(reply)); !taken.ok()) return lose(taken.error());
  }
}

Result<Done> RedisConnection::take_reply(Reply reply) {
  if (!is_up_) return take_greeting(reply);
  if (listens()) {
    due_ = heard_ + listening_silence_max;
    hooks_.hear(std::move(reply));
    return Done{};
  }
  if (waiting_.empty()) return error(ErrorCode::corrupt, "it sent a reply without a request");
  Waiting waiting = std::move(waiting_.front());
  waiting_.pop_front();
  {
    std::lock_guard lock(mutex_);
    --commands_;
    bytes_ -= waiting.bytes;
    auto verdict = CircuitBreaker::Verdict::worked;
    if (!waiting.is_late) breaker_.ended(waiting.pass, verdict, as_instant(heard_));
  }
  if (is_late_) {
    is_late_ = std::any_of(waiting_.begin(), waiting_.end(),
                           [](const Waiting& each) { return each.is_late; });
  }
  if (waiting.ended) waiting.ended(std::move(reply));
  return Done{};
}

Result<Done> RedisConnection::take_greeting(const Reply& reply) {
  bool is_login = std::exchange(is_login_next_, false);
  if (reply.kind == Reply::Kind::error) {
    // The error does not quote the reply, which might contain the password.
    if (is_login) return error(ErrorCode::invalid, "it does not accept the password");
    return refusal(reply);
  }
  if (reply.kind != Reply::Kind::status)
    return error(ErrorCode::corrupt, "it is not a Redis server");
  if (--greetings_ == 0) become_up();
  return Done{};
}

void RedisConnection::become_up() {
  failures_ = 0;
  due_ = heard_ + listening_silence_max;
  // Before the first commands are collected: a subscription that is added while is_up_ is false is
  // among them.
  is_up_ = true;
  has_tried_ = true;
  if (!hooks_.greet) return;
  for (const Command& command : hooks_.greet()) socket_.send(to_bytes(command));
}

void RedisConnection::tell_late(Moment now) {
  std::vector<Callback> late;
  for (Waiting& each : waiting_) {
    if (each.late_at > now) break;
    if (std::exchange(each.is_late, true)) continue;
    is_late_ = true;
    std::lock_guard lock(mutex_);
    breaker_.ended(each.pass, CircuitBreaker::Verdict::failed, as_instant(now));
    late.push_back(std::exchange(each.ended, nullptr));
  }
  for (const Callback& ended : late) {
    if (ended)
      ended(away("no reply within " + std::to_string(options_.reply_timeout.count()) + " ms"));
  }
  if (waiting_.empty()) return;
  auto silence_max = std::max(silence_in_timeouts * options_.reply_timeout, silence_least);
  if (now - waiting_.front().late_at < silence_max) return;
  lose(error(ErrorCode::unavailable, "its replies do not arrive"));
}

void RedisConnection::lose(const Error& why) {
  is_up_ = false;
  is_late_ = false;
  socket_.close();
  std::deque<Waiting> told = std::exchange(waiting_, {});
  {
    std::lock_guard lock(mutex_);
    trouble_ = why.message;
    for (New& each : new_) told.push_back(std::move(each.waiting));
    // The breaker does not count a lost connection, which is detected without it.
    for (const Waiting& each : told) {
      auto verdict = CircuitBreaker::Verdict::unknown;
      if (!each.is_late) breaker_.ended(each.pass, verdict, as_instant(steady_clock::now()));
    }
    new_.clear();
    commands_ = 0;
    bytes_ = 0;
  }
  has_tried_ = true;  // after trouble_ was set, for callers that wait for the first attempt
  int doublings = std::min(failures_++, pause_doublings_max);
  auto longest = std::min(pause_least * (1 << doublings), pause_most);
  auto half = longest.count() / 2;
  milliseconds pause(
      half + static_cast<std::int64_t>(random_.bits() % static_cast<std::uint64_t>(half + 1)));
  due_ = steady_clock::now() + pause;
  for (const Waiting& each : told) {
    if (each.ended) each.ended(away(why.message));
  }
}

}  // namespace belay::redis
