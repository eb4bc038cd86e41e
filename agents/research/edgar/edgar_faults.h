#pragma once
// agents/research/edgar/edgar_faults.h - errors of responses of the SEC, and the delays before
// retries.
//
// The SEC permits 10 requests per second of all machines of a user. Above that, and for requests
// without a declared User-Agent, it responds with 403 or 429 and a page that names the reason. See
// https://www.sec.gov/search-filings/edgar-search-assistance/accessing-edgar-data. Pure.

#include <chrono>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "belay/clock.h"
#include "belay/http.h"
#include "belay/result.h"

namespace belay::research {

// Reads the value of a header Retry-After: seconds, or a date, "Sat, 21 Nov 2026 12:00:30 GMT". At
// most one day; empty for other texts.
std::optional<std::chrono::milliseconds> delay_of(std::string_view retry_after, Instant now);

struct ResponseFault {
  Error error;
  bool is_temporary = false;  // a retry can succeed soon
};

// Returns the error of a response that is not a 200, nor the 304 that was requested. `what` names
// the requested object in the message, `page` is the beginning of the response's body.
ResponseFault fault_of(const HttpReply& reply, std::string_view page, const std::string& what,
                       Instant now);
// Returns that of a page, with status 200, instead of data.
ResponseFault page_fault(std::string_view page, const std::string& what);

// Returns the title of a page as one line, at most 100 characters; empty if it has none.
std::string page_title(std::string_view page);

struct RetryPlan {
  int attempts = 4;
  std::chrono::milliseconds base{1'000};  // before the first retry; then doubled
  std::chrono::milliseconds cap{30'000};
  std::chrono::milliseconds wait_max{60'000};  // a longer Retry-After ends the attempts
};

// Returns the delay before the next attempt after `failures` failures in a row, with up to 20 % of
// jitter from `bits`; empty: no further attempt.
std::optional<std::chrono::milliseconds> delay_before_attempt(const RetryPlan& plan, int failures,
                                                              const Error& why, std::uint64_t bits);

}  // namespace belay::research
