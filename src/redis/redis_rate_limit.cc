#include "redis/redis_rate_limit.h"

namespace belay::redis {
namespace {

constexpr std::int64_t minute_us = 60'000'000;

// KEYS[1]: the time at which all permitted requests would be done if they were evenly spaced.
// ARGV[1]: the interval in microseconds. Returns 0, or the time to wait. A stored value counts for
// at most one minute, so that an invalid one cannot block longer.
constexpr const char* take_script = R"lua(
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

// Undoes one request, with the same key and argument. Does nothing if its minute is over.
constexpr const char* give_back_script = R"lua(
local held = redis.call('GET', KEYS[1])
if not held or not tonumber(held) then return 0 end
local time = redis.call('TIME')
local now = tonumber(time[1]) * 1000000 + tonumber(time[2])
local at = math.min(tonumber(held), now + 60000000) - tonumber(ARGV[1])
if at <= now then
  redis.call('DEL', KEYS[1])
else
  redis.call('SET', KEYS[1], string.format('%.0f', at), 'PX', math.ceil((at - now) / 1000) + 1)
end
return 0
)lua";

std::string step_of(std::size_t per_minute) {
  auto many = static_cast<std::int64_t>(per_minute);
  return std::to_string(std::max<std::int64_t>(minute_us / many, 1));
}

}  // namespace

Task<std::optional<std::chrono::milliseconds>> RedisRateLimit::acquire(std::string name,
                                                                       std::size_t per_minute) {
  std::optional<std::chrono::milliseconds> wait;
  if (per_minute == 0) co_return wait;
  Command command{"EVAL", take_script, "1", client_.name("limit:" + name), step_of(per_minute)};
  auto reply = co_await client_.call(std::move(command));
  if (!reply.ok() || reply->kind != Reply::Kind::number) co_return wait;
  if (reply->number < 0 || reply->number > minute_us) co_return wait;
  wait = std::chrono::ceil<std::chrono::milliseconds>(std::chrono::microseconds(reply->number));
  co_return wait;
}

Task<Done> RedisRateLimit::give_back(std::string name, std::size_t per_minute) {
  if (per_minute == 0) co_return Done{};
  Command command{"EVAL", give_back_script, "1", client_.name("limit:" + name),
                  step_of(per_minute)};
  (void)co_await client_.call(std::move(command));
  co_return Done{};
}

}  // namespace belay::redis
