#include "redis/redis_reply_cache.h"

namespace belay::redis {
namespace {

constexpr std::size_t answer_bytes_max = 1u << 20;

}  // namespace

std::string RedisReplyCache::name_of(const Digest& request) const {
  return client_.name("answer:" + to_hex(request));
}

Task<std::optional<std::string>> RedisReplyCache::get(Digest request) {
  std::optional<std::string> found;
  if (!seal_->encrypts()) co_return found;
  std::string name = name_of(request);
  Command command{"GET", name};
  auto reply = co_await client_.call(std::move(command));
  if (!reply.ok() || reply->kind != Reply::Kind::text) co_return found;
  found = seal_->open(name, reply->text);
  co_return found;
}

void RedisReplyCache::put(const Digest& request, std::string answer,
                          std::chrono::milliseconds ttl) {
  if (!seal_->encrypts() || answer.size() > answer_bytes_max || ttl.count() <= 0) return;
  std::string name = name_of(request);
  auto sealed = seal_->seal(name, answer);
  if (sealed) client_.send({"SET", name, *sealed, "PX", std::to_string(ttl.count())});
}

void RedisReplyCache::erase(const Digest& request) {
  if (seal_->encrypts()) client_.send({"DEL", name_of(request)});
}

}  // namespace belay::redis
