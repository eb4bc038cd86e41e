#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "belay/models.h"
#include "belay/testing.h"

namespace belay {
namespace {

using ::testing::HasSubstr;
using testing::ScriptedModel;
using ::testing::StartsWith;

Value json(std::string_view text) { return parse_json(text).value(); }

struct Repairs : ::testing::Test {
  std::unique_ptr<EventLoop> loop = make_event_loop();
  ScriptedModel model;
  Value schema = json(R"({"type":"object","properties":{"n":{"type":"integer","maximum":10}},
                          "required":["n"]})");
  std::string told;

  Result<ModelReply> ask() {
    ModelRequest request;
    request.messages = {{Role::user, "How many?"}};
    request.response_schema = schema;
    request.on_text_delta = [this](std::string_view piece) { told += piece; };
    return block_on(*loop, generate_json(model, std::move(request)));
  }
};

TEST_F(Repairs, AreNotAskedForWhereNothingIsWrong) {
  for (const char* text :
       {"{\"n\":3}", "  {\"n\":3}\n", "```json\n{\"n\":3}\n```", "```\n{\"n\":3}```"}) {
    model.replies(text);
    told.clear();
    auto reply = ask();
    ASSERT_TRUE(reply.ok()) << reply.error().message;
    EXPECT_EQ(reply->text, "{\"n\":3}");
    EXPECT_EQ(told, "{\"n\":3}");
  }
  EXPECT_EQ(model.requests().size(), 4u);
}

TEST_F(Repairs, SayWhatIsWrong) {
  model.replies("{\"n\":11}").replies("n is 3").replies("{\"n\":3}");
  EXPECT_EQ(ask()->text, "{\"n\":3}");
  EXPECT_EQ(told, "{\"n\":3}") << "nobody hears what could not be used";
  const auto& second = model.requests()[1].messages;
  ASSERT_EQ(second.size(), 3u);
  EXPECT_EQ(second[1].role, Role::assistant);
  EXPECT_EQ(second[1].text, "{\"n\":11}");
  EXPECT_THAT(second[2].text, HasSubstr("n: must be at most 10, not 11"));
  EXPECT_THAT(model.requests()[2].messages[4].text, HasSubstr("it is no JSON text"));
}

TEST_F(Repairs, EndAfterTwo) {
  model.replies("").replies("[]").replies("{}").replies("{\"n\":1}");
  Error failed = ask().error();
  EXPECT_EQ(failed.code, ErrorCode::unavailable);
  EXPECT_THAT(failed.message, StartsWith("Invalid LLM response format: \"n\" is missing"));
  EXPECT_EQ(model.requests().size(), 3u);
  EXPECT_EQ(model.requests()[1].messages.size(), 2u) << "an empty answer is not sent back";
}

TEST_F(Repairs, LeaveAFailureOfTheModelToTheNode) {
  model.replies("no").fails(error(ErrorCode::exhausted, "No credit."));
  EXPECT_EQ(ask().error().message, "No credit.");
}

TEST_F(Repairs, SendBackNoMoreThanAModelCanRead) {
  model.replies(std::string(1'000'000, 'x')).replies("{\"n\":3}");
  EXPECT_TRUE(ask().ok());
  EXPECT_LT(model.requests()[1].messages[1].text.size(), 70'000u);
}

// Returns the same reply to every request.
class Always final : public Model {
 public:
  explicit Always(ModelReply reply) : reply_(std::move(reply)) {}
  Task<Result<ModelReply>> generate(ModelRequest) override {
    ++calls;
    co_return reply_;
  }
  int calls = 0;

 private:
  const ModelReply reply_;
};

TEST_F(Repairs, GiveCallsAndRefusalsAsTheyAre) {
  ModelReply calls;
  calls.stop_reason = StopReason::tool_calls;
  calls.tool_calls = {{"c1", "a", Value()}};
  Always caller(calls);
  EXPECT_EQ(block_on(*loop, generate_json(caller, ModelRequest()))->tool_calls.size(), 1u);
  ModelReply refusal;
  refusal.stop_reason = StopReason::refused;
  refusal.text = "I can't.";
  Always refuser(refusal);
  Error failed = block_on(*loop, generate_json(refuser, ModelRequest())).error();
  EXPECT_EQ(failed.code, ErrorCode::invalid);
  EXPECT_THAT(failed.message, StartsWith("Invalid LLM response format: "));
  EXPECT_EQ(refuser.calls, 1);
}

TEST_F(Repairs, CountWhatAllCallsHaveUsed) {
  ModelReply cut;
  cut.stop_reason = StopReason::length;
  cut.text = "{\"n\":1}";
  cut.usage = Usage{10, 5};
  Always model_that_is_cut(cut);
  EXPECT_THAT(block_on(*loop, generate_json(model_that_is_cut, ModelRequest())).error().message,
              HasSubstr("it was cut"));
  EXPECT_EQ(model_that_is_cut.calls, 3);
}

TEST_F(Repairs, AddUpTheUsage) {
  for (std::int64_t cached : {2, 30}) {
    model.replies_with([cached](const ModelRequest&) {
      ModelReply reply;
      reply.text = cached == 2 ? "{" : "{}";
      reply.usage = Usage{cached + 10, 5, cached};
      return reply;
    });
  }
  Usage usage = *block_on(*loop, generate_json(model, ModelRequest())).value().usage;
  EXPECT_EQ(usage.input_tokens, 52);
  EXPECT_EQ(usage.output_tokens, 10);
  EXPECT_EQ(usage.cached_input_tokens, 32);
}

TEST(Usages, OfOlderRecordsHaveNoCachedTokens) {
  Value old = parse_json(R"({"input_tokens":7,"output_tokens":2})").value();
  Usage usage = decode_json<Usage>(old).value();
  EXPECT_EQ(usage.input_tokens, 7);
  EXPECT_EQ(usage.cached_input_tokens, 0);
}

struct SchemaCase {
  const char* schema;
  const char* value;
  const char* fault;  // null: none
};

TEST(Schemas, SayWhatTheyForbid) {
  for (const SchemaCase& one : std::vector<SchemaCase>{
           {"true", "1", nullptr},
           {"false", "1", "nothing may stand here"},
           {"{}", "[1,{}]", nullptr},
           {"null", "1", nullptr},
           {R"({"type":"string"})", "1", "must be of type string, not number"},
           {R"({"type":["string","null"]})", "null", nullptr},
           {R"({"type":["string","null"]})", "1", "string or null"},
           {R"({"type":"integer"})", "7.0", nullptr},
           {R"({"type":"integer"})", "7.5", "integer"},
           {R"({"type":"integer"})", "18446744073709551615", nullptr},
           {R"({"type":"number"})", "1e300", nullptr},
           {R"({"enum":["a",1]})", "1.0", nullptr},
           {R"({"enum":["a",1]})", "\"b\"", "must be one of [\"a\",1], not \"b\""},
           {R"({"const":{"a":1}})", R"({"a":1})", nullptr},
           {R"({"const":null})", "0", "must be null"},
           {R"({"minimum":1,"maximum":10})", "0", "at least 1"},
           {R"({"minimum":1,"maximum":10})", "11", "at most 10"},
           {R"({"minimum":1})", "\"a\"", nullptr},
           {R"({"exclusiveMinimum":1})", "1", "more than 1"},
           {R"({"exclusiveMaximum":1})", "1", "less than 1"},
           {R"({"minLength":2})", "\"\xC3\xA9\"", "at least 2 characters, and has 1"},
           {R"({"maxLength":1})", "\"\xC3\xA9\"", nullptr},
           {R"({"minItems":1})", "[]", "at least 1 items"},
           {R"({"maxItems":1})", "[1,2]", "at most 1 items"},
           {R"({"items":{"type":"string"}})", R"(["a",1])", "[1]: must be of type string"},
           {R"({"prefixItems":[{"type":"string"}],"items":false})", R"(["a"])", nullptr},
           {R"({"prefixItems":[{"type":"string"}],"items":false})", R"(["a",1])", "[1]: nothing"},
           {R"({"uniqueItems":true})", "[1,2,1.0]", "an item twice"},
           {R"({"required":["a"]})", "{}", "\"a\" is missing"},
           {R"({"required":["a"]})", "[]", nullptr},
           {R"({"properties":{"a":{"properties":{"b":{"type":"null"}}}}})", R"({"a":{"b":1}})",
            "a.b: must be of type null"},
           {R"({"properties":{"a":{}},"additionalProperties":false})", R"({"a":1,"c":2})",
            "there is no \"c\""},
           {R"({"additionalProperties":{"type":"null"}})", R"({"c":2})", "c: must be of type null"},
           {R"({"allOf":[{"type":"number"},{"minimum":3}]})", "2", "at least 3"},
           {R"({"anyOf":[{"type":"string"},{"minimum":3}]})", "4", nullptr},
           {R"({"anyOf":[{"type":"string"},{"type":"null"}]})", "4", "must be of type string"},
           {R"({"oneOf":[{"type":"number"},{"minimum":3}]})", "4", "more than one"},
           {R"({"oneOf":[{"type":"number"},{"type":"null"}]})", "4", nullptr},
           {R"({"not":{"type":"null"}})", "null", "must not be"},
           {R"({"$ref":"#/$defs/x","$defs":{"x":{"type":"null"}}})", "1", "type null"},
           {R"({"$ref":"#/$defs/y"})", "1", "the schema has no #/$defs/y"},
           {R"({"$ref":"https://example.org/x"})", "1", "not within it"},
           {R"({"$ref":"#"})", "1", "too deep"},
           {R"({"properties":{"next":{"$ref":"#"}},"type":"object"})", R"({"next":{"next":1}})",
            "next.next: must be of type object"},
           {R"({"type":17,"enum":4,"required":"a","minimum":"x","items":9})", "[1]", nullptr},
       }) {
    auto fault = schema_violation(json(one.schema), json(one.value));
    if (one.fault) {
      ASSERT_TRUE(fault) << one.schema << " " << one.value;
      EXPECT_THAT(*fault, HasSubstr(one.fault)) << one.schema;
    } else {
      EXPECT_FALSE(fault) << one.schema << " " << one.value << "\n" << *fault;
    }
  }
}

TEST(Schemas, ThatBranchWithoutEndEnd) {
  std::string schema = R"({"anyOf":[{"$ref":"#"},{"$ref":"#"},{"$ref":"#"}]})";
  EXPECT_TRUE(schema_violation(json(schema), Value(1)));
}

}  // namespace
}  // namespace belay
