#include "redis/redis_hints.h"

namespace belay::redis {
namespace {

constexpr std::chrono::milliseconds between_wakes{50};

std::string wake_channel(std::string_view queue) { return "wake:" + std::string(queue); }

}  // namespace

RedisNotifier::~RedisNotifier() {
  for (const auto& [queue, pause] : pauses_) executor_.cancel(pause.timer);
}

void RedisNotifier::notify(std::string_view queue) {
  auto pause = pauses_.find(queue);
  if (pause != pauses_.end()) {
    pause->second.is_told_again = true;
    return;
  }
  tell(std::string(queue));
}

void RedisNotifier::tell(const std::string& queue) {
  client_.publish(wake_channel(queue), "");
  Pause& pause = pauses_[queue];
  pause.is_told_again = false;
  pause.timer = executor_.call_after(between_wakes, [this, queue] {
    auto over = pauses_.extract(queue);
    if (over.mapped().is_told_again) tell(queue);
  });
}

Subscription RedisNotifier::subscribe(std::string_view queue, std::function<void()> called) {
  return std::make_shared<ChannelSubscription>(client_.subscribe(
      wake_channel(queue), [called = std::move(called)](std::string_view) { called(); }));
}

void RedisBroadcast::publish(std::string_view channel, std::string text) {
  auto sealed = seal_->seal(client_.name(channel), text);
  if (sealed) client_.publish(channel, *sealed);
}

Subscription RedisBroadcast::subscribe(std::string_view channel,
                                       std::function<void(std::string)> heard) {
  return std::make_shared<ChannelSubscription>(
      client_.subscribe(channel, opened(channel, std::move(heard))));
}

void RedisBroadcast::publish_retained(std::string_view channel, std::string text,
                                      std::chrono::milliseconds kept_for) {
  auto sealed = seal_->seal(client_.name(channel), text);
  if (!sealed) return;
  client_.publish(channel, *sealed);
  client_.send({"SET", client_.name(channel), *sealed, "PX", std::to_string(kept_for.count())});
}

Subscription RedisBroadcast::subscribe_retained(std::string_view channel,
                                                std::function<void(std::string)> heard) {
  return std::make_shared<ChannelSubscription>(
      client_.subscribe_with_kept(channel, opened(channel, std::move(heard))));
}

Client::Heard RedisBroadcast::opened(std::string_view channel,
                                     std::function<void(std::string)> heard) const {
  return [seal = seal_, name = client_.name(channel),
          heard = std::move(heard)](std::string_view bytes) {
    auto text = seal->open(name, bytes);
    if (text) heard(*std::move(text));
  };
}

}  // namespace belay::redis
