#include "redis/redis_limit.h"

namespace belay::redis {
namespace {

constexpr std::int64_t minute_us = 60'000'000;

// KEYS[1]: the moment by which all that was let through would have come one after the other.
// ARGV[1]: microseconds between two. Answers 0, or how long to wait. Whatever stands there counts
// as a minute's worth at the most.
constexpr const char* script = R"lua(
local time = redis.call('TIME')
local now = tonumber(time[1]) * 1000000 + tonumber(time[2])
local step = tonumber(ARGV[1])
local minute = 60000000
local held = redis.call('GET', KEYS[1])
local at = math.max(held and tonumber(held) or now, now)
at = math.min(at, now + minute) + step
if at - now > minute then return math.ceil(at - now - minute) end
redis.call('SET', KEYS[1], string.format('%.0f', at), 'PX', math.ceil((at - now) / 1000) + 1)
return 0
)lua";

}  // namespace

Task<std::optional<std::chrono::milliseconds>> RedisLimit::take(std::string name,
                                                                std::size_t per_minute) {
  std::optional<std::chrono::milliseconds> wait;
  if (per_minute == 0) co_return wait;
  std::int64_t step = std::max<std::int64_t>(minute_us / static_cast<std::int64_t>(per_minute), 1);
  Command command{"EVAL", script, "1", client_.name("limit:" + name), std::to_string(step)};
  auto reply = co_await client_.call(std::move(command));
  if (!reply.ok() || reply->kind != Reply::Kind::number) co_return wait;
  if (reply->number < 0 || reply->number > minute_us) co_return wait;
  wait = std::chrono::ceil<std::chrono::milliseconds>(std::chrono::microseconds(reply->number));
  co_return wait;
}

}  // namespace belay::redis
