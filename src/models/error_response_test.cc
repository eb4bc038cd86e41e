#include "models/error_response.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace belay::models {
namespace {

using namespace std::chrono_literals;
using ::testing::HasSubstr;
using ::testing::Not;

constexpr ErrorCode again = ErrorCode::unavailable;
constexpr ErrorCode never = ErrorCode::invalid;
constexpr ErrorCode spent = ErrorCode::exhausted;

Server server() {
  Server made;
  made.provider = "openai";
  made.model = "m-1";
  made.url = "http://user:secret@models.test:8080/v1?key=secret";
  made.key = "a-secret-key";
  return made;
}

const Instant now = *instant_from("2026-11-21T12:00:00Z");

struct Case {
  int status;
  const char* body;
  ErrorCode code;
};

const std::vector<Case> cases = {
    {400,
     R"({"error":{"message":"bad","type":"invalid_request_error",)"
     R"("code":null}})",
     never},
    {400, R"({"error":"model does not support tools"})", never},
    {400,
     R"({"error":{"code":400,"type":"exceed_context_size_error",)"
     R"("n_ctx":4096}})",
     never},
    {401,
     R"({"error":{"message":"no","type":"invalid_request_error",)"
     R"("code":"invalid_api_key"}})",
     never},
    {401,
     R"({"type":"error","error":{"type":"authentication_error",)"
     R"("message":"x"}})",
     never},
    {402,
     R"({"type":"error","error":{"type":"billing_error","message":)"
     R"("x"}})",
     spent},
    {402, "", spent},
    {403,
     R"({"type":"error","error":{"type":"permission_error","message":)"
     R"("x"}})",
     never},
    {404, R"({"error":"model 'm-1' not found"})", never},
    {404,
     R"({"type":"error","error":{"type":"not_found_error","message":)"
     R"("x"}})",
     never},
    {404, "<html>Not here</html>", never},
    {405, "", never},
    {408, "", again},
    {409, "", again},
    {413,
     R"({"type":"error","error":{"type":"request_too_large","message":)"
     R"("x"}})",
     never},
    {422, R"({"detail":"unprocessable"})", never},
    {429,
     R"({"error":{"message":"slow","type":"requests","code":)"
     R"("rate_limit_exceeded"}})",
     again},
    {429,
     R"({"error":{"message":"pay","type":"insufficient_quota","code":)"
     R"("insufficient_quota"}})",
     spent},
    {429,
     R"({"type":"error","error":{"type":"rate_limit_error","message":)"
     R"("x"}})",
     again},
    {429, "not json", again},
    {500, R"({"type":"error","error":{"type":"api_error","message":"x"}})", again},
    {500, R"({"error":{"code":500,"type":"server_error","message":"oops"}})", again},
    {500,
     R"({"error":{"code":500,"type":"server_error",
                "message":"[json.exception.parse_error.101] parse error at line 1"}})",
     never},
    {500,
     R"({"error":{"code":500,"type":"invalid_request_error","message":)"
     R"("x"}})",
     never},
    {501,
     R"({"error":{"code":501,"type":"not_supported_error","message":)"
     R"("x"}})",
     never},
    {502, "<html>Bad Gateway</html>", again},
    {503,
     R"({"error":{"code":503,"type":"unavailable_error","message":)"
     R"("Loading model"}})",
     again},
    {503, R"({"error":"server busy, please try again"})", again},
    {504,
     R"({"type":"error","error":{"type":"timeout_error","message":)"
     R"("x"}})",
     again},
    {529,
     R"({"type":"error","error":{"type":"overloaded_error","message":)"
     R"("x"}})",
     again},
    {307, "", never},
    {418, R"({"error":17})", never},
    {400, R"({"error":{"message":"filtered","code":"content_filter"}})", never},
};

TEST(ErrorAnswers, SayWhetherRepeatingHelps) {
  for (const Case& one : cases) {
    ErrorResponse answer;
    answer.status = one.status;
    answer.body = one.body;
    Error failed = error_of(server(), answer, now);
    EXPECT_EQ(failed.code, one.code) << one.status << " " << one.body << "\n" << failed.message;
    EXPECT_THAT(failed.message, HasSubstr(std::to_string(one.status)));
    EXPECT_THAT(failed.message, HasSubstr("The model openai:m-1 at models.test:8080"));
    EXPECT_THAT(failed.message, Not(HasSubstr("secret")));
  }
}

TEST(ErrorAnswers, InTheMidstOfAStreamAreReadTheSameWay) {
  auto failed = [](const char* event) { return error_in(server(), parse_json(event).value()); };
  EXPECT_EQ(failed(R"({"error":"out of memory"})")->code, again);
  EXPECT_EQ(failed(R"({"type":"error","error":{"type":"overloaded_error"}})")->code, again);
  EXPECT_EQ(failed(R"({"error":{"code":"insufficient_quota","message":"x"}})")->code, spent);
  EXPECT_EQ(failed(R"({"error":{"type":"invalid_request_error","message":"x"}})")->code, never);
  EXPECT_EQ(failed(R"({"error":null})"), std::nullopt);
  EXPECT_EQ(failed(R"({"choices":[]})"), std::nullopt);
}

TEST(ErrorAnswers, ObeyTheServersOwnWordOnRepeating) {
  ErrorResponse answer;
  answer.status = 400;
  answer.should_retry = "true";
  EXPECT_EQ(error_of(server(), answer, now).code, again);
  answer.status = 503;
  answer.should_retry = "false";
  EXPECT_EQ(error_of(server(), answer, now).code, never);
  answer.status = 402;
  answer.should_retry = "true";
  EXPECT_EQ(error_of(server(), answer, now).code, spent);
}

TEST(ErrorAnswers, SayHowLongToWait) {
  auto wait = [](const char* after, const char* after_ms, int status = 429) {
    ErrorResponse answer;
    answer.status = status;
    answer.retry_after = after;
    answer.retry_after_ms = after_ms;
    return error_of(server(), answer, now).retry_after;
  };
  EXPECT_EQ(wait("", ""), std::nullopt);
  EXPECT_EQ(wait("7", ""), 7s);
  EXPECT_EQ(wait("7", "1500"), 1500ms);
  EXPECT_EQ(wait("7", "12.7"), 12ms);
  EXPECT_EQ(wait("7", "-1"), 7s);
  EXPECT_EQ(wait("7", "nan"), 7s);
  EXPECT_EQ(wait("7", "1e300"), 10min);
  EXPECT_EQ(wait("99999999999", ""), 10min);
  EXPECT_EQ(wait("Sat, 21 Nov 2026 12:00:30 GMT", ""), 30s);
  EXPECT_EQ(wait("soon", ""), std::nullopt);
  EXPECT_EQ(wait("7", "", 400), std::nullopt) << "nobody is to repeat it";
}

TEST(ErrorAnswers, NeverRepeatAKey) {
  for (const char* said : {"the key a-secret-key is wrong", "a-secret-keya-secret-key",
                           "Incorrect API key provided: sk-pr****secret. Find it"}) {
    ErrorResponse answer;
    answer.status = 401;
    std::string body = to_json(Value::object({{"error", said}}));
    answer.body = body;
    Error failed = error_of(server(), answer, now);
    EXPECT_THAT(failed.message, Not(HasSubstr("secret"))) << said;
    EXPECT_THAT(failed.message, HasSubstr("OPENAI_API_KEY"));
  }
}

TEST(ErrorAnswers, EndWithAKeyThatStandsInWhatTakesItsPlace) {
  Server odd = server();
  odd.key = "k";
  ErrorResponse answer;
  answer.status = 401;
  answer.body = R"({"error":"kk"})";
  EXPECT_THAT(error_of(odd, answer, now).message, HasSubstr("401: [key][key]. Check"));
}

TEST(ErrorAnswers, AreShortHoweverLongTheyCome) {
  std::string body = to_json(Value::object({{"error", std::string(50'000, 'x')}}));
  ErrorResponse answer;
  answer.status = 500;
  answer.body = body;
  EXPECT_LT(error_of(server(), answer, now).message.size(), 600u);
}

}  // namespace
}  // namespace belay::models
