// Errors of responses, and delays.

#include "agents/research/edgar/edgar_faults.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace belay::research {
namespace {

using namespace std::chrono_literals;
using ::testing::AllOf;
using ::testing::HasSubstr;

const Instant kNoon = *instant_from("2026-11-21T12:00:00Z");

HttpReply reply_with(int status, std::vector<HttpHeader> headers = {}) {
  HttpReply reply;
  reply.status = status;
  reply.url = "https://data.sec.gov:443/submissions/x.json";
  reply.headers = std::move(headers);
  return reply;
}

TEST(RetryDelay, IsInSecondsOrUntilADate) {
  EXPECT_EQ(delay_of("0", kNoon), 0ms);
  EXPECT_EQ(delay_of("7", kNoon), 7s);
  EXPECT_EQ(delay_of("99999999999999999999", kNoon), 24h);
  EXPECT_EQ(delay_of("Sat, 21 Nov 2026 12:00:30 GMT", kNoon), 30s);
  EXPECT_EQ(delay_of("Sat, 21 Nov 2026 11:00:30 GMT", kNoon), 0s);
  for (const char* text : {"", "-1", "7s", "1.5", "soon", "Sat, 21 Xyz 2026 12:00:30 GMT",
                           "Sat, 99 Nov 2026 12:00:30 GMT", "Sat, 21 Nov 2026 12:00:30 CET"}) {
    EXPECT_EQ(delay_of(text, kNoon), std::nullopt) << text;
  }
}

TEST(RetryDelay, DoublesUpToItsMaximum) {
  RetryPlan plan{.attempts = 9, .base = 100ms, .cap = 400ms, .wait_max = 1s};
  Error why = error(ErrorCode::unavailable, "x");
  EXPECT_EQ(delay_before_attempt(plan, 1, why, 0), 100ms);
  EXPECT_EQ(delay_before_attempt(plan, 2, why, 0), 200ms);
  EXPECT_EQ(delay_before_attempt(plan, 3, why, 0), 400ms);
  EXPECT_EQ(delay_before_attempt(plan, 8, why, 0), 400ms);
  EXPECT_EQ(delay_before_attempt(plan, 1, why, 20), 120ms);
  EXPECT_EQ(delay_before_attempt(plan, 9, why, 0), std::nullopt);
  why.retry_after = 700ms;
  EXPECT_EQ(delay_before_attempt(plan, 1, why, 0), 700ms);
  why.retry_after = 1001ms;
  EXPECT_EQ(delay_before_attempt(plan, 1, why, 0), std::nullopt);
}

TEST(ResponseFault, OfTheRateLimitIsTemporaryOnlyWithADelay) {
  std::string page = "<html><title>SEC.gov | Request Rate Threshold Exceeded</title></html>";
  ResponseFault limit = fault_of(reply_with(403), page, "the list", kNoon);
  EXPECT_FALSE(limit.is_temporary);
  EXPECT_EQ(limit.error.code, ErrorCode::unavailable);
  EXPECT_EQ(limit.error.message,
            "data.sec.gov refused the list with status 403 (\"SEC.gov | Request Rate Threshold "
            "Exceeded\"): too many requests from this address. Fetch again in 10 minutes.");
  ResponseFault with_delay = fault_of(reply_with(403, {{"retry-after", "3"}}), page, "x", kNoon);
  EXPECT_TRUE(with_delay.is_temporary);
  EXPECT_EQ(with_delay.error.retry_after, 3s);
}

TEST(ResponseFault, OfAnUndeclaredToolNamesTheUserAgent) {
  std::string page = "<title>SEC.gov | Your Request Originates from an Undeclared Automated Tool";
  ResponseFault fault = fault_of(reply_with(403), page + "</title>", "the list", kNoon);
  EXPECT_EQ(fault.error.code, ErrorCode::forbidden);
  EXPECT_FALSE(fault.is_temporary);
  EXPECT_THAT(fault.error.message, HasSubstr("it does not accept the User-Agent"));
  EXPECT_EQ(fault_of(reply_with(403), "", "x", kNoon).error.code, ErrorCode::forbidden);
}

TEST(ResponseFault, HasTheCodeOfItsStatus) {
  ResponseFault many = fault_of(reply_with(429, {{"Retry-After", "2"}}), "", "x", kNoon);
  EXPECT_TRUE(many.is_temporary);
  EXPECT_EQ(many.error.retry_after, 2s);
  EXPECT_TRUE(fault_of(reply_with(503), "", "x", kNoon).is_temporary);
  EXPECT_EQ(fault_of(reply_with(404), "", "x", kNoon).error.message,
            "data.sec.gov does not have x.");
  EXPECT_EQ(fault_of(reply_with(404), "", "x", kNoon).error.code, ErrorCode::not_found);
  EXPECT_EQ(fault_of(reply_with(301), "", "x", kNoon).error.code, ErrorCode::forbidden);
  EXPECT_EQ(fault_of(reply_with(304), "", "x", kNoon).error.code, ErrorCode::forbidden);
  EXPECT_EQ(fault_of(reply_with(400), "", "x", kNoon).error.code, ErrorCode::invalid);
  EXPECT_FALSE(fault_of(reply_with(400), "", "x", kNoon).is_temporary);
}

TEST(PageTitle, IsOneShortLine) {
  EXPECT_EQ(page_title("<HTML><TITLE lang=\"en\">\n SEC.gov |\tPage </TITLE>"), "SEC.gov | Page");
  EXPECT_EQ(page_title("<title>\xff</title>"), "");
  EXPECT_EQ(page_title("<title>never ends"), "");
  EXPECT_EQ(page_title("<title></title>"), "");
  EXPECT_EQ(page_title("<title"), "");
  EXPECT_LE(page_title("<title>" + std::string(5000, 'x') + "</title>").size(), 103u);
}

}  // namespace
}  // namespace belay::research
