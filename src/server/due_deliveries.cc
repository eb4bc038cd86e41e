#include "server/due_deliveries.h"

#include "net/egress.h"

namespace belay::server {
namespace {

constexpr std::size_t kReceiverBytesMax = 2'048;
constexpr std::int64_t kFailuresMax = 12;
constexpr std::chrono::seconds kFirstDelay{1};
constexpr std::chrono::hours kLongestDelay{1};

}  // namespace

Result<Done> check_receiver(const std::string& url) {
  if (url.empty() || url.size() > kReceiverBytesMax) {
    return error(ErrorCode::invalid, "The address must have 1 to 2048 bytes.");
  }
  auto target = net::parse_target(url);
  if (!target.ok()) return std::move(target).error();
  return Done{};
}

Task<Result<Done>> deliver_to_receiver(HttpAccess& http, HttpCall call) {
  BELAY_CO_TRY(HttpReply reply, co_await http.send(std::move(call)));
  if (reply.status >= 200 && reply.status < 300) co_return Done{};
  co_return error(ErrorCode::unavailable,
                  "The receiver answered with status " + std::to_string(reply.status) + ".");
}

FailedDelivery after_failure(std::int64_t failures, const Error& failed) {
  FailedDelivery after;
  auto delay = kFirstDelay * (std::int64_t{1} << std::min<std::int64_t>(failures - 1, 12));
  after.delay = std::min<std::chrono::seconds>(delay, kLongestDelay);
  // Another attempt cannot succeed.
  bool is_refused = failed.code == ErrorCode::forbidden || failed.code == ErrorCode::invalid;
  after.ends = is_refused || failures >= kFailuresMax;
  return after;
}

}  // namespace belay::server
