#include "redis/redis_text_cache.h"

namespace belay::redis {
namespace {

constexpr std::size_t text_bytes_max = 1u << 20;
constexpr std::size_t text_key_bytes_max = 1u << 10;

bool is_text_key(const std::string& key) {
  return !key.empty() && key.size() <= text_key_bytes_max;
}

// Differs from the subjects of replies and of hints: their readers reject an encrypted text.
std::string subject_of_text(const std::string& name) { return "text:" + name; }

}  // namespace

Task<std::optional<std::string>> RedisTextCache::get(std::string key) {
  std::optional<std::string> found;
  if (!is_text_key(key)) co_return found;
  std::string name = client_.name(key);
  Command command{"GET", name};
  auto reply = co_await client_.call(std::move(command));
  if (!reply.ok() || reply->kind != Reply::Kind::text) co_return found;
  found = seal_->encrypts() ? seal_->open(subject_of_text(name), reply->text)
                            : std::optional(std::move(reply->text));
  // Another program can have written more than put() stores.
  if (found && found->size() > text_bytes_max) found.reset();
  co_return found;
}

void RedisTextCache::put(const std::string& key, std::string text, std::chrono::milliseconds ttl) {
  if (!is_text_key(key) || text.size() > text_bytes_max || ttl.count() <= 0) return;
  std::string name = client_.name(key);
  std::optional<std::string> stored =
      seal_->encrypts() ? seal_->seal(subject_of_text(name), text) : std::move(text);
  if (stored) client_.send({"SET", name, *std::move(stored), "PX", std::to_string(ttl.count())});
}

void RedisTextCache::erase(const std::string& key) {
  if (is_text_key(key)) client_.send({"DEL", client_.name(key)});
}

}  // namespace belay::redis
