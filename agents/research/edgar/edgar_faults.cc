#include "agents/research/edgar/edgar_faults.h"

#include <algorithm>
#include <array>
#include <charconv>

#include "belay/output.h"
#include "belay/value.h"

namespace belay::research {
namespace {

using std::chrono::milliseconds;

constexpr std::int64_t kDelaySecondsMax = 24 * 3600;
constexpr std::size_t kTitleColumnsMax = 100;
constexpr std::size_t kTitleBytesMax = 400;
constexpr std::uint64_t kJitterPercentMax = 20;
constexpr int kRedirectFirst = 300;
constexpr int kForbidden = 403;
constexpr int kNotFound = 404;
constexpr int kGone = 410;
constexpr int kTooManyRequests = 429;
constexpr int kServerFault = 500;

std::string lower_case_of(std::string_view text) {
  std::string lower(text);
  for (char& c : lower) {
    if (c >= 'A' && c <= 'Z') c = static_cast<char>(c - 'A' + 'a');
  }
  return lower;
}

std::optional<std::int64_t> number_of(std::string_view text) {
  std::int64_t number = 0;
  auto [end, fault] = std::from_chars(text.data(), text.data() + text.size(), number);
  bool is_whole = !text.empty() && end == text.data() + text.size();
  if (is_whole && fault == std::errc::result_out_of_range && text.front() != '-') {
    return kDelaySecondsMax;
  }
  if (!is_whole || fault != std::errc() || number < 0) return std::nullopt;
  return number;
}

// Reads "Sat, 21 Nov 2026 12:00:30 GMT".
std::optional<Instant> http_date(std::string_view text) {
  constexpr std::size_t kDateBytes = 29;
  constexpr std::array<std::string_view, 12> kMonths = {"Jan", "Feb", "Mar", "Apr", "May", "Jun",
                                                        "Jul", "Aug", "Sep", "Oct", "Nov", "Dec"};
  if (text.size() != kDateBytes || !text.ends_with(" GMT")) return std::nullopt;
  auto month = std::find(kMonths.begin(), kMonths.end(), text.substr(8, 3));
  if (month == kMonths.end()) return std::nullopt;
  std::string number = std::to_string(month - kMonths.begin() + 1);
  if (number.size() == 1) number.insert(0, 1, '0');
  return instant_from(std::string(text.substr(12, 4)) + "-" + number + "-" +
                      std::string(text.substr(5, 2)) + "T" + std::string(text.substr(17, 8)) + "Z");
}

std::string host_of(const HttpReply& reply) {
  std::size_t begin = reply.url.find("://");
  begin = begin == reply.url.npos ? 0 : begin + 3;
  std::string host = reply.url.substr(begin, reply.url.find_first_of("/:", begin) - begin);
  return host.empty() ? "The server" : host;
}

// "data.sec.gov refused the company facts of CIK 0000320193 with status 403".
std::string refusal_of(const HttpReply& reply, const std::string& what) {
  return host_of(reply) + " refused " + what + " with status " + std::to_string(reply.status);
}

std::string titled(std::string_view page) {
  std::string title = page_title(page);
  return title.empty() ? "" : " (\"" + title + "\")";
}

ResponseFault forbidden_fault(const HttpReply& reply, std::string_view page,
                              const std::string& what, std::optional<milliseconds> delay) {
  std::string lower = lower_case_of(page);
  std::string refusal = refusal_of(reply, what) + titled(page);
  if (lower.find("undeclared automated tool") != lower.npos) {
    return {error(ErrorCode::forbidden,
                  refusal +
                      ": it does not accept the User-Agent. Declare a name and a mail address "
                      "that reaches you.")};
  }
  bool is_limit = lower.find("request rate threshold") != lower.npos ||
                  lower.find("traffic limit") != lower.npos;
  if (!is_limit && !delay) {
    return {error(ErrorCode::forbidden, refusal + ". Check the declared User-Agent.")};
  }
  Error limit =
      error(ErrorCode::unavailable,
            refusal + ": too many requests from this address. Fetch again in 10 minutes.");
  limit.retry_after = delay;
  // Without a delay, the SEC ends its refusal only after 10 minutes without a request.
  return {std::move(limit), delay.has_value()};
}

}  // namespace

std::optional<milliseconds> delay_of(std::string_view retry_after, Instant now) {
  std::optional<std::int64_t> seconds = number_of(retry_after);
  if (!seconds) {
    std::optional<Instant> date = http_date(retry_after);
    if (!date) return std::nullopt;
    seconds = std::chrono::ceil<std::chrono::seconds>(*date - now).count();
  }
  return std::chrono::seconds(std::clamp<std::int64_t>(*seconds, 0, kDelaySecondsMax));
}

std::string page_title(std::string_view page) {
  std::string lower = lower_case_of(page);
  std::size_t begin = lower.find("<title");
  begin = begin == lower.npos ? begin : lower.find('>', begin);
  std::size_t end = begin == lower.npos ? begin : lower.find('<', begin);
  if (end == lower.npos) return {};
  std::string_view title = page.substr(begin + 1, end - begin - 1).substr(0, kTitleBytesMax);
  if (first_invalid_utf8(title)) return {};
  std::string line = one_line(title);
  std::size_t first = std::min(line.find_first_not_of(' '), line.size());
  line = line.substr(first, line.find_last_not_of(' ') + 1 - first);
  return shortened(line, kTitleColumnsMax, "...");
}

ResponseFault fault_of(const HttpReply& reply, std::string_view page, const std::string& what,
                       Instant now) {
  int status = reply.status;
  std::optional<milliseconds> delay = delay_of(reply.header("Retry-After"), now);
  if (status == kForbidden) return forbidden_fault(reply, page, what, delay);
  if (status == kNotFound || status == kGone) {
    return {error(ErrorCode::not_found, host_of(reply) + " does not have " + what + ".")};
  }
  if (status == kTooManyRequests || status >= kServerFault) {
    Error later = error(ErrorCode::unavailable,
                        refusal_of(reply, what) + titled(page) + ". Fetch again later.");
    later.retry_after = delay;
    return {std::move(later), true};
  }
  if (status >= kRedirectFirst && status < 400) {
    return {error(ErrorCode::forbidden, host_of(reply) + " redirects the request for " + what +
                                            " to another address. Redirects are not followed.")};
  }
  return {error(ErrorCode::invalid, refusal_of(reply, what) + titled(page) + ".")};
}

ResponseFault page_fault(std::string_view page, const std::string& what) {
  return {error(ErrorCode::unavailable, "The response to the request for " + what + " is a page" +
                                            titled(page) + ", not data. Fetch again later.")};
}

std::optional<milliseconds> delay_before_attempt(const RetryPlan& plan, int failures,
                                                 const Error& why, std::uint64_t bits) {
  if (failures >= plan.attempts) return std::nullopt;
  milliseconds delay = plan.base;
  for (int i = 1; i < failures && delay < plan.cap; ++i) delay *= 2;
  delay = std::min(delay, plan.cap);
  auto percent = static_cast<std::int64_t>(100 + bits % (kJitterPercentMax + 1));
  delay = delay * percent / 100;
  if (why.retry_after) delay = std::max(delay, *why.retry_after);
  if (why.retry_after && *why.retry_after > plan.wait_max) return std::nullopt;
  return delay;
}

}  // namespace belay::research
