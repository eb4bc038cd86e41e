#include "redis/client.h"

#include <condition_variable>

#include "redis/channels.h"

namespace belay::redis {
namespace {

Result<Reply> judged(Result<Reply> reply) {
  if (reply.ok() && reply->kind == Reply::Kind::error) return refusal(*reply);
  return reply;
}

// A reply that one thread waits for and another sets.
struct Handed {
  std::mutex mutex;
  std::condition_variable changed;
  std::optional<Result<Reply>> reply;
};

// Checks the condition every 2 ms; blocks the thread.
template <typename Condition>
bool looked_for(std::chrono::milliseconds longest, const Condition& condition) {
  std::mutex mutex;
  std::condition_variable never;
  constexpr std::chrono::milliseconds look{2};
  std::unique_lock lock(mutex);
  for (auto left = longest; left.count() > 0 && !condition(); left -= look) {
    never.wait_for(lock, look);
  }
  return condition();
}

// In addition to the connection's own timeout, in case its thread is not scheduled in time.
constexpr std::chrono::milliseconds grace{20};

}  // namespace

std::uint64_t Channels::add(std::string channel, Client::Heard heard) {
  std::lock_guard lock(mutex_);
  bool is_first = !is_heard(channel);
  listeners_[++last_id_] = {channel, std::move(heard)};
  if (is_closed_) return last_id_;
  if (!link_) {
    RedisConnectionHooks hooks;
    hooks.greet = [this] { return subscribe_all(); };
    hooks.hear = [this](Reply reply) { hear(reply); };
    link_ = std::make_unique<RedisConnection>(options_, random_, std::move(hooks));
  } else if (is_first) {
    link_->start({"SUBSCRIBE", channel}, nullptr);
  }
  return last_id_;
}

void Channels::remove(std::uint64_t id) {
  std::lock_guard lock(mutex_);
  auto found = listeners_.find(id);
  if (found == listeners_.end()) return;
  std::string channel = std::move(found->second.channel);
  listeners_.erase(found);
  if (link_ && !is_heard(channel)) link_->start({"UNSUBSCRIBE", channel}, nullptr);
}

void Channels::call(std::uint64_t id, std::string_view text) {
  std::lock_guard lock(mutex_);
  auto found = listeners_.find(id);
  if (found != listeners_.end()) found->second.heard(text);
}

void Channels::close() {
  std::unique_ptr<RedisConnection> ended;
  {
    std::lock_guard lock(mutex_);
    is_closed_ = true;
    ended = std::move(link_);
  }
}

bool Channels::hears() {
  std::lock_guard lock(mutex_);
  if (!link_ || !link_->is_up()) return false;
  for (const auto& [id, each] : listeners_) {
    if (!confirmed_.contains(each.channel)) return false;
  }
  return true;
}

bool Channels::is_heard(const std::string& channel) const {
  for (const auto& [id, each] : listeners_) {
    if (each.channel == channel) return true;
  }
  return false;
}

std::vector<Command> Channels::subscribe_all() {
  std::lock_guard lock(mutex_);
  confirmed_.clear();
  std::set<std::string> names;
  for (const auto& [id, each] : listeners_) names.insert(each.channel);
  std::vector<Command> commands;
  for (const std::string& each : names) commands.push_back({"SUBSCRIBE", each});
  return commands;
}

void Channels::hear(const Reply& reply) {
  if (reply.items.size() != 3) return;
  const std::string& kind = reply.items[0].text;
  const std::string& channel = reply.items[1].text;
  std::lock_guard lock(mutex_);
  if (kind == "subscribe") confirmed_.insert(channel);
  if (kind == "unsubscribe") confirmed_.erase(channel);
  if (kind != "message") return;
  for (const auto& [id, each] : listeners_) {
    if (each.channel == channel) each.heard(reply.items[2].text);
  }
}

ChannelSubscription::~ChannelSubscription() {
  if (channels_) channels_->remove(id_);
}

Client::Client(ClientOptions options, Random& random)
    : options_(std::move(options)),
      channels_(std::make_shared<Channels>(options_.link, random)),
      commands_(options_.link, random) {}

Client::~Client() { channels_->close(); }

Task<Result<Reply>> Client::call(Command command) {
  Completion<Result<Reply>> completion;
  commands_.start(command,
                  [completion](Result<Reply> reply) { completion.complete(std::move(reply)); });
  auto reply = co_await completion;
  co_return judged(std::move(reply));
}

Result<Reply> Client::call_and_wait(const Command& command) {
  auto handed = std::make_shared<Handed>();
  commands_.start(command, [handed](Result<Reply> reply) {
    std::lock_guard lock(handed->mutex);
    handed->reply.emplace(std::move(reply));
    handed->changed.notify_one();
  });
  std::unique_lock lock(handed->mutex);
  bool came = handed->changed.wait_for(lock, options_.link.reply_timeout + grace,
                                       [&] { return handed->reply.has_value(); });
  if (!came) return error(ErrorCode::unavailable, "Redis did not respond in time.");
  return judged(*std::move(handed->reply));
}

void Client::send(const Command& command) { commands_.start(command, nullptr); }

void Client::publish(std::string_view channel, std::string_view text) {
  send({"PUBLISH", name(channel), std::string(text)});
}

ChannelSubscription Client::subscribe(std::string_view channel, Heard heard) {
  std::uint64_t id = channels_->add(name(channel), std::move(heard));
  return ChannelSubscription(channels_, id);
}

ChannelSubscription Client::subscribe_with_kept(std::string_view channel, Heard heard) {
  std::uint64_t id = channels_->add(name(channel), std::move(heard));
  commands_.start({"GET", name(channel)}, [channels = channels_, id](Result<Reply> reply) {
    if (reply.ok() && reply->kind == Reply::Kind::text) channels->call(id, reply->text);
  });
  return ChannelSubscription(channels_, id);
}

bool Client::wait_until_up(std::chrono::milliseconds longest) const {
  return looked_for(longest, [this] { return is_up(); });
}

bool Client::wait_for_first_try(std::chrono::milliseconds longest) const {
  return looked_for(longest, [this] { return commands_.has_tried(); });
}

bool Client::hears() const { return channels_->hears(); }

}  // namespace belay::redis
